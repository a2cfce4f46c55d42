// Ordered-set aggregates: percentile_cont, percentile_disc and mode. All of one argument share a state, which keeps its
// values.
#include "aggregate/array_image.h"
#include "aggregate/collected_values.h"
#include "aggregate/ordered_selection.h"
#include "aggregate/ordered_values.h"

namespace penumbra {
namespace {

// Groups of fewer values are sorted for their mode.
constexpr uint64_t kSortedValues = 32;
// Strings that come so many times each are counted, and the different ones sorted: comparing them costs most.
constexpr uint64_t kMostlyEqual = 8;

template <typename Values>
class OrderedAccumulator : public Accumulator {
  using Stored = typename Values::Stored;
  using State = CollectedValues<Stored>;
  using Selection = OrderedSelection<Values>;
  static constexpr bool kIsString = std::is_same_v<Values, StringValues>;
  static constexpr bool kHasBetween = requires(Stored x) { Values::Between(x, x, 0.5); };

 public:
  template <typename... Arguments>
  explicit OrderedAccumulator(PenumbraType type, Arguments... arguments)
      : Accumulator(sizeof(State), true), type_(type), values_(arguments...) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    State collected = StateAt(state);
    values_.ForEach(*arguments, selection, store, [&](uint32_t, const Stored& value) { collected.Add(value, store); });
    StateAt(state) = collected;
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore& store) const override {
    for (uint32_t i = 0; i < selection.count; ++i) {
      StateAt(groups[selection.rows == nullptr ? i : selection.rows[i]] + offset).Prefetch();
    }
    values_.ForEach(*arguments, selection, store,
                    [&](uint32_t row, const Stored& value) { StateAt(groups[row] + offset).Add(value, store); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count, StateStore&) const override {
    for (uint32_t i = 0; i < count; ++i) StateAt(into[i] + offset).Append(StateAt(from[i] + offset));
  }

  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    if (result.type == PENUMBRA_ARRAY) return FinalizeArrays(result, groups, offset, count, arena);
    typename Values::Results results(values_, result.type, count, arena);
    Arena scratch(&result.environment->budget);
    const bool is_null = result.function != PENUMBRA_AGG_MODE && result.fractions->empty();
    for (uint32_t i = 0; i < count; ++i) {
      const State& collected = *reinterpret_cast<const State*>(groups[i] + offset);
      if (is_null || collected.count() == 0) {
        results.SetNull(i);
        continue;
      }
      result.environment->CheckCancelled();
      scratch.Reset();
      Selection selection(values_, collected, seed_, *result.environment, scratch);
      const double fraction = result.fractions->empty() ? 0 : result.fractions->front();
      results.Set(i, ValueOf(result, fraction, collected, &selection, scratch));
    }
    return results.Finish();
  }

  void Save(const char* state, std::vector<char>* bytes) const override {
    const State& collected = *reinterpret_cast<const State*>(state);
    collected.Save(bytes);
    if constexpr (Values::kHasPointers) {
      collected.ForEachBlock([&](const Stored* values, uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) Values::Save(values[i], bytes);
      });
    }
  }
  const char* Load(char* state, const char* bytes, StateStore& store) const override {
    bytes = StateAt(state).Load(bytes, store);
    if constexpr (Values::kHasPointers) {
      StateAt(state).ForEachBlock([&](Stored* values, uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) bytes = Values::Load(&values[i], bytes, store.arena());
      });
    }
    return bytes;
  }

 private:
  static State& StateAt(char* state) { return *reinterpret_cast<State*>(state); }

  // An array for each group: of the percentiles of all fractions.
  Vector FinalizeArrays(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                        Arena& arena) const {
    StringRef* arrays;
    ResultVector out = MakeResult(PENUMBRA_ARRAY, count, arena, &arrays);
    Arena scratch(&result.environment->budget);
    const auto fraction_count = static_cast<uint32_t>(result.fractions->size());
    const RowLayout layout({type_});
    ArrayImage image(result.label, layout);
    std::vector<char> rows(size_t{fraction_count} * layout.row_bytes());
    std::vector<char*> row_of(fraction_count);
    std::vector<SortEntry> elements(fraction_count);
    for (uint32_t k = 0; k < fraction_count; ++k) {
      elements[k].row = row_of[k] = rows.data() + size_t{k} * layout.row_bytes();
    }
    for (uint32_t i = 0; i < count; ++i) {
      const State& collected = *reinterpret_cast<const State*>(groups[i] + offset);
      if (fraction_count == 0 || collected.count() == 0) {
        out.SetNull(i, arena);
        continue;
      }
      scratch.Reset();
      typename Values::Results results(values_, type_, fraction_count, scratch);
      Selection selection(values_, collected, seed_, *result.environment, scratch);
      if (fraction_count > 1 && !kIsString) selection.SortAll();
      for (uint32_t k = 0; k < fraction_count; ++k) {
        result.environment->CheckCancelled();
        results.Set(k, ValueOf(result, (*result.fractions)[k], collected, &selection, scratch));
      }
      const Vector values = results.Finish();
      layout.Write(&values, {nullptr, fraction_count}, row_of.data(), scratch);
      arrays[i] = image.Make(elements.data(), fraction_count, *result.environment, arena);
    }
    return out.vector;
  }

  // The fraction is of percentiles.
  Stored ValueOf(const AggregateResult& result, double fraction, const State& collected, Selection* selection,
                 Arena& scratch) const {
    if (result.function == PENUMBRA_AGG_MODE) return Mode(result, collected, scratch);
    if constexpr (kHasBetween) {
      if (result.function == PENUMBRA_AGG_PERCENTILE_CONT)
        return Continuous(result, fraction, collected.count(), selection);
    }
    const uint64_t count = collected.count();
    const uint64_t number = static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(count)));
    const uint64_t place = number == 0 ? 0 : number - 1;
    return At(result, collected, result.descending ? count - 1 - place : place, selection, scratch);
  }

  // PostgreSQL's formula: the places are counted in the order asked for.
  Stored Continuous(const AggregateResult& result, double fraction, uint64_t count, Selection* selection) const {
    const uint64_t last = count - 1;
    const double position = fraction * static_cast<double>(last);
    const uint64_t first = static_cast<uint64_t>(std::floor(position));
    const uint64_t second = static_cast<uint64_t>(std::ceil(position));
    if (first == second) return selection->At(result.descending ? last - first : first);
    const Stored lesser = selection->At(result.descending ? last - second : first);
    const Stored greater = selection->At(result.descending ? last - first : second);
    const double proportion = position - static_cast<double>(first);
    return result.descending ? Values::Between(greater, lesser, proportion)
                             : Values::Between(lesser, greater, proportion);
  }

  Stored At(const AggregateResult& result, const State& collected, uint64_t place, Selection* selection,
            Arena& scratch) const {
    if constexpr (kIsString) {
      DistinctCounts<Values> counts(values_, seed_, scratch);
      const uint64_t entries_max = collected.count() / kMostlyEqual;
      if (entries_max > 0 && counts.Add(collected, entries_max, *result.environment)) {
        PollingLess<Values> less(values_, *result.environment);
        std::sort(counts.begin(), counts.end(), [&](const auto& a, const auto& b) { return less(a.value, b.value); });
        const auto* entry = counts.begin();
        for (; place >= entry->count; ++entry) place -= entry->count;
        return entry->value;
      }
    }
    return selection->At(place);
  }

  // The first in order of the most frequent.
  Stored Mode(const AggregateResult& result, const State& collected, Arena& scratch) const {
    if (collected.count() < kSortedValues) return ModeOfFew(result.descending, collected);
    DistinctCounts<Values> counts(values_, seed_, scratch);
    counts.Add(collected, collected.count(), *result.environment);
    const auto* mode = counts.begin();
    for (const auto& entry : counts) {
      const bool is_first =
          result.descending ? values_.IsLess(mode->value, entry.value) : values_.IsLess(entry.value, mode->value);
      if (entry.count > mode->count || (entry.count == mode->count && is_first)) mode = &entry;
    }
    return mode->value;
  }

  Stored ModeOfFew(bool descending, const State& collected) const {
    Stored sorted[kSortedValues];
    collected.CopyTo(sorted);
    const uint64_t count = collected.count();
    std::sort(sorted, sorted + count, [&](const Stored& a, const Stored& b) { return values_.IsLess(a, b); });
    uint64_t mode = 0, most = 0;
    for (uint64_t begin = 0, end; begin < count; begin = end) {
      for (end = begin + 1; end < count && values_.IsEqual(sorted[begin], sorted[end]);) ++end;
      if (end - begin > most || (descending && end - begin == most)) {
        most = end - begin;
        mode = begin;
      }
    }
    return sorted[mode];
  }

  const PenumbraType type_;  // of the argument
  const Values values_;
  const HashSeed seed_ = HashSeed::Random();
};

}  // namespace

std::unique_ptr<Accumulator> CreateOrderedAccumulator(const AggregateSpec& spec) {
  const Collation* collation = spec.collation;
  const PenumbraType type = ArgumentType(spec);
  switch (type) {
    case PENUMBRA_BOOL: return std::make_unique<OrderedAccumulator<IntegerValues<uint8_t>>>(type);
    case PENUMBRA_INT2: return std::make_unique<OrderedAccumulator<IntegerValues<int16_t>>>(type);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return std::make_unique<OrderedAccumulator<IntegerValues<int32_t>>>(type);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return std::make_unique<OrderedAccumulator<IntegerValues<int64_t>>>(type);
    case PENUMBRA_FLOAT4: return std::make_unique<OrderedAccumulator<FloatValues<float, int32_t>>>(type);
    case PENUMBRA_FLOAT8: return std::make_unique<OrderedAccumulator<FloatValues<double, int64_t>>>(type);
    case PENUMBRA_NUMERIC: return std::make_unique<OrderedAccumulator<NumericValues>>(type);
    case PENUMBRA_INTERVAL: return std::make_unique<OrderedAccumulator<IntervalValues>>(type);
    case PENUMBRA_UUID: return std::make_unique<OrderedAccumulator<UuidValues>>(type);
    case PENUMBRA_TEXT: return std::make_unique<OrderedAccumulator<StringValues>>(type, false, collation);
    case PENUMBRA_BPCHAR: return std::make_unique<OrderedAccumulator<StringValues>>(type, true, collation);
    case PENUMBRA_ARRAY: break;
  }
  throw EngineError(PENUMBRA_INTERNAL, "an ordered-set aggregate of an unknown type");
}

}  // namespace penumbra

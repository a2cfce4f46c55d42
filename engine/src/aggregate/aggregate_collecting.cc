// Aggregates of a group's rows in an order: string_agg, array_agg, json_agg and the first row. A state keeps the rows
// that are aggregated, and with each the beginning of its order's keys. Without keys they stay as they come.
#include <algorithm>

#include "aggregate/array_image.h"
#include "aggregate/collected_values.h"
#include "aggregate/group_rows_image.h"
#include "row/row_layout.h"
#include "sort/sort_input.h"

namespace penumbra {
namespace {

std::vector<PenumbraType> TypesOf(const std::vector<const Expr*>& arguments) {
  std::vector<PenumbraType> types;
  for (const Expr* argument : arguments) types.push_back(argument->type);
  return types;
}

std::vector<SortKeySpec> KeysOf(const AggregateSpec& spec) {
  std::vector<SortKeySpec> keys;
  for (const AggregateOrder& key : spec.order) {
    keys.push_back({spec.arguments[key.argument], key.descending, key.nulls_first, key.collation});
  }
  return keys;
}

std::vector<int> ColumnsOf(const std::vector<AggregateOrder>& order) {
  std::vector<int> columns;
  for (const AggregateOrder& key : order) columns.push_back(key.argument);
  return columns;
}

class CollectingAccumulator : public Accumulator {
  struct State {
    CollectedValues<SortEntry> rows;
    uint64_t bytes;  // of all rows, with their strings
  };

 public:
  CollectingAccumulator(const AggregateSpec& spec, bool passes_nulls)
      : Accumulator(sizeof(State), true),
        passes_nulls_(passes_nulls),
        layout_(TypesOf(spec.arguments)),
        columns_(ColumnsOf(spec.order)),
        keys_(KeysOf(spec), columns_, layout_, false) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    SortEntry entries[kVectorRows];
    uint16_t rows[kVectorRows];
    const uint32_t count = MakeEntries(arguments, selection, store, entries, rows);
    for (uint32_t i = 0; i < count; ++i) Add(StateAt(state), entries[i], store);
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore& store) const override {
    SortEntry entries[kVectorRows];
    uint16_t rows[kVectorRows];
    const uint32_t count = MakeEntries(arguments, selection, store, entries, rows);
    for (uint32_t i = 0; i < count; ++i) StateAt(groups[rows[i]] + offset).rows.Prefetch();
    for (uint32_t i = 0; i < count; ++i) Add(StateAt(groups[rows[i]] + offset), entries[i], store);
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count, StateStore&) const override {
    for (uint32_t i = 0; i < count; ++i) {
      State& state = StateAt(into[i] + offset);
      const State& other = StateAt(from[i] + offset);
      state.rows.Append(other.rows);
      state.bytes += other.bytes;
    }
  }
  size_t ResultBytes(const char* state) const override { return StateAt(state).bytes; }

  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    if (result.function == PENUMBRA_AGG_FIRST) return ReadFirst(result, groups, offset, count, arena);
    StringRef* values;
    ResultVector out = MakeResult(result.type, count, arena, &values);
    Arena scratch(&result.environment->budget);
    for (uint32_t i = 0; i < count; ++i) {
      const CollectedValues<SortEntry>& rows = StateAt(groups[i] + offset).rows;
      if (rows.count() == 0 && result.function != PENUMBRA_AGG_JSON_AGG) {
        out.SetNull(i, arena);
        continue;
      }
      result.environment->CheckCancelled();
      scratch.Reset();
      SortEntry* sorted = scratch.AllocateArray<SortEntry>(rows.count());
      rows.CopyTo(sorted);
      if (!columns_.empty()) std::sort(sorted, sorted + rows.count(), SortOrder(keys_, *result.environment));
      values[i] = MakeValue(result, sorted, rows.count(), arena);
    }
    return out.vector;
  }

  void Save(const char* state, std::vector<char>* bytes) const override {
    const CollectedValues<SortEntry>& rows = StateAt(state).rows;
    rows.Save(bytes);
    rows.ForEachBlock([&](const SortEntry* entries, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        bytes->insert(bytes->end(), entries[i].row, entries[i].row + layout_.row_bytes());
        layout_.SaveStrings(entries[i].row, bytes);
      }
    });
  }
  const char* Load(char* state, const char* bytes, StateStore& store) const override {
    CollectedValues<SortEntry>& rows = StateAt(state).rows;
    bytes = rows.Load(bytes, store);
    rows.ForEachBlock([&](SortEntry* entries, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        entries[i].row = static_cast<char*>(store.arena().Allocate(layout_.row_bytes()));
        std::memcpy(entries[i].row, bytes, layout_.row_bytes());
        bytes = layout_.LoadStrings(entries[i].row, bytes + layout_.row_bytes(), &store.arena());
      }
    });
    return bytes;
  }

 private:
  static State& StateAt(char* state) { return *reinterpret_cast<State*>(state); }
  static const State& StateAt(const char* state) { return *reinterpret_cast<const State*>(state); }

  // Rows of what is selected and not passed over; rows[i] is where in the vectors entry i is from.
  uint32_t MakeEntries(const Vector* arguments, RowSelection selection, StateStore& store, SortEntry* entries,
                       uint16_t* rows) const {
    Vector passed;
    if (passes_nulls_) passed.validity = arguments[0].validity;
    uint32_t count = 0;
    VisitValid(passed, selection, [&](uint32_t row) { rows[count++] = static_cast<uint16_t>(row); });
    const RowSelection selected{rows, count};
    char* made = static_cast<char*>(store.arena().Allocate(size_t{count} * layout_.row_bytes()));
    std::memset(made, 0, size_t{count} * layout_.row_bytes());
    char* places[kVectorRows];
    for (uint32_t i = 0; i < count; ++i) places[i] = made + size_t{i} * layout_.row_bytes();
    layout_.Write(arguments, selected, places, store.arena());
    std::vector<Vector> keys(columns_.size());
    for (size_t k = 0; k < columns_.size(); ++k) keys[k] = arguments[columns_[k]];
    SortPrefix prefixes[kVectorRows];
    keys_.Encode(keys.data(), selected, prefixes);
    for (uint32_t i = 0; i < count; ++i) entries[i] = {prefixes[i], places[i]};
    return count;
  }
  void Add(State& state, const SortEntry& entry, StateStore& store) const {
    state.rows.Add(entry, store);
    state.bytes += layout_.row_bytes() + layout_.StringBytes(entry.row);
  }

  // The first argument of the row that comes first in the order; null without rows.
  Vector ReadFirst(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                   Arena& arena) const {
    SortOrder is_before(keys_, *result.environment);
    char* nulls = static_cast<char*>(arena.Allocate(layout_.row_bytes()));
    std::memset(nulls, 0, layout_.row_bytes());
    layout_.WriteNulls(nulls);
    const char* rows[kVectorRows];
    for (uint32_t i = 0; i < count; ++i) {
      const SortEntry* first = nullptr;
      StateAt(groups[i] + offset).rows.ForEachBlock([&](const SortEntry* entries, uint32_t entry_count) {
        for (uint32_t e = 0; e < entry_count; ++e) {
          if (first == nullptr || is_before(entries[e], *first)) first = &entries[e];
        }
      });
      rows[i] = first == nullptr ? nulls : first->row;
    }
    return layout_.Read(0, rows, count, arena);
  }
  StringRef MakeValue(const AggregateResult& result, const SortEntry* sorted, uint64_t count, Arena& arena) const {
    const ExecutionEnvironment& environment = *result.environment;
    if (result.function == PENUMBRA_AGG_STRING_AGG) return Join(result, sorted, count, arena);
    if (result.function == PENUMBRA_AGG_ARRAY_AGG)
      return ArrayImage(result.label, layout_).Make(sorted, count, environment, arena);
    return GroupRowsImage(result.label, result.shown_arguments, layout_).Make(sorted, count, environment, arena);
  }
  // A text's delimiter stands before it; that of the first is none.
  StringRef Join(const AggregateResult& result, const SortEntry* sorted, uint64_t count, Arena& arena) const {
    const StringRef constant = result.delimiter == nullptr || result.delimiter->constant.is_null_constant()
                                   ? StringRef()
                                   : *result.delimiter->constant.values<StringRef>();
    const auto delimiter = [&](const char* row) {  // the slot of a null is an empty string
      return result.delimiter != nullptr ? constant : layout_.Get<StringRef>(row, 1);
    };
    size_t bytes = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const size_t before = bytes;
      bytes += layout_.Get<StringRef>(sorted[i].row, 0).length + (i == 0 ? 0 : delimiter(sorted[i].row).length);
      CheckTextSize(before, bytes - before);
    }
    char* text = static_cast<char*>(arena.Allocate(bytes));
    char* at = text;
    const auto append = [&](const StringRef& string) {
      std::memcpy(at, string.data(), string.length);
      at += string.length;
    };
    for (uint64_t i = 0; i < count; ++i) {
      if (i % kPollRows == 0) result.environment->CheckCancelled();
      if (i != 0) append(delimiter(sorted[i].row));
      append(layout_.Get<StringRef>(sorted[i].row, 0));
    }
    return StringRef(text, static_cast<uint32_t>(bytes));
  }

  static constexpr uint64_t kPollRows = 1 << 16;

  const bool passes_nulls_;  // those of the first argument
  const RowLayout layout_;   // of the arguments
  const std::vector<int> columns_;
  const SortKeys keys_;
};

}  // namespace

std::unique_ptr<Accumulator> CreateJoinedTextAccumulator(const AggregateSpec& spec) {
  return std::make_unique<CollectingAccumulator>(spec, true);
}
std::unique_ptr<Accumulator> CreateArrayAccumulator(const AggregateSpec& spec) {
  return std::make_unique<CollectingAccumulator>(spec, false);
}

}  // namespace penumbra

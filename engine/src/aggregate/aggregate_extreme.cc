// min and max of fixed-width types and of strings; bool_and and bool_or are min and max of
// booleans.
#include <cmath>
#include <type_traits>

#include "aggregate/aggregate_string.h"
#include "function/collation.h"
#include "vector/string_memo.h"
#include "vector/value_order.h"

namespace penumbra {
namespace {

struct UuidValue {
  uint8_t bytes[16];
};

template <typename T>
bool IsLess(const T& a, const T& b) {
  return a < b;
}
// NaN is the greatest.
template <>
bool IsLess(const float& a, const float& b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}
template <>
bool IsLess(const double& a, const double& b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}
template <>
bool IsLess(const PenumbraInterval& a, const PenumbraInterval& b) {
  return IntervalSpan(a) < IntervalSpan(b);
}
template <>
bool IsLess(const UuidValue& a, const UuidValue& b) {
  return std::memcmp(a.bytes, b.bytes, 16) < 0;
}

template <typename T, bool kGreatest>
struct FixedExtreme {
  struct State {
    alignas(8) T value;
    uint64_t has_value;
  };
  using Value = T;
  // Of equal values (zeros, intervals of 30 days and of a month) PostgreSQL keeps the last.
  static void Add(State& state, const T& x, StateStore&) {
    if (state.has_value == 0 || !(kGreatest ? IsLess(x, state.value) : IsLess(state.value, x))) {
      state.value = x;
      state.has_value = 1;
    }
  }
  static void Combine(State& into, const State& from, StateStore& store) {
    if (from.has_value != 0) Add(into, from.value, store);
  }
};

template <typename T, bool kGreatest>
class FixedExtremeAccumulator : public TypedAccumulator<FixedExtreme<T, kGreatest>> {
  using Base = TypedAccumulator<FixedExtreme<T, kGreatest>>;

 public:
  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    if constexpr (std::is_integral_v<T>) {
      if (selection.rows == nullptr) {
        T least, greatest;
        if (kernels::FindBounds(arguments->values<T>(), arguments->validity, selection.count, &least, &greatest)) {
          FixedExtreme<T, kGreatest>::Add(Base::StateAt(state), kGreatest ? greatest : least, store);
        }
        return;
      }
    }
    Base::AddRun(state, arguments, selection, store);
  }
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    return Base::template FinalizeEach<T>(result.type, groups, offset, count, arena, [](const auto& state, T* value) {
      *value = state.value;
      return state.has_value != 0;
    });
  }
};

template <bool kGreatest, bool kIsPadded>
struct StringExtreme {
  using State = KeptString;
  using Value = StringRef;

  static void Add(State& state, const StringRef& x, StateStore& store) {
    if (state.has_value != 0) {
      int order = kIsPadded ? CompareBpchar(x, state.value) : CompareText(x, state.value);
      if (kGreatest ? order <= 0 : order >= 0) return;
    }
    state.Replace(x, store);
  }
  static void Combine(State& into, const State& from, StateStore& store) {
    if (from.has_value != 0) Add(into, from.value, store);
  }
};

template <bool kGreatest, bool kIsPadded>
using StringExtremeAccumulator = KeptStringAccumulator<StringExtreme<kGreatest, kIsPadded>>;

// By strcoll, which costs much: a string that the state has met needs no second comparison.
template <bool kGreatest, bool kIsPadded>
class CollatedExtremeAccumulator : public StringExtremeAccumulator<kGreatest, kIsPadded> {
  using Base = StringExtremeAccumulator<kGreatest, kIsPadded>;
  using State = KeptString;

 public:
  explicit CollatedExtremeAccumulator(const Collation* collation) : collation_(collation) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    const StringRef* values = arguments->values<StringRef>();
    StringMemo<bool> added;
    VisitValid(*arguments, selection, [&](uint32_t row) {
      added.Get(values[row], [&] {
        Add(Base::StateAt(state), values[row], store);
        return true;
      });
    });
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore& store) const override {
    const StringRef* values = arguments->values<StringRef>();
    VisitValid(*arguments, selection,
               [&](uint32_t row) { Add(Base::StateAt(groups[row] + offset), values[row], store); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count,
               StateStore& store) const override {
    for (uint32_t i = 0; i < count; ++i) {
      const State& other = Base::StateAt(from[i] + offset);
      if (other.has_value != 0) Add(Base::StateAt(into[i] + offset), other.value, store);
    }
  }

 private:
  void Add(State& state, const StringRef& x, StateStore& store) const {
    if (state.has_value != 0) {
      const int order = CompareCollated(collation_, kIsPadded, x, state.value);
      if (kGreatest ? order <= 0 : order >= 0) return;
    }
    state.Replace(x, store);
  }

  const Collation* collation_;
};

template <bool kGreatest>
std::unique_ptr<Accumulator> CreateCollated(PenumbraType type, const Collation* collation) {
  if (type == PENUMBRA_BPCHAR) return std::make_unique<CollatedExtremeAccumulator<kGreatest, true>>(collation);
  return std::make_unique<CollatedExtremeAccumulator<kGreatest, false>>(collation);
}

template <bool kGreatest>
std::unique_ptr<Accumulator> Create(PenumbraType type) {
  switch (type) {
    case PENUMBRA_BOOL: return std::make_unique<FixedExtremeAccumulator<uint8_t, kGreatest>>();
    case PENUMBRA_INT2: return std::make_unique<FixedExtremeAccumulator<int16_t, kGreatest>>();
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return std::make_unique<FixedExtremeAccumulator<int32_t, kGreatest>>();
    case PENUMBRA_FLOAT4: return std::make_unique<FixedExtremeAccumulator<float, kGreatest>>();
    case PENUMBRA_FLOAT8: return std::make_unique<FixedExtremeAccumulator<double, kGreatest>>();
    case PENUMBRA_INTERVAL: return std::make_unique<FixedExtremeAccumulator<PenumbraInterval, kGreatest>>();
    case PENUMBRA_UUID: return std::make_unique<FixedExtremeAccumulator<UuidValue, kGreatest>>();
    case PENUMBRA_TEXT: return std::make_unique<StringExtremeAccumulator<kGreatest, false>>();
    case PENUMBRA_BPCHAR: return std::make_unique<StringExtremeAccumulator<kGreatest, true>>();
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return std::make_unique<FixedExtremeAccumulator<int64_t, kGreatest>>();
    case PENUMBRA_NUMERIC:
    case PENUMBRA_ARRAY: break;
  }
  throw EngineError(PENUMBRA_INTERNAL, "an extreme of an unknown type");
}

}  // namespace

std::unique_ptr<Accumulator> CreateExtremeAccumulator(PenumbraType type, bool greatest) {
  return greatest ? Create<true>(type) : Create<false>(type);
}

std::unique_ptr<Accumulator> CreateCollatedExtremeAccumulator(PenumbraType type, bool greatest,
                                                              const Collation* collation) {
  return greatest ? CreateCollated<true>(type, collation) : CreateCollated<false>(type, collation);
}

}  // namespace penumbra

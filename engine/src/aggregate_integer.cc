// sum and avg of int2 and int4: 64-bit sums that cannot overflow in practice.
#include "aggregate_typed.h"
#include "numeric_rows.h"

namespace penumbra {
namespace {

template <typename T>
struct IntegerSum {
  struct State {
    int64_t count;
    int64_t sum;
  };
  using Value = T;
  static void Add(State& state, const T& x, StateStore&) {
    ++state.count;
    state.sum += x;
  }
  static void Combine(State& into, const State& from, StateStore&) {
    into.count += from.count;
    into.sum += from.sum;
  }
};

template <typename T>
class IntegerSumAccumulator : public TypedAccumulator<IntegerSum<T>> {
  using Base = TypedAccumulator<IntegerSum<T>>;

 public:
  Vector Finalize(PenumbraAggregate function, PenumbraType type, const char* const* groups, uint32_t offset,
                  uint32_t count, Arena& arena) const override {
    if (function == PENUMBRA_AGG_AVG) {
      NumericWriter result(count, arena);
      for (uint32_t i = 0; i < count; ++i) {
        const auto& state = Base::StateAt(groups[i] + offset);
        if (state.count != 0) result.SetAverage(i, state.sum, 0, state.count);
      }
      return result.Finish();
    }
    int64_t* values;
    ResultVector out = MakeResult(type, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) {
      const auto& state = Base::StateAt(groups[i] + offset);
      values[i] = state.sum;
      if (state.count == 0) out.SetNull(i, arena);
    }
    return out.vector;
  }
};

}  // namespace

std::unique_ptr<Accumulator> CreateIntegerAccumulator(AccumulatorKind, PenumbraType type) {
  if (type == PENUMBRA_INT2) return std::make_unique<IntegerSumAccumulator<int16_t>>();
  return std::make_unique<IntegerSumAccumulator<int32_t>>();
}

}  // namespace penumbra

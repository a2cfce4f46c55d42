// sum and avg of intervals.
#include "aggregate/aggregate_typed.h"
#include "function/interval.h"

namespace penumbra {
namespace {

struct IntervalSum {
  struct State {
    int64_t count;
    PenumbraInterval sum;
  };
  using Value = PenumbraInterval;

  static void Add(State& state, const Value& x, StateStore&) {
    state.sum = AddIntervals(state.sum, x);
    ++state.count;
  }
  static void Combine(State& into, const State& from, StateStore&) {
    into.count += from.count;
    into.sum = AddIntervals(into.sum, from.sum);
  }
};

class IntervalAccumulator : public TypedAccumulator<IntervalSum> {
 public:
  Vector Finalize(PenumbraAggregate function, PenumbraType type, const char* const* groups, uint32_t offset,
                  uint32_t count, Arena& arena) const override {
    PenumbraInterval* values;
    ResultVector out = MakeResult(type, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) {
      const State& state = StateAt(groups[i] + offset);
      if (state.count == 0) {
        out.SetNull(i, arena);
      } else {
        values[i] =
            function == PENUMBRA_AGG_AVG ? DivideInterval(state.sum, static_cast<double>(state.count)) : state.sum;
      }
    }
    return out.vector;
  }
};

}  // namespace

std::unique_ptr<Accumulator> CreateIntervalAccumulator() { return std::make_unique<IntervalAccumulator>(); }

}  // namespace penumbra

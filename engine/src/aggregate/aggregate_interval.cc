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
  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    return FinalizeEach<PenumbraInterval>(
        result.type, groups, offset, count, arena, [&](const State& state, PenumbraInterval* value) {
          if (state.count == 0) return false;
          *value = result.function == PENUMBRA_AGG_AVG ? DivideInterval(state.sum, static_cast<double>(state.count))
                                                       : state.sum;
          return true;
        });
  }
};

}  // namespace

std::unique_ptr<Accumulator> CreateIntervalAccumulator() { return std::make_unique<IntervalAccumulator>(); }

}  // namespace penumbra

// sum and avg of intervals.
#include <cmath>

#include "aggregate/aggregate_typed.h"

namespace penumbra {
namespace {

constexpr double kSecondsPerDay = 86400.0;
constexpr int kDaysPerMonth = 30;

double RoundToMicroseconds(double seconds) { return std::rint(seconds * 1e6) / 1e6; }

// PostgreSQL 17 gives these a meaning (infinity) that 15 does not know.
bool IsInfinite(const PenumbraInterval& x) {
  return (x.month == INT32_MAX && x.day == INT32_MAX && x.time_us == INT64_MAX) ||
         (x.month == INT32_MIN && x.day == INT32_MIN && x.time_us == INT64_MIN);
}

// As interval_div: fractions of months go to days, fractions of days to time, with its rounding.
PenumbraInterval Divide(const PenumbraInterval& x, double divisor) {
  PenumbraInterval result;
  result.month = static_cast<int32_t>(x.month / divisor);
  result.day = static_cast<int32_t>(x.day / divisor);
  double month_days = RoundToMicroseconds((x.month / divisor - result.month) * kDaysPerMonth);
  double seconds =
      (x.day / divisor - result.day + month_days - static_cast<int>(month_days)) * kSecondsPerDay;
  seconds = RoundToMicroseconds(seconds);
  if (std::fabs(seconds) >= kSecondsPerDay) {
    result.day += static_cast<int>(seconds / kSecondsPerDay);
    seconds -= static_cast<int>(seconds / kSecondsPerDay) * kSecondsPerDay;
  }
  result.day += static_cast<int32_t>(month_days);
  result.time_us = static_cast<int64_t>(std::rint(x.time_us / divisor + seconds * 1e6));
  return result;
}

struct IntervalSum {
  struct State {
    int64_t count;
    PenumbraInterval sum;
  };
  using Value = PenumbraInterval;

  static void AddInterval(PenumbraInterval& sum, const PenumbraInterval& x) {
    if (__builtin_add_overflow(sum.month, x.month, &sum.month) ||
        __builtin_add_overflow(sum.day, x.day, &sum.day) ||
        __builtin_add_overflow(sum.time_us, x.time_us, &sum.time_us)) {
      throw EngineError(PENUMBRA_INTERVAL_OUT_OF_RANGE);
    }
  }
  static void Add(State& state, const Value& x, StateStore&) {
    if (IsInfinite(x)) throw EngineError(PENUMBRA_UNSUPPORTED, "aggregate over infinite intervals");
    ++state.count;
    AddInterval(state.sum, x);
  }
  static void Combine(State& into, const State& from, StateStore&) {
    into.count += from.count;
    AddInterval(into.sum, from.sum);
  }
};

class IntervalAccumulator : public TypedAccumulator<IntervalSum> {
 public:
  Vector Finalize(PenumbraAggregate function, PenumbraType type, const char* const* groups,
                  uint32_t offset, uint32_t count, Arena& arena) const override {
    PenumbraInterval* values;
    ResultVector out = MakeResult(type, count, arena, &values);
    for (uint32_t i = 0; i < count; ++i) {
      const State& state = StateAt(groups[i] + offset);
      if (state.count == 0) {
        out.SetNull(i, arena);
      } else {
        values[i] = function == PENUMBRA_AGG_AVG
                        ? Divide(state.sum, static_cast<double>(state.count))
                        : state.sum;
      }
    }
    return out.vector;
  }
};

}  // namespace

std::unique_ptr<Accumulator> CreateIntervalAccumulator() {
  return std::make_unique<IntervalAccumulator>();
}

}  // namespace penumbra

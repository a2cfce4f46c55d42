// Arithmetic of intervals, with PostgreSQL's rounding and errors.
#pragma once

#include <limits>

#include "penumbra/types.h"

namespace penumbra {

// PostgreSQL 17 gave these values the meaning of infinity; before, they are plain numbers.
inline bool IsInfiniteInterval(const PenumbraInterval& interval) {
  return (interval.month == std::numeric_limits<int32_t>::min() &&
          interval.day == std::numeric_limits<int32_t>::min() &&
          interval.time_us == std::numeric_limits<int64_t>::min()) ||
         (interval.month == std::numeric_limits<int32_t>::max() &&
          interval.day == std::numeric_limits<int32_t>::max() &&
          interval.time_us == std::numeric_limits<int64_t>::max());
}
// Throws PENUMBRA_UNSUPPORTED for those.
void CheckFinite(const PenumbraInterval& interval);

// All throw PENUMBRA_INTERVAL_OUT_OF_RANGE, PENUMBRA_UNSUPPORTED where an argument or the result is infinite, and
// PENUMBRA_DIVISION_BY_ZERO.
PenumbraInterval AddIntervals(const PenumbraInterval& a, const PenumbraInterval& b);
PenumbraInterval SubtractIntervals(const PenumbraInterval& a, const PenumbraInterval& b);
PenumbraInterval NegateInterval(const PenumbraInterval& a);
PenumbraInterval MultiplyInterval(const PenumbraInterval& a, double factor);
PenumbraInterval DivideInterval(const PenumbraInterval& a, double divisor);
// Whole days of the time become days, whole 30 days months, and all have one sign as far as that goes.
PenumbraInterval JustifyHours(PenumbraInterval a);
PenumbraInterval JustifyDays(PenumbraInterval a);
PenumbraInterval JustifyInterval(PenumbraInterval a);

}  // namespace penumbra

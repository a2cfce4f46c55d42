// Fields of dates and instants, and what the files on dates share.
#pragma once

#include <limits>
#include <string_view>

#include "function/calendar.h"
#include "function/registry.h"

namespace penumbra {

enum class DateField : uint8_t {
  kMicroseconds, kMilliseconds, kSecond, kMinute, kHour, kDay, kMonth, kQuarter, kWeek, kYear, kDecade,
  kCentury, kMillennium, kDow, kIsoDow, kDoy, kIsoYear, kJulian, kEpoch, kTimezone, kTimezoneHour,
  kTimezoneMinute,
};

// A field by the names that PostgreSQL knows for it, in any case; false: not one of them.
bool FindDateField(std::string_view name, DateField* field);

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

Binding BindDatePart(const CallSite& call);   // EXTRACT, DATE_PART
Binding BindDateTrunc(const CallSite& call);

}  // namespace penumbra

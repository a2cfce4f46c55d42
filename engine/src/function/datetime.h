// Fields of dates and instants, and what the files on dates share.
#pragma once

#include <string_view>

#include "function/calendar.h"
#include "function/interval.h"
#include "function/registry.h"

namespace penumbra {

enum class DateField : uint8_t {
  kMicroseconds,
  kMilliseconds,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kMonth,
  kQuarter,
  kWeek,
  kYear,
  kDecade,
  kCentury,
  kMillennium,
  kDow,
  kIsoDow,
  kDoy,
  kIsoYear,
  kJulian,
  kEpoch,
  kTimezone,
  kTimezoneHour,
  kTimezoneMinute,
};

// A field by the names that PostgreSQL knows for it, in any case; false: not one of them.
bool FindDateField(std::string_view name, DateField* field);

// The last argument of the call is a zone, which is the state if it is known.
void BindZone(const Expr& zone, Binding* binding);

Binding BindDatePart(const CallSite& call);  // EXTRACT, DATE_PART
Binding BindTimeOfDay(const CallSite& call);
Binding BindDateTrunc(const CallSite& call);
Binding BindDateBin(const CallSite& call);  // datetime_make.cc
Binding BindMakeDate(const CallSite& call);
Binding BindMakeTimestamp(const CallSite& call);
Binding BindMakeInterval(const CallSite& call);
Binding BindIntervalTypmod(const CallSite& call);
// Casts of dates, instants and intervals to text, as the DateStyle ISO and the IntervalStyle postgres have it.
Binding ChooseTextOfTime(PenumbraType from, const Session& session);  // datetime_text.cc

}  // namespace penumbra

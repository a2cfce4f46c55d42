// Days, dates and instants: PostgreSQL's proleptic Gregorian calendar around the epoch 2000-01-01.
// Years are astronomical (0 is 1 BC), as PostgreSQL has them inside.
#pragma once

#include <cstdint>
#include <limits>

namespace penumbra {

constexpr int64_t kSecondUs = 1000000;
constexpr int64_t kMinuteUs = 60 * kSecondUs;
constexpr int64_t kHourUs = 60 * kMinuteUs;
constexpr int64_t kDayUs = 24 * kHourUs;

constexpr int32_t kEpochJulianDay = 2451545;                       // of 2000-01-01
constexpr int32_t kUnixEpochDay = -10957;                          // 1970-01-01 in days since 2000-01-01
constexpr int32_t kMinDay = -kEpochJulianDay;                      // 4714-11-24 BC
constexpr int32_t kEndDay = 2147483494 - kEpochJulianDay;          // 5874898-01-01, exclusive
constexpr int32_t kTimestampEndDay = 109203528 - kEpochJulianDay;  // 294277-01-01, exclusive
constexpr int64_t kMinTimestamp = int64_t{kMinDay} * kDayUs;
constexpr int64_t kEndTimestamp = int64_t{kTimestampEndDay} * kDayUs;

inline bool IsValidDay(int64_t day) { return day >= kMinDay && day < kEndDay; }
inline bool IsValidTimestamp(int64_t us) { return us >= kMinTimestamp && us < kEndTimestamp; }
inline bool IsInfiniteDate(int32_t day) {
  return day == std::numeric_limits<int32_t>::min() || day == std::numeric_limits<int32_t>::max();
}
inline bool IsInfiniteTimestamp(int64_t us) {
  return us == std::numeric_limits<int64_t>::min() || us == std::numeric_limits<int64_t>::max();
}

// The divisor is positive; the quotient is rounded down, the remainder is not negative.
inline int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }
inline int64_t FloorModulo(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return remainder < 0 ? remainder + b : remainder;
}
inline int64_t DayOfTimestamp(int64_t us) { return FloorDivide(us, kDayUs); }

struct CivilDate {
  int32_t year;
  int32_t month;  // 1..12
  int32_t day;    // 1..31
};

// Neri and Schneider's algorithm ("Euclidean affine functions"), years beginning in March.
inline CivilDate CivilFromDay(int64_t day_since_2000) {
  constexpr uint64_t kCycleDays = 146097;                          // 400 years
  constexpr uint64_t kCycles = 12;                                 // shifted forward so that no day is negative
  constexpr uint64_t kMarchEpoch = 730425 + kCycles * kCycleDays;  // days from 0000-03-01 to 2000-01-01
  const uint64_t n1 = 4 * (static_cast<uint64_t>(day_since_2000 + static_cast<int64_t>(kMarchEpoch))) + 3;
  const uint64_t century = n1 / kCycleDays;
  const uint32_t n2 = static_cast<uint32_t>(n1 % kCycleDays) | 3;
  const uint64_t p2 = uint64_t{2939745} * n2;
  const uint32_t year_of_century = static_cast<uint32_t>(p2 >> 32);
  const uint32_t day_of_year = static_cast<uint32_t>(p2) / 2939745 / 4;
  const uint32_t n3 = 2141 * day_of_year + 197913;
  const uint32_t month = n3 >> 16, day = (n3 & 0xffff) / 2141;
  const bool is_next_year = day_of_year >= 306;
  const int64_t year = static_cast<int64_t>(100 * century + year_of_century) + is_next_year;
  return {static_cast<int32_t>(year - static_cast<int64_t>(400 * kCycles)),
          static_cast<int32_t>(is_next_year ? month - 12 : month), static_cast<int32_t>(day + 1)};
}

// Days since 2000-01-01; year >= -4800, month 1..12, any day.
inline int64_t DayFromCivil(int64_t year, int32_t month, int64_t day) {
  const int64_t shifted = year + 4800 - (month <= 2);
  const int64_t month_from_march = month <= 2 ? month + 9 : month - 3;
  const int64_t century = shifted / 100;
  const int64_t days = shifted * 365 + shifted / 4 - century + century / 4 + (153 * month_from_march + 2) / 5 + day - 1;
  return days - 2483589;  // from -4800-03-01 to 2000-01-01
}

inline bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
inline int32_t DaysInMonth(int64_t year, int32_t month) {
  constexpr int8_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

// Monday 0 .. Sunday 6.
inline int32_t WeekdayFromMonday(int64_t day) { return static_cast<int32_t>(FloorModulo(day + 5, 7)); }

// The ISO year and week are those of the week's Thursday.
struct IsoWeek {
  int32_t year;  // astronomical
  int32_t week;
};
inline IsoWeek IsoWeekOfDay(int64_t day) {
  const int64_t thursday = day - WeekdayFromMonday(day) + 3;
  const CivilDate civil = CivilFromDay(thursday);
  const int64_t day_of_year = thursday - DayFromCivil(civil.year, 1, 1);
  return {civil.year, static_cast<int32_t>(day_of_year / 7) + 1};
}

}  // namespace penumbra

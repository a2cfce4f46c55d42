#include "function/interval.h"

#include <cmath>

#include "function/calendar.h"
#include "vector/error.h"

namespace penumbra {
namespace {

[[noreturn]] void RaiseInterval() { throw EngineError(PENUMBRA_INTERVAL_OUT_OF_RANGE); }

PenumbraInterval CheckResult(const PenumbraInterval& interval) {
  CheckFinite(interval);
  return interval;
}

// Fractions of months go to days, fractions of days to seconds, in doubles rounded to microseconds: the steps,
// and their order, are what gives PostgreSQL's digits.
constexpr double kSecondsPerDay = 86400.0;
constexpr double kDaysPerMonth = 30.0;
double RoundToMicroseconds(double seconds) { return std::rint(seconds * 1000000.0) / 1000000.0; }

int32_t WholePart(double value) {
  if (std::isnan(value) || !(value >= -2147483648.0 && value < 2147483648.0)) RaiseInterval();
  return static_cast<int32_t>(value);
}

// months, days, time: each of the interval's parts times (or divided by) the factor.
PenumbraInterval CascadeFractions(double months, double days, double time_us) {
  PenumbraInterval result;
  result.month = WholePart(months);
  result.day = WholePart(days);
  const double month_days = RoundToMicroseconds((months - result.month) * kDaysPerMonth);
  double seconds = (days - result.day + month_days - static_cast<int>(month_days)) * kSecondsPerDay;
  seconds = RoundToMicroseconds(seconds);
  if (std::fabs(seconds) >= kSecondsPerDay) {
    const int whole_days = static_cast<int>(seconds / kSecondsPerDay);
    if (__builtin_add_overflow(result.day, whole_days, &result.day)) RaiseInterval();
    seconds -= whole_days * kSecondsPerDay;
  }
  if (__builtin_add_overflow(result.day, static_cast<int32_t>(month_days), &result.day)) RaiseInterval();
  const double total_us = std::rint(time_us + seconds * 1000000.0);
  if (std::isnan(total_us) || !(total_us >= -9223372036854775808.0 && total_us < 9223372036854775808.0)) {
    RaiseInterval();
  }
  result.time_us = static_cast<int64_t>(total_us);
  return CheckResult(result);
}

}  // namespace

void CheckFinite(const PenumbraInterval& interval) {
  if (IsInfiniteInterval(interval)) throw EngineError(PENUMBRA_UNSUPPORTED, "infinite interval");
}

PenumbraInterval AddIntervals(const PenumbraInterval& a, const PenumbraInterval& b) {
  CheckFinite(a);
  CheckFinite(b);
  PenumbraInterval sum;
  if (__builtin_add_overflow(a.month, b.month, &sum.month) || __builtin_add_overflow(a.day, b.day, &sum.day) ||
      __builtin_add_overflow(a.time_us, b.time_us, &sum.time_us)) {
    RaiseInterval();
  }
  return CheckResult(sum);
}

PenumbraInterval SubtractIntervals(const PenumbraInterval& a, const PenumbraInterval& b) {
  CheckFinite(a);
  CheckFinite(b);
  PenumbraInterval difference;
  if (__builtin_sub_overflow(a.month, b.month, &difference.month) ||
      __builtin_sub_overflow(a.day, b.day, &difference.day) ||
      __builtin_sub_overflow(a.time_us, b.time_us, &difference.time_us)) {
    RaiseInterval();
  }
  return CheckResult(difference);
}

PenumbraInterval NegateInterval(const PenumbraInterval& a) {
  CheckFinite(a);
  if (a.month == INT32_MIN || a.day == INT32_MIN || a.time_us == INT64_MIN) RaiseInterval();
  return CheckResult({-a.time_us, -a.day, -a.month});
}

PenumbraInterval MultiplyInterval(const PenumbraInterval& a, double factor) {
  CheckFinite(a);
  if (std::isinf(factor)) throw EngineError(PENUMBRA_UNSUPPORTED, "interval times infinity");
  return CascadeFractions(a.month * factor, a.day * factor, static_cast<double>(a.time_us) * factor);
}

PenumbraInterval DivideInterval(const PenumbraInterval& a, double divisor) {
  CheckFinite(a);
  if (divisor == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
  return CascadeFractions(a.month / divisor, a.day / divisor, static_cast<double>(a.time_us) / divisor);
}

namespace {

constexpr int32_t kMonthDays = 30;

void AddWhole(int64_t whole, int32_t* part) {
  if (__builtin_add_overflow(*part, whole, part)) RaiseInterval();
}

void MoveHours(PenumbraInterval* a) {
  const int64_t days = a->time_us / kDayUs;
  a->time_us -= days * kDayUs;
  AddWhole(days, &a->day);
}

void MoveDays(PenumbraInterval* a) {
  const int32_t months = a->day / kMonthDays;
  a->day -= months * kMonthDays;
  AddWhole(months, &a->month);
}

void AlignHours(PenumbraInterval* a) {
  if (a->day > 0 && a->time_us < 0) {
    a->time_us += kDayUs;
    --a->day;
  } else if (a->day < 0 && a->time_us > 0) {
    a->time_us -= kDayUs;
    ++a->day;
  }
}

// `sign` is that of what is less than a month.
void AlignDays(int sign, PenumbraInterval* a) {
  if (a->month > 0 && sign < 0) {
    a->day += kMonthDays;
    --a->month;
  } else if (a->month < 0 && sign > 0) {
    a->day -= kMonthDays;
    ++a->month;
  }
}

int SignOf(int64_t value) { return (value > 0) - (value < 0); }

}  // namespace

PenumbraInterval JustifyHours(PenumbraInterval a) {
  CheckFinite(a);
  MoveHours(&a);
  AlignHours(&a);
  return a;
}

PenumbraInterval JustifyDays(PenumbraInterval a) {
  CheckFinite(a);
  MoveDays(&a);
  AlignDays(SignOf(a.day), &a);
  return a;
}

PenumbraInterval JustifyInterval(PenumbraInterval a) {
  CheckFinite(a);
  // days that would overflow with those of the time
  if (SignOf(a.day) == SignOf(a.time_us)) MoveDays(&a);
  MoveHours(&a);
  MoveDays(&a);
  AlignDays(a.day != 0 ? SignOf(a.day) : SignOf(a.time_us), &a);
  AlignHours(&a);
  return a;
}

}  // namespace penumbra

#include "function/interval.h"

#include <cmath>

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

}  // namespace penumbra

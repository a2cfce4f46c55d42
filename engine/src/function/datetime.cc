// Arithmetic on dates, timestamps and intervals; instants of Unix seconds.
#include "function/datetime.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "function/interval.h"
#include "function/letter_case.h"
#include "function/time_zone.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {

// Accepts the names of PostgreSQL's parser, in singular and plural where it has both. Its abbreviations are refused.
bool FindDateField(std::string_view name, DateField* field) {
  struct Name {
    std::string_view name;
    DateField field;
  };
  static constexpr Name kNames[] = {
      {"microseconds", DateField::kMicroseconds},
      {"microsecond", DateField::kMicroseconds},
      {"milliseconds", DateField::kMilliseconds},
      {"millisecond", DateField::kMilliseconds},
      {"second", DateField::kSecond},
      {"seconds", DateField::kSecond},
      {"minute", DateField::kMinute},
      {"minutes", DateField::kMinute},
      {"hour", DateField::kHour},
      {"hours", DateField::kHour},
      {"day", DateField::kDay},
      {"days", DateField::kDay},
      {"month", DateField::kMonth},
      {"months", DateField::kMonth},
      {"quarter", DateField::kQuarter},
      {"week", DateField::kWeek},
      {"weeks", DateField::kWeek},
      {"year", DateField::kYear},
      {"years", DateField::kYear},
      {"decade", DateField::kDecade},
      {"decades", DateField::kDecade},
      {"century", DateField::kCentury},
      {"centuries", DateField::kCentury},
      {"millennium", DateField::kMillennium},
      {"millennia", DateField::kMillennium},
      {"dow", DateField::kDow},
      {"isodow", DateField::kIsoDow},
      {"doy", DateField::kDoy},
      {"isoyear", DateField::kIsoYear},
      {"julian", DateField::kJulian},
      {"epoch", DateField::kEpoch},
      {"timezone", DateField::kTimezone},
      {"timezone_hour", DateField::kTimezoneHour},
      {"timezone_minute", DateField::kTimezoneMinute},
  };
  std::string folded(name);
  const uint32_t length = static_cast<uint32_t>(folded.size());
  LetterCase::OfC().Change(CaseChange::kLower, folded.data(), length, folded.data());
  for (const Name& known : kNames) {
    if (known.name != folded) continue;
    *field = known.field;
    return true;
  }
  return false;
}

namespace {

[[noreturn]] void RaiseTimestamp() { throw EngineError(PENUMBRA_TIMESTAMP_OUT_OF_RANGE); }

// ---- dates

int32_t AddDays(int32_t date, int64_t days) {
  if (IsInfiniteDate(date)) return date;
  const int64_t result = date + days;
  if (!IsValidDay(result)) throw EngineError(PENUMBRA_DATE_OUT_OF_RANGE);
  return static_cast<int32_t>(result);
}
int32_t DatePlusDays(int32_t date, int32_t days, TimeZone&) { return AddDays(date, days); }
int32_t DateMinusDays(int32_t date, int32_t days, TimeZone&) { return AddDays(date, -int64_t{days}); }
int32_t DateMinusDate(int32_t a, int32_t b, TimeZone&) {
  if (IsInfiniteDate(a) || IsInfiniteDate(b)) {
    throw EngineError(PENUMBRA_DATE_OUT_OF_RANGE, "cannot subtract infinite dates");
  }
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}

// ---- instants and intervals

// Adds months to a local time; the day is clamped to the month's last.
int64_t AddMonths(int64_t local_us, int32_t months) {
  const int64_t day = DayOfTimestamp(local_us);
  const CivilDate civil = CivilFromDay(day);
  const int64_t month_index = int64_t{civil.month} + months;
  if (month_index > INT32_MAX || month_index < INT32_MIN) RaiseTimestamp();
  const int64_t year = civil.year + FloorDivide(month_index - 1, 12);
  const int32_t month = static_cast<int32_t>(FloorModulo(month_index - 1, 12)) + 1;
  if (year < -4713 || (year == -4713 && month < 11) || year > 294277) RaiseTimestamp();
  const int64_t new_day = DayFromCivil(year, month, std::min(civil.day, DaysInMonth(year, month)));
  if (new_day >= kTimestampEndDay) RaiseTimestamp();
  return new_day * kDayUs + (local_us - day * kDayUs);
}

// Adds days to a local time. Julian days are int4 and not below `least_julian_day`.
int64_t AddLocalDays(int64_t local_us, int32_t days, int32_t least_julian_day) {
  const int64_t day = DayOfTimestamp(local_us);
  const int64_t new_day = day + days;
  const int64_t julian_day = new_day + kEpochJulianDay;
  if (julian_day > INT32_MAX || julian_day < least_julian_day) RaiseTimestamp();
  if (new_day >= kTimestampEndDay) RaiseTimestamp();
  return new_day * kDayUs + (local_us - day * kDayUs);
}

int64_t AddTime(int64_t us, int64_t time_us) {
  int64_t result;
  if (__builtin_add_overflow(us, time_us, &result) || !IsValidTimestamp(result)) RaiseTimestamp();
  return result;
}

int64_t CheckRange(int64_t us) {
  if (!IsValidTimestamp(us)) RaiseTimestamp();
  return us;
}

int64_t TimestampPlusInterval(int64_t us, const PenumbraInterval& interval) {
  CheckFinite(interval);
  if (IsInfiniteTimestamp(us)) return us;
  if (interval.month != 0) us = CheckRange(AddMonths(us, interval.month));
  if (interval.day != 0) us = CheckRange(AddLocalDays(us, interval.day, 0));
  return AddTime(us, interval.time_us);
}

int64_t TimestamptzPlusInterval(int64_t us, const PenumbraInterval& interval, TimeZone& zone) {
  CheckFinite(interval);
  if (IsInfiniteTimestamp(us)) return us;
  if (interval.month != 0) us = CheckRange(zone.ToUtc(AddMonths(zone.ToLocal(us), interval.month)));
  if (interval.day != 0) us = CheckRange(zone.ToUtc(AddLocalDays(zone.ToLocal(us), interval.day, -1)));
  return AddTime(us, interval.time_us);
}

// For subtraction. The least integers have no opposite: versions differ on what happens then.
PenumbraInterval Opposite(const PenumbraInterval& interval) {
  CheckFinite(interval);
  if (interval.month == INT32_MIN || interval.day == INT32_MIN || interval.time_us == INT64_MIN) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "subtraction of the least interval");
  }
  return {-interval.time_us, -interval.day, -interval.month};
}

int64_t PlusTimestamp(int64_t us, const PenumbraInterval& i, TimeZone&) { return TimestampPlusInterval(us, i); }
int64_t MinusTimestamp(int64_t us, const PenumbraInterval& i, TimeZone&) {
  return TimestampPlusInterval(us, Opposite(i));
}
int64_t PlusTimestamptz(int64_t us, const PenumbraInterval& i, TimeZone& zone) {
  return TimestamptzPlusInterval(us, i, zone);
}
int64_t MinusTimestamptz(int64_t us, const PenumbraInterval& i, TimeZone& zone) {
  return TimestamptzPlusInterval(us, Opposite(i), zone);
}

int64_t DateAsTimestamp(int32_t date) {
  if (IsInfiniteDate(date)) return date < 0 ? INT64_MIN : INT64_MAX;
  if (date >= kTimestampEndDay) {
    throw EngineError(PENUMBRA_DATE_OUT_OF_RANGE, "date out of range for timestamp");
  }
  return date * kDayUs;
}
int64_t PlusDate(int32_t date, const PenumbraInterval& i, TimeZone&) {
  return TimestampPlusInterval(DateAsTimestamp(date), i);
}
int64_t MinusDate(int32_t date, const PenumbraInterval& i, TimeZone&) {
  return TimestampPlusInterval(DateAsTimestamp(date), Opposite(i));
}

// Whole days and a rest of the same sign.
PenumbraInterval TimestampDifference(int64_t a, int64_t b, TimeZone&) {
  int64_t difference_us;
  if (IsInfiniteTimestamp(a) || IsInfiniteTimestamp(b) || __builtin_sub_overflow(a, b, &difference_us)) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "difference of timestamps out of range");
  }
  return {difference_us % kDayUs, static_cast<int32_t>(difference_us / kDayUs), 0};
}

// Months, days and a time of the same sign, by the calendar: a day that is borrowed from the month has the length of
// the earlier instant's month.
PenumbraInterval AgeByFields(bool is_negative, int64_t earlier, int64_t later) {
  const int64_t earlier_day = DayOfTimestamp(earlier), later_day = DayOfTimestamp(later);
  const CivilDate from = CivilFromDay(earlier_day), to = CivilFromDay(later_day);
  int32_t months = (to.year - from.year) * 12 + to.month - from.month;
  int32_t days = to.day - from.day;
  int64_t time_us = (later - later_day * kDayUs) - (earlier - earlier_day * kDayUs);
  if (time_us < 0) {
    time_us += kDayUs;
    --days;
  }
  while (days < 0) {
    days += DaysInMonth(from.year, from.month);
    --months;
  }
  return is_negative ? PenumbraInterval{-time_us, -days, -months} : PenumbraInterval{time_us, days, months};
}

void CheckAge(int64_t a, int64_t b) {
  if (IsInfiniteTimestamp(a) || IsInfiniteTimestamp(b)) throw EngineError(PENUMBRA_UNSUPPORTED, "age of infinity");
}
PenumbraInterval TimestampAge(int64_t a, int64_t b, TimeZone&) {
  CheckAge(a, b);
  return AgeByFields(a < b, std::min(a, b), std::max(a, b));
}
// By local times, whose order a shift may turn around; which is earlier the instants say.
PenumbraInterval TimestamptzAge(int64_t a, int64_t b, TimeZone& zone) {
  CheckAge(a, b);
  return AgeByFields(a < b, zone.ToLocal(std::min(a, b)), zone.ToLocal(std::max(a, b)));
}

// As float8_timestamptz(): rounded to microseconds after the epoch is another one.
int64_t TimestampOfUnixSeconds(double seconds) {
  constexpr double kDaySeconds = kDayUs / kSecondUs;
  if (std::isnan(seconds)) throw EngineError(PENUMBRA_TIMESTAMP_OUT_OF_RANGE, "timestamp cannot be NaN");
  if (std::isinf(seconds)) return seconds < 0 ? INT64_MIN : INT64_MAX;
  if (seconds >= kDaySeconds * (kMinDay - kUnixEpochDay) &&
      seconds < kDaySeconds * (kTimestampEndDay - kUnixEpochDay)) {
    const auto us = static_cast<int64_t>(std::rint((seconds + kDaySeconds * kUnixEpochDay) * kSecondUs));
    if (IsValidTimestamp(us)) return us;
  }
  char message[64];
  std::snprintf(message, sizeof(message), "timestamp out of range: \"%g\"", seconds);
  throw EngineError(PENUMBRA_TIMESTAMP_OUT_OF_RANGE, message);
}

// ---- intervals

// ---- times of day

int64_t ShiftTime(int64_t time_us, int64_t by_us) {
  return FloorModulo(static_cast<int64_t>(static_cast<uint64_t>(time_us) + static_cast<uint64_t>(by_us)), kDayUs);
}
int64_t PlusTime(int64_t time_us, const PenumbraInterval& i) {
  CheckFinite(i);
  return ShiftTime(time_us, i.time_us);
}
int64_t MinusTime(int64_t time_us, const PenumbraInterval& i) { return ShiftTime(time_us, Opposite(i).time_us); }
PenumbraInterval TimeDifference(int64_t a, int64_t b) { return {a - b, 0, 0}; }
int64_t DatePlusTime(int32_t date, int64_t time_us) {
  const int64_t us = DateAsTimestamp(date);
  return IsInfiniteTimestamp(us) ? us : AddTime(us, time_us);
}

PenumbraInterval MultiplyByInterval(double factor, const PenumbraInterval& a) { return MultiplyInterval(a, factor); }

// ---- evaluation and choice

template <typename R, typename A, typename B, auto kFunction>
Vector EvaluatePair(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<A> a = ViewOf<A>(args[0], rows, context.arena);
  const View<B> b = ViewOf<B>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  R* out = context.arena.AllocateArray<R>(rows);
  if (validity != nullptr) std::fill_n(out, rows, R{});
  TimeZone zone(context.session);
  ForEachValid(validity, rows, [&](uint32_t i) {
    if constexpr (std::is_invocable_v<decltype(kFunction), A, B>) {
      out[i] = kFunction(a[i], b[i]);
    } else {
      out[i] = kFunction(a[i], b[i], zone);
    }
  });
  return FlatVector(expr.type, out, validity);
}

// interval + x as x + interval.
template <typename R, typename A, auto kFunction>
Vector EvaluateExchanged(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector exchanged[2] = {args[1], args[0]};
  return EvaluatePair<R, A, PenumbraInterval, kFunction>(expr, exchanged, rows, context);
}

template <auto kFunction>
Vector EvaluateOfInterval(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<PenumbraInterval> a = ViewOf<PenumbraInterval>(args[0], rows, context.arena);
  PenumbraInterval* out = context.arena.AllocateArray<PenumbraInterval>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, PenumbraInterval{});
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = kFunction(a[i]); });
  return FlatVector(expr.type, out, args[0].validity);
}

EvaluateFunction ChooseOfInterval(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_NEG: return EvaluateOfInterval<NegateInterval>;
    case PENUMBRA_FN_JUSTIFY_HOURS: return EvaluateOfInterval<JustifyHours>;
    case PENUMBRA_FN_JUSTIFY_DAYS: return EvaluateOfInterval<JustifyDays>;
    default: return EvaluateOfInterval<JustifyInterval>;
  }
}

Vector EvaluateToTimestamp(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<double> seconds = ViewOf<double>(args[0], rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, int64_t{0});
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = TimestampOfUnixSeconds(seconds[i]); });
  return FlatVector(expr.type, out, args[0].validity);
}

Vector EvaluateDaysPlusDate(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector exchanged[2] = {args[1], args[0]};
  return EvaluatePair<int32_t, int32_t, int32_t, DatePlusDays>(expr, exchanged, rows, context);
}

constexpr uint32_t Signature(PenumbraType a, PenumbraType b, PenumbraType result) {
  return static_cast<uint32_t>(a) << 16 | static_cast<uint32_t>(b) << 8 | static_cast<uint32_t>(result);
}

EvaluateFunction ChooseSum(uint32_t signature) {
  using I = PenumbraInterval;
  switch (signature) {
    case Signature(PENUMBRA_DATE, PENUMBRA_INT4, PENUMBRA_DATE):
      return EvaluatePair<int32_t, int32_t, int32_t, DatePlusDays>;
    case Signature(PENUMBRA_INT4, PENUMBRA_DATE, PENUMBRA_DATE): return EvaluateDaysPlusDate;
    case Signature(PENUMBRA_DATE, PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMP):
      return EvaluatePair<int64_t, int32_t, I, PlusDate>;
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_DATE, PENUMBRA_TIMESTAMP):
      return EvaluateExchanged<int64_t, int32_t, PlusDate>;
    case Signature(PENUMBRA_TIMESTAMP, PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMP):
      return EvaluatePair<int64_t, int64_t, I, PlusTimestamp>;
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMP):
      return EvaluateExchanged<int64_t, int64_t, PlusTimestamp>;
    case Signature(PENUMBRA_TIMESTAMPTZ, PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMPTZ):
      return EvaluatePair<int64_t, int64_t, I, PlusTimestamptz>;
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMPTZ, PENUMBRA_TIMESTAMPTZ):
      return EvaluateExchanged<int64_t, int64_t, PlusTimestamptz>;
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_INTERVAL, PENUMBRA_INTERVAL): return EvaluatePair<I, I, I, AddIntervals>;
    case Signature(PENUMBRA_INT8, PENUMBRA_INTERVAL, PENUMBRA_INT8): return EvaluatePair<int64_t, int64_t, I, PlusTime>;
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_INT8, PENUMBRA_INT8):
      return EvaluateExchanged<int64_t, int64_t, PlusTime>;
    case Signature(PENUMBRA_DATE, PENUMBRA_INT8, PENUMBRA_TIMESTAMP):
      return EvaluatePair<int64_t, int32_t, int64_t, DatePlusTime>;
    default: return nullptr;
  }
}

EvaluateFunction ChooseDifference(uint32_t signature) {
  using I = PenumbraInterval;
  switch (signature) {
    case Signature(PENUMBRA_DATE, PENUMBRA_INT4, PENUMBRA_DATE):
      return EvaluatePair<int32_t, int32_t, int32_t, DateMinusDays>;
    case Signature(PENUMBRA_DATE, PENUMBRA_DATE, PENUMBRA_INT4):
      return EvaluatePair<int32_t, int32_t, int32_t, DateMinusDate>;
    case Signature(PENUMBRA_DATE, PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMP):
      return EvaluatePair<int64_t, int32_t, I, MinusDate>;
    case Signature(PENUMBRA_TIMESTAMP, PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMP):
      return EvaluatePair<int64_t, int64_t, I, MinusTimestamp>;
    case Signature(PENUMBRA_TIMESTAMPTZ, PENUMBRA_INTERVAL, PENUMBRA_TIMESTAMPTZ):
      return EvaluatePair<int64_t, int64_t, I, MinusTimestamptz>;
    case Signature(PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMP, PENUMBRA_INTERVAL):
    case Signature(PENUMBRA_TIMESTAMPTZ, PENUMBRA_TIMESTAMPTZ, PENUMBRA_INTERVAL):
      return EvaluatePair<I, int64_t, int64_t, TimestampDifference>;
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_INTERVAL, PENUMBRA_INTERVAL):
      return EvaluatePair<I, I, I, SubtractIntervals>;
    case Signature(PENUMBRA_INT8, PENUMBRA_INTERVAL, PENUMBRA_INT8):
      return EvaluatePair<int64_t, int64_t, I, MinusTime>;
    case Signature(PENUMBRA_INT8, PENUMBRA_INT8, PENUMBRA_INTERVAL):
      return EvaluatePair<I, int64_t, int64_t, TimeDifference>;
    default: return nullptr;
  }
}

EvaluateFunction ChooseScaling(PenumbraFunction function, uint32_t signature) {
  using I = PenumbraInterval;
  const bool is_product = function == PENUMBRA_FN_MUL;
  switch (signature) {
    case Signature(PENUMBRA_INTERVAL, PENUMBRA_FLOAT8, PENUMBRA_INTERVAL):
      return is_product ? EvaluatePair<I, I, double, MultiplyInterval> : EvaluatePair<I, I, double, DivideInterval>;
    case Signature(PENUMBRA_FLOAT8, PENUMBRA_INTERVAL, PENUMBRA_INTERVAL):
      return is_product ? EvaluatePair<I, double, I, MultiplyByInterval> : nullptr;
    default: return nullptr;
  }
}

// As AdjustTimestampForTypmod(): half away from PostgreSQL's epoch.
int64_t RoundTimestamp(int64_t us, int32_t digits) {
  static constexpr int64_t kUnitUs[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
  if (IsInfiniteTimestamp(us) || digits < 0 || digits > 6) return us;
  const int64_t unit_us = kUnitUs[digits], half_us = unit_us / 2;
  return us >= 0 ? (us + half_us) / unit_us * unit_us : -((-us + half_us) / unit_us * unit_us);
}

EvaluateFunction ChooseAge(uint32_t signature) {
  using I = PenumbraInterval;
  switch (signature) {
    case Signature(PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMP, PENUMBRA_INTERVAL):
      return EvaluatePair<I, int64_t, int64_t, TimestampAge>;
    case Signature(PENUMBRA_TIMESTAMPTZ, PENUMBRA_TIMESTAMPTZ, PENUMBRA_INTERVAL):
      return EvaluatePair<I, int64_t, int64_t, TimestamptzAge>;
    default: return nullptr;
  }
}

bool IsZoned(const CallSite& call) {
  return std::any_of(call.args.begin(), call.args.end(),
                     [](const Expr* arg) { return arg->type == PENUMBRA_TIMESTAMPTZ; }) &&
         (call.result == PENUMBRA_TIMESTAMPTZ || call.function == PENUMBRA_FN_AGE);
}

// Of arithmetic: infinite intervals, instants outside of the time zone's table, differences that make no
// interval.
bool CanBeUnsupported(const CallSite& call) {
  if (call.result == PENUMBRA_INTERVAL) return true;
  if (call.result == PENUMBRA_TIMESTAMPTZ && TimeZoneEnds(call.session)) return true;
  return std::any_of(call.args.begin(), call.args.end(), [](const Expr* arg) {
    if (arg->type != PENUMBRA_INTERVAL) return false;
    return arg->kind != Expr::Kind::kConstant || arg->constant.is_null_constant() ||
           IsInfiniteInterval(*arg->constant.values<PenumbraInterval>());
  });
}

}  // namespace

void BindZone(const Expr& zone, Binding* binding) {
  binding->can_fail = binding->can_be_unsupported = true;
  const auto* bytes = KnownValue<StringRef>(zone);
  if (bytes == nullptr) return;
  auto table = std::make_shared<const ZoneTable>(ReadZoneTable(bytes->view()));
  binding->can_be_unsupported = table->from_us.empty() || TimeZoneEnds(*table);
  binding->state = std::move(table);
}

// The types of both arguments and of the result choose the function together.
Binding BindDatetime(const CallSite& call) {
  Binding binding;
  binding.can_fail = true;
  binding.can_be_unsupported = CanBeUnsupported(call);
  switch (call.function) {
    case PENUMBRA_FN_EXTRACT:
    case PENUMBRA_FN_DATE_PART: return BindDatePart(call);
    case PENUMBRA_FN_DATE_TRUNC: return BindDateTrunc(call);
    case PENUMBRA_FN_TIME_OF_DAY: return BindTimeOfDay(call);
    case PENUMBRA_FN_DATE_BIN: return BindDateBin(call);
    case PENUMBRA_FN_MAKE_DATE: return BindMakeDate(call);
    case PENUMBRA_FN_MAKE_TIMESTAMP: return BindMakeTimestamp(call);
    case PENUMBRA_FN_MAKE_INTERVAL: return BindMakeInterval(call);
    case PENUMBRA_FN_INTERVAL_TYPMOD: return BindIntervalTypmod(call);
    case PENUMBRA_FN_NEG:
    case PENUMBRA_FN_JUSTIFY_HOURS:
    case PENUMBRA_FN_JUSTIFY_DAYS:
    case PENUMBRA_FN_JUSTIFY_INTERVAL:
      if (call.args.size() == 1 && call.args[0]->type == PENUMBRA_INTERVAL && call.result == PENUMBRA_INTERVAL) {
        binding.evaluate = ChooseOfInterval(call.function);
      }
      return binding;
    case PENUMBRA_FN_TO_TIMESTAMP:
      if (call.args.size() == 1 && call.args[0]->type == PENUMBRA_FLOAT8 && call.result == PENUMBRA_TIMESTAMPTZ) {
        binding.evaluate = EvaluateToTimestamp;
        binding.can_be_unsupported = false;
      }
      return binding;
    case PENUMBRA_FN_TIMESTAMP_TYPMOD:
      if (call.args.size() == 2 && call.args[0]->type == call.result && call.args[1]->type == PENUMBRA_INT4 &&
          (call.result == PENUMBRA_TIMESTAMP || call.result == PENUMBRA_TIMESTAMPTZ || call.result == PENUMBRA_INT8)) {
        binding.evaluate = EvaluatePair<int64_t, int64_t, int32_t, RoundTimestamp>;
        binding.can_fail = binding.can_be_unsupported = false;
      }
      return binding;
    default: break;
  }
  if (call.args.size() != 2) return binding;
  const uint32_t signature = Signature(call.args[0]->type, call.args[1]->type, call.result);
  switch (call.function) {
    case PENUMBRA_FN_ADD: binding.evaluate = ChooseSum(signature); break;
    case PENUMBRA_FN_SUB: binding.evaluate = ChooseDifference(signature); break;
    case PENUMBRA_FN_AGE: binding.evaluate = ChooseAge(signature); break;
    case PENUMBRA_FN_MUL:
    case PENUMBRA_FN_DIV: binding.evaluate = ChooseScaling(call.function, signature); break;
    default: break;
  }
  if (binding.evaluate != nullptr && IsZoned(call) && !HasTimeZone(call.session)) {
    binding.evaluate = nullptr;
    binding.reason = "time zone not known";
  }
  return binding;
}

}  // namespace penumbra

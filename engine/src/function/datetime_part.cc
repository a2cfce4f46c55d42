// EXTRACT and date_part. EXTRACT gives numeric with the scale of the field, date_part the nearest double that
// PostgreSQL's own formula gives.
#include <algorithm>
#include <cmath>

#include "function/datetime.h"
#include "function/time_zone.h"
#include "numeric/numeric.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct PartState {
  DateField field;
};

DateField FieldOf(const Expr& expr) { return static_cast<const PartState*>(expr.state.get())->field; }

constexpr int64_t kUnixEpochUs = int64_t{kUnixEpochDay} * kDayUs;

// The rows' local days and times of day, which int8 is itself. Infinite rows have day 0 and are named in `infinite`.
struct DayTimes {
  int64_t* day;
  int64_t* time_us;    // null for dates
  int64_t* utc_us;     // of timestamps
  int64_t* offset_us;  // of timestamptz
  bool has_infinite = false;
  uint64_t infinite[kValidityWords] = {};
};

void MarkInfinite(uint32_t row, DayTimes* times) {
  times->has_infinite = true;
  times->infinite[row / 64] |= uint64_t{1} << (row % 64);
}

DayTimes SplitDates(const Vector& v, uint32_t rows, EvalContext& context) {
  const View<int32_t> dates = ViewOf<int32_t>(v, rows, context.arena);
  DayTimes times{context.arena.AllocateArray<int64_t>(rows), nullptr, nullptr, nullptr};
  for (uint32_t i = 0; i < rows; ++i) {
    times.day[i] = dates[i];
    if (IsInfiniteDate(dates[i])) {
      times.day[i] = 0;
      if (v.IsValid(i)) MarkInfinite(i, &times);
    }
  }
  return times;
}

DayTimes SplitTimestamps(const Vector& v, uint32_t rows, EvalContext& context) {
  const View<int64_t> instants = ViewOf<int64_t>(v, rows, context.arena);
  int64_t* buffer = context.arena.AllocateArray<int64_t>(size_t{4} * rows);
  DayTimes times{buffer, buffer + rows, buffer + 2 * rows, buffer + 3 * rows};
  TimeZone zone(context.session);
  const bool is_zoned = v.type == PENUMBRA_TIMESTAMPTZ, is_time = v.type == PENUMBRA_INT8;
  for (uint32_t i = 0; i < rows; ++i) {
    const bool is_valid = v.IsValid(i);
    int64_t us = is_valid ? instants[i] : 0;  // a null row's value is anything: it must not fail
    if (IsInfiniteTimestamp(us)) {
      us = 0;
      MarkInfinite(i, &times);
    }
    times.utc_us[i] = us;
    times.offset_us[i] = is_zoned && is_valid && !IsBitSet(times.infinite, i) ? zone.OffsetUs(us) : 0;
    const int64_t local_us = us + times.offset_us[i];
    times.day[i] = is_time ? 0 : DayOfTimestamp(local_us);
    times.time_us[i] = local_us - times.day[i] * kDayUs;
    if (is_time) times.utc_us[i] += kUnixEpochUs;
  }
  return times;
}

// PostgreSQL's year 0 is shown as -1 (1 BC); decades, centuries and millennia have no zeroth one.
int64_t ShownYear(int32_t year) { return year > 0 ? year : year - 1; }
int64_t DecadeOf(int32_t year) { return year >= 0 ? year / 10 : -((8 - (int64_t{year} - 1)) / 10); }
int64_t SpanOfYears(int32_t year, int32_t span) {
  return year > 0 ? (int64_t{year} + span - 1) / span : -((span - 1 - (int64_t{year} - 1)) / span);
}

int64_t CalendarField(DateField field, int64_t day) {
  const CivilDate civil = CivilFromDay(day);
  switch (field) {
    case DateField::kDay: return civil.day;
    case DateField::kMonth: return civil.month;
    case DateField::kQuarter: return (civil.month - 1) / 3 + 1;
    case DateField::kYear: return ShownYear(civil.year);
    case DateField::kDecade: return DecadeOf(civil.year);
    case DateField::kCentury: return SpanOfYears(civil.year, 100);
    case DateField::kMillennium: return SpanOfYears(civil.year, 1000);
    case DateField::kDoy: return day - DayFromCivil(civil.year, 1, 1) + 1;
    case DateField::kWeek: return IsoWeekOfDay(day).week;
    default: return ShownYear(IsoWeekOfDay(day).year);  // kIsoYear
  }
}

// An integer field of the day, alone in a loop where it is much asked for.
void ComputeDayField(DateField field, const int64_t* days, uint32_t rows, int64_t* out) {
  switch (field) {
    case DateField::kYear:
      for (uint32_t i = 0; i < rows; ++i) out[i] = ShownYear(CivilFromDay(days[i]).year);
      break;
    case DateField::kMonth:
      for (uint32_t i = 0; i < rows; ++i) out[i] = CivilFromDay(days[i]).month;
      break;
    case DateField::kDay:
      for (uint32_t i = 0; i < rows; ++i) out[i] = CivilFromDay(days[i]).day;
      break;
    case DateField::kDow:
      for (uint32_t i = 0; i < rows; ++i) out[i] = (WeekdayFromMonday(days[i]) + 1) % 7;
      break;
    case DateField::kIsoDow:
      for (uint32_t i = 0; i < rows; ++i) out[i] = WeekdayFromMonday(days[i]) + 1;
      break;
    case DateField::kJulian:
      for (uint32_t i = 0; i < rows; ++i) out[i] = days[i] + kEpochJulianDay;
      break;
    default:
      for (uint32_t i = 0; i < rows; ++i) out[i] = CalendarField(field, days[i]);
      break;
  }
}

bool IsTimeField(DateField field) { return field <= DateField::kHour; }

// Fields of the time of day: seconds and their parts as integers of 10^-scale seconds.
void ComputeTimeField(DateField field, const int64_t* time_us, uint32_t rows, int64_t* out) {
  switch (field) {
    case DateField::kMinute:
      for (uint32_t i = 0; i < rows; ++i) out[i] = time_us[i] / kMinuteUs % 60;
      break;
    case DateField::kHour:
      for (uint32_t i = 0; i < rows; ++i) out[i] = time_us[i] / kHourUs;
      break;
    default:  // microseconds, milliseconds, second: all count microseconds
      for (uint32_t i = 0; i < rows; ++i) out[i] = time_us[i] % kMinuteUs;
      break;
  }
}

int16_t ScaleOf(DateField field, PenumbraType type) {
  switch (field) {
    case DateField::kMilliseconds: return 3;
    case DateField::kSecond: return 6;
    case DateField::kEpoch: return type == PENUMBRA_DATE ? 0 : 6;
    default: return 0;
  }
}

// The most are the hours of an interval.
constexpr int kFieldDigits = 12;

// The integer of the field times 10^scale. Not kJulian of a timestamp, not an epoch beyond int64.
void ComputeField(DateField field, PenumbraType type, const DayTimes& times, uint32_t rows, int64_t* out) {
  if (field == DateField::kEpoch) {
    for (uint32_t i = 0; i < rows; ++i) {
      if (type == PENUMBRA_DATE) {
        out[i] = (times.day[i] - kUnixEpochDay) * 86400;
      } else {
        __builtin_sub_overflow(times.utc_us[i], kUnixEpochUs, &out[i]);
      }
    }
  } else if (field >= DateField::kTimezone) {
    for (uint32_t i = 0; i < rows; ++i) {
      const int64_t offset_seconds = times.offset_us[i] / kSecondUs;
      out[i] = field == DateField::kTimezone       ? offset_seconds
               : field == DateField::kTimezoneHour ? offset_seconds / 3600
                                                   : offset_seconds / 60 % 60;
    }
  } else if (IsTimeField(field)) {
    ComputeTimeField(field, times.time_us, rows, out);
  } else {
    ComputeDayField(field, times.day, rows, out);
  }
}

constexpr int64_t kWideEpochUs = std::numeric_limits<int64_t>::max() + kUnixEpochUs;

// The last months that a timestamp can have are more microseconds from 1970 than int64 counts. There
// PostgreSQL divides numerics, and rounds.
bool HasWideEpoch(DateField field, const DayTimes& times, uint32_t rows) {
  if (field != DateField::kEpoch || times.utc_us == nullptr) return false;
  return std::any_of(times.utc_us, times.utc_us + rows, [](int64_t us) { return us >= kWideEpochUs; });
}

// Fields that grow with time are infinite where the time is; the others are null.
bool IsMonotonic(DateField field) {
  switch (field) {
    case DateField::kYear:
    case DateField::kDecade:
    case DateField::kCentury:
    case DateField::kMillennium:
    case DateField::kJulian:
    case DateField::kIsoYear:
    case DateField::kEpoch: return true;
    default: return false;
  }
}

bool IsNegativeInfinity(const Vector& v, uint32_t row) {
  const uint32_t i = v.is_constant() ? 0 : row;
  return v.type == PENUMBRA_DATE ? v.values<int32_t>()[i] < 0 : v.values<int64_t>()[i] < 0;
}

const uint64_t* WithoutInfinite(const uint64_t* validity, const DayTimes& times, uint32_t rows, Arena& arena) {
  uint64_t* finite = arena.AllocateArray<uint64_t>(BitWords(rows));
  for (uint32_t w = 0; w < BitWords(rows); ++w) {
    finite[w] = ~times.infinite[w] & (validity == nullptr ? ~uint64_t{0} : validity[w]);
  }
  return finite;
}

// Integers of one scale, with their bounds.
Vector NumericVector(int64_t* values, int16_t scale, const uint64_t* validity, uint32_t rows) {
  Vector result = FlatVector(PENUMBRA_NUMERIC, values, validity);
  result.scale = scale;
  int64_t least, greatest;
  if (kernels::FindBounds(values, validity, rows, &least, &greatest)) {
    result.lower = least;
    result.upper = greatest;
  }
  return result;
}

// Row by row, for what does not fit the integers: infinities and Julian days with fractions.
template <typename F>
Vector PayloadVector(const uint64_t* validity, uint32_t rows, Arena& arena, F decimal_of) {
  StringRef* out = arena.AllocateArray<StringRef>(rows);
  std::fill_n(out, rows, StringRef());
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = decimal_of(i).ToPayload(arena); });
  Vector result = FlatVector(PENUMBRA_NUMERIC, out, validity);
  result.numeric_form = NumericForm::kPayload;
  return result;
}

Decimal JulianDecimal(int64_t day, int64_t time_us) {
  const Decimal fraction = Decimal::Divide(Decimal::FromInteger(time_us), Decimal::FromInteger(kDayUs));
  return Decimal::Add(Decimal::FromInteger(day + kEpochJulianDay), fraction);
}

// The result has integers of a fixed scale where these hold all rows. Fractions of Julian days, infinities of the
// fields that have them and far epochs make all rows payloads.
Vector EvaluateExtract(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  const DateField field = FieldOf(expr);
  const Vector v = args[1].form == VectorForm::kDictionary ? Flatten(args[1], rows, arena) : args[1];
  const bool is_date = v.type == PENUMBRA_DATE;
  const DayTimes times = is_date ? SplitDates(v, rows, context) : SplitTimestamps(v, rows, context);
  const bool is_fractional_julian = field == DateField::kJulian && !is_date;
  const uint64_t* validity = v.validity;
  if (times.has_infinite && !IsMonotonic(field)) validity = WithoutInfinite(validity, times, rows, arena);
  const int16_t scale = ScaleOf(field, v.type);
  int64_t* values = arena.AllocateArray<int64_t>(rows);
  if (!is_fractional_julian) ComputeField(field, v.type, times, rows, values);
  const bool has_infinite = times.has_infinite && IsMonotonic(field);
  if (!is_fractional_julian && !has_infinite && !HasWideEpoch(field, times, rows)) {
    return NumericVector(values, scale, validity, rows);
  }
  return PayloadVector(validity, rows, arena, [&](uint32_t i) {
    if (IsBitSet(times.infinite, i)) return Decimal::FromString(IsNegativeInfinity(v, i) ? "-Infinity" : "Infinity");
    if (is_fractional_julian) return JulianDecimal(times.day[i], times.time_us[i]);
    if (field == DateField::kEpoch && !is_date) {
      const int128 us = int128{times.utc_us[i]} - kUnixEpochUs;
      return times.utc_us[i] < kWideEpochUs
                 ? Decimal::FromInteger(us, scale)
                 : Decimal::Divide(Decimal::FromInteger(us), Decimal::FromInteger(kSecondUs));
    }
    return Decimal::FromInteger(values[i], scale);
  });
}

// Follows PostgreSQL's order of operations: another order would change the last bit.
double FieldAsDouble(DateField field, PenumbraType type, int64_t value, const DayTimes& times, uint32_t row) {
  switch (field) {
    case DateField::kMilliseconds:
      return static_cast<double>(value / kSecondUs) * 1000.0 + static_cast<double>(value % kSecondUs) / 1000.0;
    case DateField::kSecond:
      return static_cast<double>(value / kSecondUs) + static_cast<double>(value % kSecondUs) / 1000000.0;
    case DateField::kEpoch:
      if (type == PENUMBRA_DATE) return static_cast<double>(value);
      if (times.utc_us[row] < kWideEpochUs) {
        return static_cast<double>(value) / 1000000.0;
      }
      return (static_cast<double>(times.utc_us[row]) - static_cast<double>(kUnixEpochUs)) / 1000000.0;
    case DateField::kJulian: {
      if (type == PENUMBRA_DATE) return static_cast<double>(value);
      const int64_t time_us = times.time_us[row];
      const double seconds =
          static_cast<double>(time_us / kSecondUs) + static_cast<double>(time_us % kSecondUs) / 1000000.0;
      return static_cast<double>(times.day[row] + kEpochJulianDay) + seconds / 86400.0;
    }
    default: return static_cast<double>(value);
  }
}

Vector EvaluateDatePart(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  const DateField field = FieldOf(expr);
  const Vector v = args[1].form == VectorForm::kDictionary ? Flatten(args[1], rows, arena) : args[1];
  const bool is_date = v.type == PENUMBRA_DATE;
  const DayTimes times = is_date ? SplitDates(v, rows, context) : SplitTimestamps(v, rows, context);
  int64_t* values = arena.AllocateArray<int64_t>(rows);
  if (field == DateField::kJulian && !is_date) {
    std::fill_n(values, rows, 0);
  } else {
    ComputeField(field, v.type, times, rows, values);
  }
  double* out = arena.AllocateArray<double>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = FieldAsDouble(field, v.type, values[i], times, i);
  const uint64_t* validity = v.validity;
  if (times.has_infinite && !IsMonotonic(field)) validity = WithoutInfinite(validity, times, rows, arena);
  if (times.has_infinite && IsMonotonic(field)) {
    for (uint32_t i = 0; i < rows; ++i) {
      if (IsBitSet(times.infinite, i)) out[i] = IsNegativeInfinity(v, i) ? -HUGE_VAL : HUGE_VAL;
    }
  }
  return FlatVector(PENUMBRA_FLOAT8, out, validity);
}

Vector EvaluateTimeOfDay(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector v = args[0].form == VectorForm::kDictionary ? Flatten(args[0], rows, context.arena) : args[0];
  const DayTimes times = SplitTimestamps(v, rows, context);
  const uint64_t* validity = v.validity;
  if (times.has_infinite) validity = WithoutInfinite(validity, times, rows, context.arena);
  return FlatVector(PENUMBRA_INT8, times.time_us, validity);
}

// ---- intervals

constexpr int64_t kMonthsPerYear = 12;

int64_t IntervalField(DateField field, const PenumbraInterval& interval) {
  const int32_t years = interval.month / 12, months = interval.month % 12;
  switch (field) {
    case DateField::kMicroseconds:
    case DateField::kMilliseconds:
    case DateField::kSecond: return interval.time_us % kMinuteUs;
    case DateField::kMinute: return interval.time_us % kHourUs / kMinuteUs;
    case DateField::kHour: return interval.time_us / kHourUs;
    case DateField::kDay: return interval.day;
    case DateField::kMonth: return months;
    case DateField::kQuarter:
      // Versions differ for negative months.
      if (interval.month < 0) throw EngineError(PENUMBRA_UNSUPPORTED, "quarter of a negative interval");
      return months / 3 + 1;
    case DateField::kYear: return years;
    case DateField::kDecade: return years / 10;
    case DateField::kCentury: return years / 100;
    default: return years / 1000;  // kMillennium
  }
}

// Years count 365.25 days, months 30; at most about 2^56.
int64_t SecondsOfMonthsAndDays(const PenumbraInterval& interval) {
  const int64_t years = interval.month / kMonthsPerYear, months = interval.month % kMonthsPerYear;
  return (1461 * years + 120 * months + 4 * int64_t{interval.day}) * (86400 / 4);
}

int128 IntervalEpochUs(const PenumbraInterval& interval) {
  return int128{SecondsOfMonthsAndDays(interval)} * kSecondUs + interval.time_us;
}

Vector EvaluateIntervalExtract(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const DateField field = FieldOf(expr);
  const View<PenumbraInterval> intervals = ViewOf<PenumbraInterval>(args[1], rows, context.arena);
  const uint64_t* validity = args[1].validity;
  int64_t* values = context.arena.AllocateArray<int64_t>(rows);
  std::fill_n(values, rows, 0);
  bool is_wide = false;
  ForEachValid(validity, rows, [&](uint32_t i) {
    CheckFinite(intervals[i]);
    if (field != DateField::kEpoch) {
      values[i] = IntervalField(field, intervals[i]);
      return;
    }
    const int128 us = IntervalEpochUs(intervals[i]);
    values[i] = static_cast<int64_t>(us);
    is_wide |= us != values[i];
  });
  if (!is_wide) return NumericVector(values, ScaleOf(field, PENUMBRA_INTERVAL), validity, rows);
  return PayloadVector(validity, rows, context.arena,
                       [&](uint32_t i) { return Decimal::FromInteger(IntervalEpochUs(intervals[i]), 6); });
}

double IntervalPart(DateField field, const PenumbraInterval& interval) {
  if (field == DateField::kEpoch) {
    double seconds = static_cast<double>(interval.time_us) / 1000000.0;
    seconds += (365.25 * 86400.0) * static_cast<double>(interval.month / kMonthsPerYear);
    seconds += (30.0 * 86400.0) * static_cast<double>(interval.month % kMonthsPerYear);
    return seconds + 86400.0 * interval.day;
  }
  return FieldAsDouble(field, PENUMBRA_INTERVAL, IntervalField(field, interval), DayTimes{}, 0);
}

Vector EvaluateIntervalPart(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const DateField field = FieldOf(expr);
  const View<PenumbraInterval> intervals = ViewOf<PenumbraInterval>(args[1], rows, context.arena);
  double* out = context.arena.AllocateArray<double>(rows);
  std::fill_n(out, rows, 0.0);
  ForEachValid(args[1].validity, rows, [&](uint32_t i) {
    CheckFinite(intervals[i]);
    out[i] = IntervalPart(field, intervals[i]);
  });
  return FlatVector(PENUMBRA_FLOAT8, out, args[1].validity);
}

bool IsFieldOf(DateField field, PenumbraType type) {
  switch (type) {
    case PENUMBRA_DATE: return !IsTimeField(field) && field < DateField::kTimezone;
    case PENUMBRA_INT8: return IsTimeField(field) || field == DateField::kEpoch;
    case PENUMBRA_TIMESTAMP: return field < DateField::kTimezone;
    case PENUMBRA_TIMESTAMPTZ: return true;
    case PENUMBRA_INTERVAL:
      return field == DateField::kEpoch || (field <= DateField::kMillennium && field != DateField::kWeek);
    default: return false;
  }
}

}  // namespace

// The field has to be a constant, since it decides the result's scale. Fields of timestamptz need a time zone, except
// epoch.
Binding BindDatePart(const CallSite& call) {
  Binding binding;
  const bool is_extract = call.function == PENUMBRA_FN_EXTRACT;
  if (call.args.size() != 2 || call.args[0]->type != PENUMBRA_TEXT) return binding;
  if (call.result != (is_extract ? PENUMBRA_NUMERIC : PENUMBRA_FLOAT8)) return binding;
  const PenumbraType type = call.args[1]->type;
  const Expr& name = *call.args[0];
  PartState state;
  if (name.kind != Expr::Kind::kConstant || name.constant.is_null_constant()) {
    binding.reason = "a date field that is not constant";
    return binding;
  }
  const StringRef& text = *name.constant.values<StringRef>();
  if (!FindDateField(text.view(), &state.field) || !IsFieldOf(state.field, type)) {
    binding.reason = "field " + std::string(text.view()) + " of " + TypeName(type);
    return binding;
  }
  if (type == PENUMBRA_TIMESTAMPTZ && state.field != DateField::kEpoch && !HasTimeZone(call.session)) {
    binding.reason = "time zone not known";
    return binding;
  }
  binding.state = std::make_shared<PartState>(state);
  if (is_extract && state.field != DateField::kEpoch && state.field != DateField::kJulian) {
    const int scale = ScaleOf(state.field, type);
    binding.numeric = {.scale_least = scale, .scale_greatest = scale, .finite_digits = kFieldDigits};
  }
  binding.can_fail = type == PENUMBRA_TIMESTAMPTZ || type == PENUMBRA_INTERVAL;
  binding.can_be_unsupported =
      type == PENUMBRA_INTERVAL || (type == PENUMBRA_TIMESTAMPTZ && TimeZoneEnds(call.session));
  if (type == PENUMBRA_INTERVAL) {
    binding.evaluate = is_extract ? EvaluateIntervalExtract : EvaluateIntervalPart;
  } else {
    binding.evaluate = is_extract ? EvaluateExtract : EvaluateDatePart;
  }
  return binding;
}

Binding BindTimeOfDay(const CallSite& call) {
  Binding binding;
  if (call.args.size() != 1 || call.result != PENUMBRA_INT8) return binding;
  const PenumbraType type = call.args[0]->type;
  if (type == PENUMBRA_TIMESTAMPTZ && !HasTimeZone(call.session)) {
    binding.reason = "time zone not known";
    return binding;
  }
  if (type == PENUMBRA_TIMESTAMP || type == PENUMBRA_TIMESTAMPTZ) binding.evaluate = EvaluateTimeOfDay;
  binding.can_fail = type == PENUMBRA_TIMESTAMPTZ;
  binding.can_be_unsupported = type == PENUMBRA_TIMESTAMPTZ && TimeZoneEnds(call.session);
  return binding;
}

}  // namespace penumbra

// date_trunc.
#include <algorithm>

#include "function/datetime.h"
#include "function/time_zone.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct TruncState {
  DateField field;
  std::shared_ptr<const ZoneTable> zone;  // null: the session's, or a column
};

DateField FieldOf(const Expr& expr) { return static_cast<const TruncState*>(expr.state.get())->field; }

// Units that are a fixed number of microseconds of the local time; 0: another one.
int64_t FixedUnitUs(DateField field) {
  switch (field) {
    case DateField::kMicroseconds: return 1;
    case DateField::kMilliseconds: return 1000;
    case DateField::kSecond: return kSecondUs;
    case DateField::kMinute: return kMinuteUs;
    case DateField::kHour: return kHourUs;
    case DateField::kDay: return kDayUs;
    default: return 0;
  }
}

// The first year of the decade, century or millennium; centuries begin with a year 1.
int64_t FirstYear(DateField field, int64_t year) {
  switch (field) {
    case DateField::kDecade: return year > 0 ? year / 10 * 10 : -((8 - (year - 1)) / 10) * 10;
    case DateField::kCentury: return year > 0 ? (year + 99) / 100 * 100 - 99 : -((99 - (year - 1)) / 100) * 100 + 1;
    case DateField::kMillennium: {
      const int64_t first = year > 0 ? (year + 999) / 1000 * 1000 - 999 : -((999 - (year - 1)) / 1000) * 1000 + 1;
      return FirstYear(DateField::kCentury, first);
    }
    default: return year;
  }
}

int64_t TruncateDay(DateField field, int64_t day) {
  if (field == DateField::kWeek) return day - WeekdayFromMonday(day);
  const CivilDate civil = CivilFromDay(day);
  if (field == DateField::kMonth) return day - civil.day + 1;
  if (field == DateField::kQuarter) return DayFromCivil(civil.year, (civil.month - 1) / 3 * 3 + 1, 1);
  return DayFromCivil(std::max<int64_t>(FirstYear(field, civil.year), -4800), 1, 1);
}

int64_t TruncateLocal(DateField field, int64_t unit_us, int64_t local_us) {
  if (unit_us != 0) return local_us - FloorModulo(local_us, unit_us);
  return TruncateDay(field, DayOfTimestamp(local_us)) * kDayUs;
}

void CheckRange(int64_t us) {
  if (!IsValidTimestamp(us)) throw EngineError(PENUMBRA_TIMESTAMP_OUT_OF_RANGE);
}

Vector EvaluateTruncTimestamp(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const DateField field = FieldOf(expr);
  const int64_t unit_us = FixedUnitUs(field);
  const View<int64_t> in = ViewOf<int64_t>(args[1], rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (args[1].validity != nullptr) std::fill_n(out, rows, 0);
  ForEachValid(args[1].validity, rows, [&](uint32_t i) {
    out[i] = in[i];
    if (IsInfiniteTimestamp(in[i])) return;
    out[i] = TruncateLocal(field, unit_us, in[i]);
    CheckRange(out[i]);
  });
  return FlatVector(expr.type, out, args[1].validity);
}

// Units below a day keep the row's offset, so that both hours of a repeated one stay apart.
Vector EvaluateTruncTimestamptz(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const auto& state = *static_cast<const TruncState*>(expr.state.get());
  const int64_t unit_us = FixedUnitUs(state.field);
  const bool keeps_offset = unit_us != 0 && unit_us < kDayUs;
  const View<int64_t> in = ViewOf<int64_t>(args[1], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (validity != nullptr) std::fill_n(out, rows, 0);
  const ZoneTable* known = expr.args.size() == 2 ? &context.session.zone : state.zone.get();
  ZoneArgument zones(known, args[expr.args.size() - 1], rows, context.arena);
  ForEachValid(validity, rows, [&](uint32_t i) {
    out[i] = in[i];
    if (IsInfiniteTimestamp(in[i])) return;
    TimeZone& zone = zones.Of(i);
    const int64_t offset_us = zone.OffsetUs(in[i]);
    const int64_t local_us = TruncateLocal(state.field, unit_us, in[i] + offset_us);
    out[i] = keeps_offset ? local_us - offset_us : zone.ToUtc(local_us);
    CheckRange(out[i]);
  });
  return FlatVector(expr.type, out, validity);
}

// Intervals are cut towards zero.
PenumbraInterval TruncateInterval(DateField field, PenumbraInterval interval) {
  const int64_t unit_us = FixedUnitUs(field);
  if (unit_us != 0 && unit_us < kDayUs) {
    interval.time_us -= interval.time_us % unit_us;
    return interval;
  }
  interval.time_us = 0;
  if (field == DateField::kDay) return interval;
  interval.day = 0;
  int32_t unit_months = 1;
  switch (field) {
    case DateField::kQuarter: unit_months = 3; break;
    case DateField::kYear: unit_months = 12; break;
    case DateField::kDecade: unit_months = 120; break;
    case DateField::kCentury: unit_months = 1200; break;
    case DateField::kMillennium: unit_months = 12000; break;
    default: break;
  }
  interval.month -= interval.month % unit_months;
  return interval;
}

Vector EvaluateTruncInterval(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const DateField field = FieldOf(expr);
  const View<PenumbraInterval> in = ViewOf<PenumbraInterval>(args[1], rows, context.arena);
  PenumbraInterval* out = context.arena.AllocateArray<PenumbraInterval>(rows);
  std::fill_n(out, rows, PenumbraInterval{});
  ForEachValid(args[1].validity, rows, [&](uint32_t i) {
    CheckFinite(in[i]);
    out[i] = TruncateInterval(field, in[i]);
  });
  return FlatVector(expr.type, out, args[1].validity);
}

}  // namespace

// The field has to be a constant. Intervals cut to weeks are refused: PostgreSQL raises its error.
Binding BindDateTrunc(const CallSite& call) {
  Binding binding;
  const bool has_zone = call.args.size() == 3 && call.args[2]->type == PENUMBRA_TEXT;
  if ((call.args.size() != 2 && !has_zone) || call.args[0]->type != PENUMBRA_TEXT ||
      call.args[1]->type != call.result || (has_zone && call.result != PENUMBRA_TIMESTAMPTZ)) {
    return binding;
  }
  const PenumbraType type = call.result;
  const Expr& name = *call.args[0];
  if (name.kind != Expr::Kind::kConstant || name.constant.is_null_constant()) {
    binding.reason = "a date field that is not constant";
    return binding;
  }
  const StringRef& text = *name.constant.values<StringRef>();
  auto state = std::make_shared<TruncState>();
  if (!FindDateField(text.view(), &state->field) || state->field > DateField::kMillennium ||
      (type == PENUMBRA_INTERVAL && state->field == DateField::kWeek)) {
    binding.reason = "date_trunc to " + std::string(text.view()) + " of " + TypeName(type);
    return binding;
  }
  binding.can_fail = true;
  binding.can_be_unsupported =
      type == PENUMBRA_INTERVAL || (type == PENUMBRA_TIMESTAMPTZ && TimeZoneEnds(call.session));
  if (has_zone) {
    BindZone(*call.args[2], &binding);
    state->zone = std::static_pointer_cast<const ZoneTable>(binding.state);
  }
  binding.state = std::move(state);
  switch (type) {
    case PENUMBRA_TIMESTAMP: binding.evaluate = EvaluateTruncTimestamp; break;
    case PENUMBRA_INTERVAL: binding.evaluate = EvaluateTruncInterval; break;
    case PENUMBRA_TIMESTAMPTZ:
      if (has_zone || HasTimeZone(call.session)) {
        binding.evaluate = EvaluateTruncTimestamptz;
      } else {
        binding.reason = "time zone not known";
      }
      break;
    default: break;
  }
  return binding;
}

}  // namespace penumbra

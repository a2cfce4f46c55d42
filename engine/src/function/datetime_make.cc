// date_bin, make_date, make_timestamp[tz], make_interval, and intervals of some fields and digits.
#include <algorithm>
#include <cmath>

#include "function/datetime.h"
#include "function/time_zone.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct BinState {
  int64_t stride_us;
};

// The begin of the instant's bin. Bins before the origin whose begin is the instant itself differ between minor
// versions of PostgreSQL, and so do errors beyond the timestamps.
int64_t Bin(int64_t stride_us, int64_t us, int64_t origin_us) {
  if (IsInfiniteTimestamp(us)) return us;
  if (IsInfiniteTimestamp(origin_us)) throw EngineError(PENUMBRA_UNSUPPORTED, "origin of date_bin() is infinite");
  int64_t distance_us;
  if (__builtin_sub_overflow(us, origin_us, &distance_us)) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "date_bin() far from its origin");
  }
  const int64_t in_bin_us = FloorModulo(distance_us, stride_us);
  const bool is_disputed = distance_us < 0 && in_bin_us == 0;
  if (is_disputed || us < kMinTimestamp + in_bin_us) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "date_bin() before its origin");
  }
  return us - in_bin_us;
}

Vector EvaluateDateBin(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const int64_t stride_us = static_cast<const BinState*>(expr.state.get())->stride_us;
  const View<int64_t> in = ViewOf<int64_t>(args[1], rows, context.arena);
  const View<int64_t> origins = ViewOf<int64_t>(args[2], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (validity != nullptr) std::fill_n(out, rows, 0);
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = Bin(stride_us, in[i], origins[i]); });
  return FlatVector(expr.type, out, validity);
}

int32_t MakeDate(int32_t year, int32_t month, int32_t day) {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month)) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "make_date() of another calendar");
  }
  const int64_t made = DayFromCivil(year, month, day);
  if (!IsValidDay(made)) throw EngineError(PENUMBRA_UNSUPPORTED, "date out of range");
  return static_cast<int32_t>(made);
}

Vector EvaluateMakeDate(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<int32_t> years = ViewOf<int32_t>(args[0], rows, context.arena);
  const View<int32_t> months = ViewOf<int32_t>(args[1], rows, context.arena);
  const View<int32_t> days = ViewOf<int32_t>(args[2], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  if (validity != nullptr) std::fill_n(out, rows, 0);
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = MakeDate(years[i], months[i], days[i]); });
  return FlatVector(expr.type, out, validity);
}

// The integers of a row, and the seconds behind them. All arguments are strict.
template <int kIntegers>
class MakeArguments {
 public:
  MakeArguments(const Vector* args, uint32_t rows, Arena& arena)
      : seconds_(ViewOf<double>(args[kIntegers], rows, arena)) {
    for (int i = 0; i < kIntegers; ++i) integers_.push_back(ViewOf<int32_t>(args[i], rows, arena));
  }
  int64_t Integer(int i, uint32_t row) const { return integers_[static_cast<size_t>(i)][row]; }
  // Rounded to microseconds; what is too large for them is PostgreSQL's.
  int64_t Microseconds(uint32_t row) const {
    const double us = std::rint(seconds_[row] * static_cast<double>(kSecondUs));
    if (!(std::fabs(us) < 9e18)) throw EngineError(PENUMBRA_UNSUPPORTED, "seconds out of range");
    return static_cast<int64_t>(us);
  }

 private:
  std::vector<View<int32_t>> integers_;
  View<double> seconds_;
};

bool TakesIntegersAndSeconds(const CallSite& call, size_t integers) {
  return call.args.size() == integers + 1 && call.args[integers]->type == PENUMBRA_FLOAT8 &&
         std::all_of(call.args.begin(), call.args.end() - 1,
                     [](const Expr* arg) { return arg->type == PENUMBRA_INT4; });
}

// Without the second 60 and the hour 24, which PostgreSQL has its rules for.
int64_t MakeLocal(const MakeArguments<5>& args, uint32_t row) {
  const int64_t hour = args.Integer(3, row), minute = args.Integer(4, row), second_us = args.Microseconds(row);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second_us < 0 || second_us >= kMinuteUs) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "time field value out of range");
  }
  const int64_t day = MakeDate(static_cast<int32_t>(args.Integer(0, row)), static_cast<int32_t>(args.Integer(1, row)),
                               static_cast<int32_t>(args.Integer(2, row)));
  if (day >= kTimestampEndDay) throw EngineError(PENUMBRA_UNSUPPORTED, "timestamp out of range");
  return day * kDayUs + hour * kHourUs + minute * kMinuteUs + second_us;
}

template <bool kIsZoned>
Vector EvaluateMakeTimestamp(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const MakeArguments<5> in(args, rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (validity != nullptr) std::fill_n(out, rows, 0);
  TimeZone zone(context.session);
  ForEachValid(validity, rows, [&](uint32_t i) {
    out[i] = kIsZoned ? zone.ToUtc(MakeLocal(in, i)) : MakeLocal(in, i);
    if (!IsValidTimestamp(out[i])) throw EngineError(PENUMBRA_UNSUPPORTED, "timestamp out of range");
  });
  return FlatVector(expr.type, out, validity);
}

// PostgreSQL's versions wrap around what is too large, or raise an error.
PenumbraInterval MakeInterval(const MakeArguments<6>& args, uint32_t row) {
  PenumbraInterval made;
  const int64_t clock_us = args.Integer(4, row) * kHourUs + args.Integer(5, row) * kMinuteUs;
  if (__builtin_add_overflow(args.Integer(0, row) * 12, args.Integer(1, row), &made.month) ||
      __builtin_add_overflow(args.Integer(2, row) * 7, args.Integer(3, row), &made.day) ||
      __builtin_add_overflow(clock_us, args.Microseconds(row), &made.time_us)) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "interval out of range");
  }
  CheckFinite(made);
  return made;
}

Vector EvaluateMakeInterval(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const MakeArguments<6> in(args, rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  PenumbraInterval* out = context.arena.AllocateArray<PenumbraInterval>(rows);
  if (validity != nullptr) std::fill_n(out, rows, PenumbraInterval{});
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = MakeInterval(in, i); });
  return FlatVector(expr.type, out, validity);
}

// A typmod of interval: the fields, by their bits, and the digits of a second.
struct IntervalTypmod {
  int64_t unit_us = 1;   // the time is cut to it; 0: to nothing
  int64_t digit_us = 1;  // then rounded to it, half away from zero
  bool keeps_days = true;
  int32_t unit_months = 1;
};

constexpr int32_t kMonthBit = 1 << 1, kYearBit = 1 << 2, kDayBit = 1 << 3, kHourBit = 1 << 10, kMinuteBit = 1 << 11,
                  kSecondBit = 1 << 12, kAllFields = 0x7fff, kAllDigits = 0xffff, kMostDigits = 6;

std::shared_ptr<const IntervalTypmod> ReadIntervalTypmod(int32_t typmod) {
  auto read = std::make_shared<IntervalTypmod>();
  const int32_t fields = (typmod >> 16) & kAllFields, digits = typmod & kAllDigits;
  if (typmod < 0) return read;
  if (fields != kAllFields && (fields & kSecondBit) == 0) {
    read->unit_us = fields & kMinuteBit ? kMinuteUs : fields & kHourBit ? kHourUs : 0;
    read->keeps_days = (fields & (kDayBit | kHourBit | kMinuteBit)) != 0;
    read->unit_months = fields == kYearBit ? 12 : 1;
  }
  if (digits == kAllDigits) return read;
  if (digits > kMostDigits) return nullptr;
  for (int32_t i = digits; i < kMostDigits; ++i) read->digit_us *= 10;
  return read;
}

PenumbraInterval ApplyTypmod(const IntervalTypmod& typmod, PenumbraInterval interval) {
  CheckFinite(interval);
  interval.month -= interval.month % typmod.unit_months;
  if (!typmod.keeps_days) interval.day = 0;
  interval.time_us = typmod.unit_us == 0 ? 0 : interval.time_us - interval.time_us % typmod.unit_us;
  if (typmod.digit_us > 1) {
    const int64_t half_us = interval.time_us < 0 ? -typmod.digit_us / 2 : typmod.digit_us / 2;
    if (__builtin_add_overflow(interval.time_us, half_us, &interval.time_us)) {
      throw EngineError(PENUMBRA_UNSUPPORTED, "interval out of range");
    }
    interval.time_us -= interval.time_us % typmod.digit_us;
  }
  return interval;
}

Vector EvaluateIntervalTypmod(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const auto& typmod = *static_cast<const IntervalTypmod*>(expr.state.get());
  const View<PenumbraInterval> in = ViewOf<PenumbraInterval>(args[0], rows, context.arena);
  PenumbraInterval* out = context.arena.AllocateArray<PenumbraInterval>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, PenumbraInterval{});
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = ApplyTypmod(typmod, in[i]); });
  return FlatVector(expr.type, out, args[0].validity);
}

// Errors of the stride are PostgreSQL's: then there are no bins.
std::shared_ptr<const BinState> BinsOf(const PenumbraInterval& stride) {
  constexpr int32_t kMaxDays = 100000000;
  const bool is_plain = stride.month == 0 && stride.day >= 0 && stride.day < kMaxDays && stride.time_us >= 0 &&
                        stride.time_us < kMaxDays * kDayUs / 100;
  const int64_t stride_us = is_plain ? stride.day * kDayUs + stride.time_us : 0;
  return stride_us <= 0 ? nullptr : std::make_shared<const BinState>(BinState{stride_us});
}

}  // namespace

Binding BindDateBin(const CallSite& call) {
  Binding binding;
  const bool takes_instants = call.args.size() == 3 && call.args[0]->type == PENUMBRA_INTERVAL &&
                              (call.result == PENUMBRA_TIMESTAMP || call.result == PENUMBRA_TIMESTAMPTZ) &&
                              call.args[1]->type == call.result && call.args[2]->type == call.result;
  if (!takes_instants) return binding;
  const auto* stride = KnownValue<PenumbraInterval>(*call.args[0]);
  if (stride != nullptr) binding.state = BinsOf(*stride);
  if (binding.state == nullptr) {
    binding.reason = "bins of date_bin() that are not known";
    return binding;
  }
  binding.evaluate = EvaluateDateBin;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

Binding BindMakeDate(const CallSite& call) {
  Binding binding;
  const bool takes_integers =
      call.args.size() == 3 &&
      std::all_of(call.args.begin(), call.args.end(), [](const Expr* arg) { return arg->type == PENUMBRA_INT4; });
  if (!takes_integers || call.result != PENUMBRA_DATE) return binding;
  binding.evaluate = EvaluateMakeDate;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

Binding BindMakeTimestamp(const CallSite& call) {
  Binding binding;
  const bool is_zoned = call.result == PENUMBRA_TIMESTAMPTZ;
  if (!TakesIntegersAndSeconds(call, 5) || (!is_zoned && call.result != PENUMBRA_TIMESTAMP)) return binding;
  if (is_zoned && !HasTimeZone(call.session)) {
    binding.reason = "time zone not known";
    return binding;
  }
  binding.evaluate = is_zoned ? EvaluateMakeTimestamp<true> : EvaluateMakeTimestamp<false>;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

Binding BindMakeInterval(const CallSite& call) {
  Binding binding;
  if (!TakesIntegersAndSeconds(call, 6) || call.result != PENUMBRA_INTERVAL) return binding;
  binding.evaluate = EvaluateMakeInterval;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

Binding BindIntervalTypmod(const CallSite& call) {
  Binding binding;
  if (call.args.size() != 2 || call.args[0]->type != PENUMBRA_INTERVAL || call.args[1]->type != PENUMBRA_INT4 ||
      call.result != PENUMBRA_INTERVAL) {
    return binding;
  }
  const auto* typmod = KnownValue<int32_t>(*call.args[1]);
  if (typmod != nullptr) binding.state = ReadIntervalTypmod(*typmod);
  if (binding.state == nullptr) {
    binding.reason = "fields of an interval that are not constant";
    return binding;
  }
  binding.evaluated_args = 1;
  binding.evaluate = EvaluateIntervalTypmod;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

}  // namespace penumbra

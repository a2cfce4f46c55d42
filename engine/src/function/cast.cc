// Casts that neither come from text nor from or to NUMERIC.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "function/calendar.h"
#include "function/cast_from_text.h"
#include "function/datetime.h"
#include "function/registry.h"
#include "function/time_zone.h"
#include "vector/error.h"
#include "vector/utf8.h"
#include "vector/value_order.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

template <typename T>
constexpr PenumbraCode kOutOfRange = sizeof(T) == 2   ? PENUMBRA_INT2_OUT_OF_RANGE
                                     : sizeof(T) == 4 ? PENUMBRA_INT4_OUT_OF_RANGE
                                                      : PENUMBRA_INT8_OUT_OF_RANGE;

// Casts without failure, value by value.
template <typename From, typename To>
Vector CastPlain(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<From> in = ViewOf<From>(args[0], rows, context.arena);
  To* out = context.arena.AllocateArray<To>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<To>(in[i]);
  return FlatVector(expr.type, out, args[0].validity);
}

Vector CastToBool(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<int32_t> in = ViewOf<int32_t>(args[0], rows, context.arena);
  uint8_t* out = context.arena.AllocateArray<uint8_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = in[i] != 0;
  return FlatVector(expr.type, out, args[0].validity);
}

// Narrower integers: all rows are cut, and looked at again if some did not fit.
template <typename From, typename To>
Vector CastNarrow(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<From> in = ViewOf<From>(args[0], rows, context.arena);
  To* out = context.arena.AllocateArray<To>(rows);
  bool is_bad = false;
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = static_cast<To>(in[i]);
    is_bad |= out[i] != in[i];
  }
  if (is_bad) {
    ForEachValid(args[0].validity, rows, [&](uint32_t i) {
      if (out[i] != in[i]) throw EngineError(kOutOfRange<To>);
    });
  }
  return FlatVector(expr.type, out, args[0].validity);
}

// Floats to integers round half to even.
template <typename From, typename To>
Vector CastFloatToInteger(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  const View<From> in = ViewOf<From>(args[0], rows, context.arena);
  To* out = context.arena.AllocateArray<To>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, To{0});
  ForEachValid(args[0].validity, rows, [&](uint32_t i) {
    const From rounded = std::rint(in[i]);
    if (!(rounded >= kLow && rounded < -kLow)) throw EngineError(kOutOfRange<To>);
    out[i] = static_cast<To>(rounded);
  });
  return FlatVector(expr.type, out, args[0].validity);
}

Vector CastToFloat4(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<double> in = ViewOf<double>(args[0], rows, context.arena);
  float* out = context.arena.AllocateArray<float>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, 0.0f);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) {
    out[i] = static_cast<float>(in[i]);
    if (std::isinf(out[i]) && !std::isinf(in[i])) throw EngineError(PENUMBRA_FLOAT_OVERFLOW);
    if (out[i] == 0 && in[i] != 0) throw EngineError(PENUMBRA_FLOAT_UNDERFLOW);
  });
  return FlatVector(expr.type, out, args[0].validity);
}

// The same bytes under another type.
Vector CastSame(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  if (args[0].type == expr.type) return args[0];
  Vector result = args[0].form == VectorForm::kDictionary ? Flatten(args[0], rows, context.arena) : args[0];
  result.type = expr.type;
  return result;
}

Vector CastBpcharToText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> in = ViewOf<StringRef>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    const char* bytes = in[i].data();
    out[i] = StringRef(bytes, TrimmedLength(bytes, in[i].length));
  }
  return FlatVector(expr.type, out, args[0].validity);
}

Vector CastBoolToText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<uint8_t> in = ViewOf<uint8_t>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  const StringRef values[2] = {StringRef("false", 5), StringRef("true", 4)};
  for (uint32_t i = 0; i < rows; ++i) out[i] = values[in[i] & 1];
  return FlatVector(expr.type, out, args[0].validity);
}

template <typename T>
Vector CastIntegerToText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  constexpr uint32_t kMaxBytes = 20;
  const View<T> in = ViewOf<T>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  char* bytes = context.arena.AllocateArray<char>(size_t{rows} * kMaxBytes);
  for (uint32_t i = 0; i < rows; ++i) {
    const char* end = std::to_chars(bytes, bytes + kMaxBytes, in[i]).ptr;
    const uint32_t length = static_cast<uint32_t>(end - bytes);
    out[i] = StringRef(bytes, length);
    bytes += length;
  }
  return FlatVector(expr.type, out, args[0].validity);
}

struct Uuid {
  uint8_t bytes[16];
};

Vector CastUuidToText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  constexpr uint32_t kTextBytes = 36;
  static const char kDigits[] = "0123456789abcdef";
  const View<Uuid> in = ViewOf<Uuid>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  char* bytes = context.arena.AllocateArray<char>(size_t{rows} * kTextBytes);
  for (uint32_t i = 0; i < rows; ++i) {
    char* position = bytes;
    for (int k = 0; k < 16; ++k) {
      if (k == 4 || k == 6 || k == 8 || k == 10) *position++ = '-';
      *position++ = kDigits[in[i].bytes[k] >> 4];
      *position++ = kDigits[in[i].bytes[k] & 15];
    }
    out[i] = StringRef(bytes, kTextBytes);
    bytes += kTextBytes;
  }
  return FlatVector(expr.type, out, args[0].validity);
}

// ---- dates and instants; infinite values keep their sign

int64_t InfiniteTimestamp(int32_t date) {
  return date < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
int32_t InfiniteDate(int64_t timestamp) {
  return timestamp < 0 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
}

int64_t DateToTimestamp(int32_t date, TimeZone&) {
  if (IsInfiniteDate(date)) return InfiniteTimestamp(date);
  if (date >= kTimestampEndDay) {
    throw EngineError(PENUMBRA_DATE_OUT_OF_RANGE, "date out of range for timestamp");
  }
  return int64_t{date} * kDayUs;
}

// Comparisons of two types, such as date_cmp_timestamptz(), see what no timestamp can be between the timestamps and
// infinity.
constexpr int64_t kBeforeTimestamps = std::numeric_limits<int64_t>::min() + 1;
constexpr int64_t kAfterTimestamps = std::numeric_limits<int64_t>::max() - 1;

// Dates begin where timestamps begin, so only the end matters.
int64_t DateComparedAsTimestamp(int32_t date, TimeZone&) {
  if (IsInfiniteDate(date)) return InfiniteTimestamp(date);
  return date >= kTimestampEndDay ? kAfterTimestamps : int64_t{date} * kDayUs;
}

int64_t TimestampComparedAsTimestamptz(int64_t us, TimeZone& zone) {
  if (!IsValidTimestamp(us)) return us;
  const int64_t utc_us = zone.ToUtc(us);
  if (IsValidTimestamp(utc_us)) return utc_us;
  return utc_us < 0 ? kBeforeTimestamps : kAfterTimestamps;
}

int64_t DateComparedAsTimestamptz(int32_t date, TimeZone& zone) {
  return TimestampComparedAsTimestamptz(DateComparedAsTimestamp(date, zone), zone);
}

int64_t CheckedUtc(int64_t utc_us, PenumbraCode code, const char* message) {
  if (!IsValidTimestamp(utc_us)) throw EngineError(code, message);
  return utc_us;
}

int64_t DateToTimestamptz(int32_t date, TimeZone& zone) {
  const int64_t local_us = DateToTimestamp(date, zone);
  if (IsInfiniteTimestamp(local_us)) return local_us;
  return CheckedUtc(zone.ToUtc(local_us), PENUMBRA_DATE_OUT_OF_RANGE, "date out of range for timestamp");
}

int32_t TimestampToDate(int64_t us, TimeZone&) {
  return IsInfiniteTimestamp(us) ? InfiniteDate(us) : static_cast<int32_t>(DayOfTimestamp(us));
}

int32_t TimestamptzToDate(int64_t us, TimeZone& zone) {
  return IsInfiniteTimestamp(us) ? InfiniteDate(us) : static_cast<int32_t>(DayOfTimestamp(zone.ToLocal(us)));
}

int64_t TimestamptzToTimestamp(int64_t us, TimeZone& zone) {
  return IsInfiniteTimestamp(us) ? us : CheckedUtc(zone.ToLocal(us), PENUMBRA_TIMESTAMP_OUT_OF_RANGE, "");
}

int64_t TimestampToTimestamptz(int64_t us, TimeZone& zone) {
  return IsInfiniteTimestamp(us) ? us : CheckedUtc(zone.ToUtc(us), PENUMBRA_TIMESTAMP_OUT_OF_RANGE, "");
}

PenumbraInterval TimeOfDayToInterval(int64_t time_us, TimeZone&) { return {time_us, 0, 0}; }

int64_t IntervalToTimeOfDay(PenumbraInterval interval, TimeZone&) {
  CheckFinite(interval);
  return FloorModulo(interval.time_us, kDayUs);
}

template <typename From, typename To, To (*kFunction)(From, TimeZone&)>
Vector CastTime(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<From> in = ViewOf<From>(args[0], rows, context.arena);
  To* out = context.arena.AllocateArray<To>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, To{});
  TimeZone zone(context.session);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { out[i] = kFunction(in[i], zone); });
  return FlatVector(expr.type, out, args[0].validity);
}

// AT TIME ZONE: the same casts, in a zone that is an argument.
template <int64_t (*kFunction)(int64_t, TimeZone&)>
Vector ConvertAtZone(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<int64_t> in = ViewOf<int64_t>(args[0], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (validity != nullptr) std::fill_n(out, rows, int64_t{0});
  ZoneArgument zones(static_cast<const ZoneTable*>(expr.state.get()), args[1], rows, context.arena);
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = kFunction(in[i], zones.Of(i)); });
  return FlatVector(expr.type, out, validity);
}

Binding BindAtZone(const CallSite& call) {
  Binding binding;
  if (call.args.size() != 2 || call.args[1]->type != PENUMBRA_TEXT) return binding;
  if (call.args[0]->type == PENUMBRA_TIMESTAMPTZ && call.result == PENUMBRA_TIMESTAMP) {
    binding.evaluate = ConvertAtZone<TimestamptzToTimestamp>;
  } else if (call.args[0]->type == PENUMBRA_TIMESTAMP && call.result == PENUMBRA_TIMESTAMPTZ) {
    binding.evaluate = ConvertAtZone<TimestampToTimestamptz>;
  }
  BindZone(*call.args[1], &binding);
  return binding;
}

// ---- varchar(n), char(n)

struct TypmodState {
  int64_t max_characters;
  bool is_explicit;
};

// What is cut off must be blank unless the cast is explicit.
void CheckCut(const char* cut, const char* end, bool is_explicit, const char* type, int64_t max_characters) {
  if (is_explicit) return;
  for (; cut < end; ++cut) {
    if (*cut != ' ') {
      throw EngineError(PENUMBRA_STRING_TOO_LONG,
                        "value too long for type " + std::string(type) + "(" + std::to_string(max_characters) + ")");
    }
  }
}

// The length counts characters, and the cut is by bytes. A value that needs neither a cut nor padding is not copied.
template <bool kPads>
Vector EvaluateTypmod(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const TypmodState& state = *static_cast<const TypmodState*>(expr.state.get());
  const bool is_utf8 = context.session.encoding_is_utf8;
  const View<StringRef> in = ViewOf<StringRef>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  if (args[0].validity != nullptr) std::fill_n(out, rows, StringRef());
  ForEachValid(args[0].validity, rows, [&](uint32_t i) {
    const char* bytes = in[i].data();
    const uint32_t length = in[i].length;
    const uint32_t kept = ClipCharacters(bytes, length, state.max_characters, is_utf8);
    if (kept < length) {
      CheckCut(bytes + kept, bytes + length, state.is_explicit, kPads ? "character" : "character varying",
               state.max_characters);
      out[i] = StringRef(bytes, kept);
      return;
    }
    const int64_t missing = kPads ? state.max_characters - CountCharacters(bytes, length, is_utf8) : 0;
    if (missing <= 0) {
      out[i] = in[i];
      return;
    }
    char* padded = context.arena.AllocateArray<char>(length + static_cast<size_t>(missing));
    std::memcpy(padded, bytes, length);
    std::memset(padded + length, ' ', static_cast<size_t>(missing));
    out[i] = StringRef(padded, length + static_cast<uint32_t>(missing));
  });
  return FlatVector(expr.type, out, args[0].validity);
}

// An explicit cast cuts without an error, so it cannot fail.
Binding BindTypmod(const CallSite& call) {
  Binding binding;
  const bool pads = call.function == PENUMBRA_FN_BPCHAR_TYPMOD;
  if (call.args.size() != 3 || call.result != (pads ? PENUMBRA_BPCHAR : PENUMBRA_TEXT)) return binding;
  if (call.args[0]->type != call.result || call.args[1]->type != PENUMBRA_INT4 || call.args[2]->type != PENUMBRA_BOOL) {
    return binding;
  }
  for (int i = 1; i < 3; ++i) {
    if (call.args[i]->kind == Expr::Kind::kConstant && !call.args[i]->constant.is_null_constant()) continue;
    binding.reason = "a character type whose length is not constant";
    return binding;
  }
  auto state = std::make_shared<TypmodState>();
  state->max_characters = *call.args[1]->constant.values<int32_t>();
  state->is_explicit = *call.args[2]->constant.values<uint8_t>() != 0;
  if (state->max_characters < (pads ? 1 : 0)) return binding;
  binding.can_fail = !state->is_explicit;
  binding.state = std::move(state);
  binding.evaluated_args = 1;
  binding.evaluate = pads ? EvaluateTypmod<true> : EvaluateTypmod<false>;
  return binding;
}

// ---- choice

template <typename From>
Binding ChooseFromInteger(PenumbraType to) {
  Binding binding;
  const auto take = [&](EvaluateFunction evaluate, bool can_fail) {
    binding.evaluate = evaluate;
    binding.can_fail = can_fail;
  };
  switch (to) {
    case PENUMBRA_INT2: take(CastNarrow<From, int16_t>, sizeof(From) > 2); break;
    case PENUMBRA_INT4: take(CastNarrow<From, int32_t>, sizeof(From) > 4); break;
    case PENUMBRA_INT8: take(CastPlain<From, int64_t>, false); break;
    case PENUMBRA_FLOAT4: take(CastPlain<From, float>, false); break;
    case PENUMBRA_FLOAT8: take(CastPlain<From, double>, false); break;
    case PENUMBRA_TEXT: take(CastIntegerToText<From>, false); break;
    case PENUMBRA_BOOL:
      if (std::is_same_v<From, int32_t>) take(CastToBool, false);
      break;
    case PENUMBRA_INTERVAL:
      if (std::is_same_v<From, int64_t>) take(CastTime<int64_t, PenumbraInterval, TimeOfDayToInterval>, false);
      break;
    default: break;
  }
  return binding;
}

template <typename From>
Binding ChooseFromFloat(PenumbraType to) {
  Binding binding;
  binding.can_fail = true;
  switch (to) {
    case PENUMBRA_INT2: binding.evaluate = CastFloatToInteger<From, int16_t>; break;
    case PENUMBRA_INT4: binding.evaluate = CastFloatToInteger<From, int32_t>; break;
    case PENUMBRA_INT8: binding.evaluate = CastFloatToInteger<From, int64_t>; break;
    case PENUMBRA_FLOAT4: binding.evaluate = CastToFloat4; break;
    case PENUMBRA_FLOAT8:
      binding.evaluate = CastPlain<From, double>;
      binding.can_fail = false;
      break;
    case PENUMBRA_TEXT: binding.reason = "cast of a floating-point number to text"; break;
    default: break;
  }
  return binding;
}

// A time zone decides between timestamptz and the other types. A row outside of the zone's table is unsupported.
Binding ChooseFromTime(PenumbraType from, PenumbraType to, const Session& session) {
  if (to == PENUMBRA_TEXT) return ChooseTextOfTime(from, session);
  Binding binding;
  binding.can_fail = true;
  const bool needs_zone = (from == PENUMBRA_TIMESTAMPTZ) != (to == PENUMBRA_TIMESTAMPTZ);
  if (needs_zone && !HasTimeZone(session)) {
    binding.reason = "time zone not known";
    return binding;
  }
  binding.can_be_unsupported = needs_zone && TimeZoneEnds(session);
  if (from == PENUMBRA_DATE) {
    if (to == PENUMBRA_TIMESTAMP) binding.evaluate = CastTime<int32_t, int64_t, DateToTimestamp>;
    if (to == PENUMBRA_TIMESTAMPTZ) binding.evaluate = CastTime<int32_t, int64_t, DateToTimestamptz>;
  } else if (from == PENUMBRA_TIMESTAMP) {
    if (to == PENUMBRA_DATE) {
      binding.evaluate = CastTime<int64_t, int32_t, TimestampToDate>;
      binding.can_fail = false;
    }
    if (to == PENUMBRA_TIMESTAMPTZ) binding.evaluate = CastTime<int64_t, int64_t, TimestampToTimestamptz>;
  } else {
    if (to == PENUMBRA_DATE) binding.evaluate = CastTime<int64_t, int32_t, TimestamptzToDate>;
    if (to == PENUMBRA_TIMESTAMP) binding.evaluate = CastTime<int64_t, int64_t, TimestamptzToTimestamp>;
  }
  return binding;
}

Binding ChooseCompared(PenumbraType from, PenumbraType to, const Session& session) {
  Binding binding;
  if (from == PENUMBRA_DATE && to == PENUMBRA_TIMESTAMP) {
    binding.evaluate = CastTime<int32_t, int64_t, DateComparedAsTimestamp>;
  }
  if (to != PENUMBRA_TIMESTAMPTZ) return binding;
  if (!HasTimeZone(session)) {
    binding.reason = "time zone not known";
    return binding;
  }
  binding.can_fail = binding.can_be_unsupported = TimeZoneEnds(session);
  if (from == PENUMBRA_DATE) binding.evaluate = CastTime<int32_t, int64_t, DateComparedAsTimestamptz>;
  if (from == PENUMBRA_TIMESTAMP) binding.evaluate = CastTime<int64_t, int64_t, TimestampComparedAsTimestamptz>;
  return binding;
}

Binding ChooseCast(PenumbraType from, PenumbraType to, const Session& session) {
  Binding binding;
  if (from == to && from != PENUMBRA_NUMERIC) {
    binding.evaluate = CastSame;
    return binding;
  }
  switch (from) {
    case PENUMBRA_INT2: return ChooseFromInteger<int16_t>(to);
    case PENUMBRA_INT4: return ChooseFromInteger<int32_t>(to);
    case PENUMBRA_INT8: return ChooseFromInteger<int64_t>(to);
    case PENUMBRA_FLOAT4: return ChooseFromFloat<float>(to);
    case PENUMBRA_FLOAT8: return ChooseFromFloat<double>(to);
    case PENUMBRA_DATE:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return ChooseFromTime(from, to, session);
    case PENUMBRA_BOOL:
      if (to == PENUMBRA_INT4) binding.evaluate = CastPlain<uint8_t, int32_t>;
      if (to == PENUMBRA_TEXT) binding.evaluate = CastBoolToText;
      break;
    case PENUMBRA_UUID:
      if (to == PENUMBRA_TEXT) binding.evaluate = CastUuidToText;
      break;
    case PENUMBRA_BPCHAR:
      if (to != PENUMBRA_TEXT) return ChooseCastFromText(from, to);
      binding.evaluate = CastBpcharToText;
      break;
    case PENUMBRA_TEXT:
      if (to != PENUMBRA_BPCHAR) return ChooseCastFromText(from, to);
      binding.evaluate = CastSame;
      break;
    case PENUMBRA_INTERVAL:
      if (to == PENUMBRA_TEXT) return ChooseTextOfTime(from, session);
      if (to == PENUMBRA_INT8) {
        binding.evaluate = CastTime<PenumbraInterval, int64_t, IntervalToTimeOfDay>;
        binding.can_fail = binding.can_be_unsupported = true;
      }
      break;
    default: break;
  }
  return binding;
}

}  // namespace

Binding BindCast(const CallSite& call) {
  switch (call.function) {
    case PENUMBRA_FN_CAST:
      if (call.args.size() != 1) return {};
      return ChooseCast(call.args[0]->type, call.result, call.session);
    case PENUMBRA_FN_COMPARED_AS:
      if (call.args.size() != 1) return {};
      return ChooseCompared(call.args[0]->type, call.result, call.session);
    case PENUMBRA_FN_AT_ZONE: return BindAtZone(call);
    case PENUMBRA_FN_VARCHAR_TYPMOD:
    case PENUMBRA_FN_BPCHAR_TYPMOD: return BindTypmod(call);
    default: return {};
  }
}

}  // namespace penumbra

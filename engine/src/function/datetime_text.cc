// Dates, instants and intervals as text: as PostgreSQL writes them with the DateStyle ISO and the IntervalStyle
// postgres.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "function/datetime.h"
#include "function/time_zone.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

char* PutText(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* PutTwoDigits(char* to, int64_t number) {
  to[0] = static_cast<char>('0' + number / 10);
  to[1] = static_cast<char>('0' + number % 10);
  return to + 2;
}

char* PutNumber(char* to, int64_t number) { return std::to_chars(to, to + 20, number).ptr; }

// With at least `digits`; not negative.
char* PutPadded(char* to, int64_t number, int digits) {
  for (int64_t bound = 10; digits > 1; --digits, bound *= 10) {
    if (number < bound) *to++ = '0';
  }
  return PutNumber(to, number);
}

// Behind a point, without zeros at the end.
char* PutFraction(char* to, int64_t us) {
  if (us == 0) return to;
  *to++ = '.';
  for (int64_t unit = kSecondUs / 10; us != 0; unit /= 10) {
    *to++ = static_cast<char>('0' + us / unit);
    us %= unit;
  }
  return to;
}

char* PutDay(char* to, const CivilDate& civil) {
  const int32_t year = civil.year > 0 ? civil.year : 1 - civil.year;
  if (year < 10000) {
    to = PutTwoDigits(to, year / 100);
    to = PutTwoDigits(to, year % 100);
  } else {
    to = PutNumber(to, year);
  }
  *to++ = '-';
  to = PutTwoDigits(to, civil.month);
  *to++ = '-';
  return PutTwoDigits(to, civil.day);
}

char* PutEra(char* to, const CivilDate& civil) { return civil.year > 0 ? to : PutText(to, " BC"); }

char* PutInfinity(char* to, bool is_negative) { return PutText(to, is_negative ? "-infinity" : "infinity"); }

char* PutTimeOfDay(char* to, int64_t time_us) {
  to = PutTwoDigits(to, time_us / kHourUs);
  *to++ = ':';
  to = PutTwoDigits(to, time_us / kMinuteUs % 60);
  *to++ = ':';
  to = PutTwoDigits(to, time_us / kSecondUs % 60);
  return PutFraction(to, time_us % kSecondUs);
}

char* PutOffset(char* to, int64_t offset_us) {
  const int64_t seconds = (offset_us < 0 ? -offset_us : offset_us) / kSecondUs;
  *to++ = offset_us < 0 ? '-' : '+';
  to = PutPadded(to, seconds / 3600, 2);
  if (seconds % 3600 == 0) return to;
  *to++ = ':';
  to = PutTwoDigits(to, seconds / 60 % 60);
  if (seconds % 60 == 0) return to;
  *to++ = ':';
  return PutTwoDigits(to, seconds % 60);
}

struct DateText {
  using Value = int32_t;
  static constexpr size_t kMaxBytes = 24;
  explicit DateText(const Session&) {}
  char* Put(char* to, int32_t day) {
    if (IsInfiniteDate(day)) return PutInfinity(to, day < 0);
    const CivilDate civil = CivilFromDay(day);
    return PutEra(PutDay(to, civil), civil);
  }
};

template <bool kIsZoned>
struct InstantText {
  using Value = int64_t;
  static constexpr size_t kMaxBytes = 48;
  explicit InstantText(const Session& session) : zone(session) {}
  char* Put(char* to, int64_t us) {
    if (IsInfiniteTimestamp(us)) return PutInfinity(to, us < 0);
    const int64_t offset_us = kIsZoned ? zone.OffsetUs(us) : 0;
    const int64_t day = DayOfTimestamp(us + offset_us);
    const CivilDate civil = CivilFromDay(day);
    to = PutDay(to, civil);
    *to++ = ' ';
    to = PutTimeOfDay(to, us + offset_us - day * kDayUs);
    if (kIsZoned) to = PutOffset(to, offset_us);
    return PutEra(to, civil);
  }
  TimeZone zone;
};

// Each part has its sign; a plus says that a part is positive after a negative one.
struct IntervalText {
  using Value = PenumbraInterval;
  static constexpr size_t kMaxBytes = 96;
  explicit IntervalText(const Session&) {}
  char* Put(char* to, const PenumbraInterval& interval) {
    CheckFinite(interval);
    const char* begin = to;
    bool is_after_negative = false;
    const auto put_part = [&](int32_t value, std::string_view unit) {
      if (value == 0) return;
      if (to != begin) *to++ = ' ';
      if (is_after_negative && value > 0) *to++ = '+';
      to = PutNumber(to, value);
      *to++ = ' ';
      to = PutText(to, unit);
      if (value != 1) *to++ = 's';
      is_after_negative = value < 0;
    };
    put_part(interval.month / 12, "year");
    put_part(interval.month % 12, "mon");
    put_part(interval.day, "day");
    if (to != begin && interval.time_us == 0) return to;
    if (to != begin) *to++ = ' ';
    if (interval.time_us < 0) {
      *to++ = '-';
    } else if (is_after_negative) {
      *to++ = '+';
    }
    // the least number of microseconds has no positive one
    const int64_t hours = interval.time_us / kHourUs;
    int64_t rest_us = interval.time_us % kHourUs;
    if (rest_us < 0) rest_us = -rest_us;
    to = PutPadded(to, hours < 0 ? -hours : hours, 2);
    *to++ = ':';
    to = PutTwoDigits(to, rest_us / kMinuteUs);
    *to++ = ':';
    to = PutTwoDigits(to, rest_us / kSecondUs % 60);
    return PutFraction(to, rest_us % kSecondUs);
  }
};

template <typename Writer>
Vector WriteText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<typename Writer::Value> in = ViewOf<typename Writer::Value>(args[0], rows, context.arena);
  StringRef* out = context.arena.AllocateArray<StringRef>(rows);
  char* bytes = context.arena.AllocateArray<char>(rows * Writer::kMaxBytes);
  if (args[0].validity != nullptr) std::fill_n(out, rows, StringRef());
  Writer writer(context.session);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) {
    char* end = writer.Put(bytes, in[i]);
    out[i] = StringRef(bytes, static_cast<uint32_t>(end - bytes));
    bytes = end;
  });
  return FlatVector(expr.type, out, args[0].validity);
}

}  // namespace

Binding ChooseTextOfTime(PenumbraType from, const Session& session) {
  Binding binding;
  switch (from) {
    case PENUMBRA_DATE: binding.evaluate = WriteText<DateText>; break;
    case PENUMBRA_TIMESTAMP: binding.evaluate = WriteText<InstantText<false>>; break;
    case PENUMBRA_TIMESTAMPTZ:
      if (!HasTimeZone(session)) {
        binding.reason = "time zone not known";
        return binding;
      }
      binding.evaluate = WriteText<InstantText<true>>;
      binding.can_fail = binding.can_be_unsupported = TimeZoneEnds(session);
      break;
    default:
      binding.evaluate = WriteText<IntervalText>;
      binding.can_fail = binding.can_be_unsupported = true;
      break;
  }
  return binding;
}

}  // namespace penumbra

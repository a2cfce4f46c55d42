// Casts from text: what PostgreSQL's input functions do with the plain form of a type.
#include "function/cast_from_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "function/calendar.h"
#include "function/time_zone.h"
#include "numeric/numeric_rows.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

[[noreturn]] void Refuse() { throw EngineError(PENUMBRA_UNSUPPORTED, "text that is not the plain form of its type"); }

constexpr int kInt64Digits = 18;  // any so many fit

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// ---- numbers: blanks, a sign, digits, and a point and an exponent where the type has them

// What is after a plus, which std::from_chars() does not take.
std::string_view WithoutPlus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// The number that eight bytes are, the first of which is the lowest; false: not all are digits.
bool ReadEightDigits(uint64_t bytes, uint64_t* value) {
  constexpr uint64_t kZeros = 0x3030303030303030, kHigh = 0xf0f0f0f0f0f0f0f0, kSixes = 0x0606060606060606;
  // A digit has 3 in its upper half, also when 6 is added.
  if (((bytes & kHigh) ^ kZeros) != 0 || (((bytes + kSixes) & kHigh) ^ kZeros) != 0) return false;
  bytes -= kZeros;
  bytes = (bytes * 10 + (bytes >> 8)) & 0x00ff00ff00ff00ff;    // numbers of two digits
  bytes = (bytes * 100 + (bytes >> 16)) & 0x0000ffff0000ffff;  // of four
  *value = (bytes * 10000 + (bytes >> 32)) & uint64_t{0xffffffff};
  return true;
}

// The number that so many digits are, at most kInt64Digits; false: not all are digits.
bool ReadDigits(std::string_view digits, uint64_t* value) {
  uint64_t number = 0;
  size_t at = 0;
  for (; at < digits.size() % 8; ++at) {
    if (!IsDigit(digits[at])) return false;
    number = number * 10 + static_cast<uint64_t>(digits[at] - '0');
  }
  for (; at < digits.size(); at += 8) {
    uint64_t bytes, eight;
    std::memcpy(&bytes, digits.data() + at, 8);
    if (!ReadEightDigits(bytes, &eight)) return false;
    number = number * 100000000 + eight;
  }
  *value = number;
  return true;
}

template <typename T>
T ReadInteger(std::string_view text) {
  const std::string_view digits = WithoutPlus(WithoutBlanks(text));
  const bool has_minus = !digits.empty() && digits[0] == '-';
  const size_t digit_count = digits.size() - has_minus;
  if (digit_count - 1 < kInt64Digits) {
    uint64_t magnitude;
    if (!ReadDigits(digits.substr(has_minus), &magnitude)) Refuse();
    const int64_t value = has_minus ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    if (value != static_cast<T>(value)) Refuse();
    return static_cast<T>(value);
  }
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) Refuse();
  return value;
}

// Text that rounds to zero or to a number without all its digits is an error or none, by the C library.
template <typename T>
bool IsPlainValue(T value, std::string_view mantissa) {
  if (value != 0) return std::isnormal(value);
  return std::none_of(mantissa.begin(), mantissa.end(), [](char c) { return c >= '1' && c <= '9'; });
}

// Both this and PostgreSQL's strtod() give the nearest number.
template <typename T>
T ReadFloat(std::string_view text) {
  const std::string_view number = WithoutPlus(WithoutBlanks(text));
  const bool has_minus = !number.empty() && number[0] == '-';
  // Letters begin the names of infinities and of what is no number.
  if (number.size() <= has_minus || !(IsDigit(number[has_minus]) || number[has_minus] == '.')) Refuse();
  T value{};
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) Refuse();
  if (!IsPlainValue(value, number.substr(0, number.find_first_of("eE")))) Refuse();
  return value;
}

constexpr int kNumericDigits = 1000;  // PostgreSQL reads more

void ReadNumeric(std::string_view text, uint32_t row, NumericWriter& writer) {
  const std::string_view number = WithoutBlanks(text);
  const bool has_sign = !number.empty() && (number[0] == '-' || number[0] == '+');
  uint64_t value = 0;
  int digits = 0, scale = 0;
  bool has_point = false;
  for (const char c : number.substr(has_sign)) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!IsDigit(c) || digits == kNumericDigits) Refuse();
    value = value * 10 + static_cast<uint64_t>(c - '0');
    ++digits;
    scale += has_point;
  }
  if (digits == 0) Refuse();
  if (digits > kInt64Digits) {
    writer.SetDecimal(row, Decimal::FromString(number));
    return;
  }
  const auto magnitude = static_cast<int64_t>(value);
  writer.Set(row, SmallNumber{number[0] == '-' ? -magnitude : magnitude, scale});
}

// ---- booleans and uuids

uint8_t ReadBool(std::string_view text) {
  const std::string_view word = WithoutBlanks(text);
  for (const std::string_view yes : {"true", "t", "1", "yes", "y", "on"}) {
    if (word == yes) return 1;
  }
  for (const std::string_view no : {"false", "f", "0", "no", "n", "off"}) {
    if (word == no) return 0;
  }
  Refuse();
}

struct Uuid {
  uint8_t bytes[16];
};

uint8_t ReadHexDigit(char c) {
  if (IsDigit(c)) return static_cast<uint8_t>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower < 'a' || lower > 'f') Refuse();
  return static_cast<uint8_t>(lower - 'a' + 10);
}

// As in uuid_in(): braces may be around it, and a hyphen after each two bytes.
Uuid ReadUuid(std::string_view text) {
  constexpr int kBytes = 16;
  if (text.size() > 2 && text.front() == '{' && text.back() == '}') text = text.substr(1, text.size() - 2);
  Uuid uuid{};
  for (int k = 0; k < kBytes; ++k) {
    if (text.size() < 2) Refuse();
    uuid.bytes[k] = static_cast<uint8_t>(ReadHexDigit(text[0]) << 4 | ReadHexDigit(text[1]));
    text.remove_prefix(2);
    if (k % 2 == 1 && k < kBytes - 1 && text.starts_with('-')) text.remove_prefix(1);
  }
  if (!text.empty()) Refuse();
  return uuid;
}

// ---- dates and instants: 2024-05-06, alone or with 'T' or a blank, 07:08, :09, .123456, and Z, +01, +01:30 or +0130.
// A year of four digits comes first in every DateStyle.

class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(WithoutBlanks(text)) {}

  bool is_at_end() const { return rest_.empty(); }
  bool Take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Take(c)) Refuse();
  }
  // So many digits, for a number of at most `most`.
  int32_t Number(size_t digits, int32_t most) {
    if (rest_.size() < digits) Refuse();
    int32_t value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (!IsDigit(rest_[i])) Refuse();
      value = value * 10 + (rest_[i] - '0');
    }
    if (value > most) Refuse();
    rest_.remove_prefix(digits);
    return value;
  }
  int64_t Day() {
    const int32_t year = Number(4, 9999);
    Expect('-');
    const int32_t month = Number(2, 12);
    Expect('-');
    const int32_t day = Number(2, 31);
    if (year == 0 || month == 0 || day == 0 || day > DaysInMonth(year, month)) Refuse();
    return DayFromCivil(year, month, day);
  }
  int64_t TimeOfDayUs() {
    const int64_t hour_us = Number(2, 23) * kHourUs;
    Expect(':');
    const int64_t minute_us = hour_us + Number(2, 59) * kMinuteUs;
    if (!Take(':')) return minute_us;
    const int64_t second_us = minute_us + Number(2, 59) * kSecondUs;
    return Take('.') ? second_us + FractionUs() : second_us;
  }
  // East of Greenwich.
  int64_t ZoneUs() {
    if (Take('Z')) return 0;
    const bool is_west = Take('-');
    if (!is_west) Expect('+');
    int64_t us = Number(2, 15) * kHourUs;
    if (Take(':') || !is_at_end()) us += Number(2, 59) * kMinuteUs;
    return is_west ? -us : us;
  }

 private:
  // Seven digits would be rounded.
  int64_t FractionUs() {
    int64_t us = 0;
    int digits = 0;
    for (; !rest_.empty() && IsDigit(rest_[0]) && digits < 6; ++digits) us = us * 10 + Number(1, 9);
    if (digits == 0) Refuse();
    for (; digits < 6; ++digits) us *= 10;
    return us;
  }

  std::string_view rest_;
};

struct WrittenTime {
  int64_t day;
  int64_t local_us;
  bool has_zone;
  int64_t zone_us;
};

WrittenTime ReadTime(std::string_view text) {
  TimeReader reader(text);
  WrittenTime time{};
  time.day = reader.Day();
  time.local_us = time.day * kDayUs;
  if (reader.is_at_end()) return time;
  if (!reader.Take('T')) reader.Expect(' ');
  time.local_us += reader.TimeOfDayUs();
  if (reader.is_at_end()) return time;
  time.has_zone = true;
  time.zone_us = reader.ZoneUs();
  if (!reader.is_at_end()) Refuse();
  return time;
}

// Dates and local times do not look at a time zone that is written beside them.
int32_t ReadDate(std::string_view text) { return static_cast<int32_t>(ReadTime(text).day); }
int64_t ReadTimestamp(std::string_view text) { return ReadTime(text).local_us; }

// ---- vectors

template <typename T, typename Read>
Vector ReadRows(const Expr& expr, const Vector& text, uint32_t rows, Arena& arena, const Read& read) {
  const View<StringRef> in = ViewOf<StringRef>(text, rows, arena);
  T* out = arena.AllocateArray<T>(rows);
  if (text.validity != nullptr) std::fill_n(out, rows, T{});
  ForEachValid(text.validity, rows, [&](uint32_t i) { out[i] = read(in[i].view()); });
  return FlatVector(expr.type, out, text.validity);
}

template <typename T, T (*kRead)(std::string_view)>
Vector CastText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  return ReadRows<T>(expr, args[0], rows, context.arena, kRead);
}

Vector CastTextToTimestamptz(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  TimeZone zone(context.session);
  return ReadRows<int64_t>(expr, args[0], rows, context.arena, [&](std::string_view text) {
    const WrittenTime time = ReadTime(text);
    if (time.has_zone) return time.local_us - time.zone_us;
    if (!HasTimeZone(context.session)) Refuse();
    return zone.ToUtc(time.local_us);
  });
}

Vector CastTextToNumeric(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> in = ViewOf<StringRef>(args[0], rows, context.arena);
  NumericWriter writer(rows, context.arena);
  ForEachValid(args[0].validity, rows, [&](uint32_t i) { ReadNumeric(in[i].view(), i, writer); });
  return writer.Finish(args[0].validity);
}

}  // namespace

Binding ChooseCastFromText(PenumbraType from, PenumbraType to) {
  Binding binding;
  binding.can_fail = binding.can_be_unsupported = true;
  switch (to) {
    case PENUMBRA_INT2: binding.evaluate = CastText<int16_t, ReadInteger<int16_t>>; break;
    case PENUMBRA_INT4: binding.evaluate = CastText<int32_t, ReadInteger<int32_t>>; break;
    case PENUMBRA_INT8: binding.evaluate = CastText<int64_t, ReadInteger<int64_t>>; break;
    case PENUMBRA_FLOAT4: binding.evaluate = CastText<float, ReadFloat<float>>; break;
    case PENUMBRA_FLOAT8: binding.evaluate = CastText<double, ReadFloat<double>>; break;
    case PENUMBRA_NUMERIC: binding.evaluate = CastTextToNumeric; break;
    case PENUMBRA_BOOL: binding.evaluate = CastText<uint8_t, ReadBool>; break;
    case PENUMBRA_UUID:
      // The blanks of a bpchar are an error of a uuid.
      if (from == PENUMBRA_TEXT) binding.evaluate = CastText<Uuid, ReadUuid>;
      break;
    case PENUMBRA_DATE: binding.evaluate = CastText<int32_t, ReadDate>; break;
    case PENUMBRA_TIMESTAMP: binding.evaluate = CastText<int64_t, ReadTimestamp>; break;
    case PENUMBRA_TIMESTAMPTZ: binding.evaluate = CastTextToTimestamptz; break;
    default: break;
  }
  return binding;
}

}  // namespace penumbra

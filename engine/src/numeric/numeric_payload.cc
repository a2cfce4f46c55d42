// The packed format, the integer forms and the canonical form.
#include <algorithm>
#include <bit>
#include <string>

#include "numeric/numeric.h"
#include "numeric/numeric_digits.h"
#include "numeric/numeric_words.h"
#include "vector/error.h"

namespace penumbra {
namespace {

constexpr int128 kInt128Min = static_cast<int128>(static_cast<uint128>(1) << 127);

constexpr uint64_t kPowers64[kMaxInt64Digits + 1] = {1ull,
                                                     10ull,
                                                     100ull,
                                                     1000ull,
                                                     10000ull,
                                                     100000ull,
                                                     1000000ull,
                                                     10000000ull,
                                                     100000000ull,
                                                     1000000000ull,
                                                     10000000000ull,
                                                     100000000000ull,
                                                     1000000000000ull,
                                                     10000000000000ull,
                                                     100000000000000ull,
                                                     1000000000000000ull,
                                                     10000000000000000ull,
                                                     100000000000000000ull,
                                                     1000000000000000000ull};

// The last digit in units of 10^-shift of itself, -3 <= shift < 0; false if that is no integer,
// that is when a digit stands past the display scale. A switch, so that no division by a variable
// remains.
inline bool CutLastDigit(uint32_t digit, int shift, uint32_t* cut) {
  switch (shift) {
    case -1: *cut = digit / 10; return *cut * 10 == digit;
    case -2: *cut = digit / 100; return *cut * 100 == digit;
    case -3: *cut = digit / 1000; return *cut * 1000 == digit;
    default: return false;
  }
}

// Canonical forms are told apart by their lengths: 12 and 20 for a stripped integer with its scale,
// 1 for a special value, and odd lengths from 7 on for the digits of anything larger.
constexpr uint32_t kCanonicalInt64Bytes = 12;
constexpr uint32_t kCanonicalInt128Bytes = 20;

StringRef MakeRef(const char* bytes, uint32_t length, Arena& arena) {
  return StringRef(length <= StringRef::kInlineBytes ? bytes : arena.CopyBytes(bytes, length), length);
}

inline uint64_t WordAt(const int16_t* four_digits) {
  uint64_t word;
  std::memcpy(&word, four_digits, sizeof(word));
  return word;
}

// A number below 10^16.
inline void PutFourDigits(uint64_t value, int16_t* digits) {
  constexpr uint32_t kTwoDigits = kBase * kBase;
  const uint32_t high = static_cast<uint32_t>(value / kTwoDigits);
  const uint32_t low = static_cast<uint32_t>(value - uint64_t{high} * kTwoDigits);
  digits[0] = static_cast<int16_t>(high / kBase);
  digits[1] = static_cast<int16_t>(high % kBase);
  digits[2] = static_cast<int16_t>(low / kBase);
  digits[3] = static_cast<int16_t>(low % kBase);
}

// Multiplying by the inverse of 5 divides exactly, and tells whether 10 divides.
constexpr uint64_t kInverseOf5 = 0xCCCCCCCCCCCCCCCDull;
inline bool DivideBy10(uint64_t* value) {
  const uint64_t quotient = std::rotr(*value * kInverseOf5, 1);
  if (quotient > UINT64_MAX / 10) return false;
  *value = quotient;
  return true;
}

// Up to 20 decimal digits, as quotients have, whose scale cuts no digit: the head is one word, and nothing overflows.
constexpr uint32_t kShortDigits = 5;
bool ShortPayloadToInt128(const PackedNumber& number, int128* value) {
  const int shift = kBaseDecimals * (number.weight - static_cast<int>(number.digit_count) + 1) + number.scale;
  if (shift < 0 || shift > kMaxInt64Digits) return false;
  uint64_t head = 0;
  for (uint32_t i = 0; i + 1 < number.digit_count; ++i) head = head * kBase + static_cast<uint32_t>(number.Digit(i));
  const uint32_t last = static_cast<uint32_t>(number.Digit(number.digit_count - 1));
  const uint128 magnitude = (static_cast<uint128>(head) * kBase + last) * kPowers64[shift];
  *value = number.negative ? -static_cast<int128>(magnitude) : static_cast<int128>(magnitude);
  return true;
}

}  // namespace

void IntegerToDigits(uint128 magnitude, int scale, BaseDigits* result) {
  static constexpr uint32_t kUnits[kBaseDecimals] = {1, 10, 100, 1000};
  static constexpr WordDivisor kFourDigits(uint64_t{kBase} * kBase * kBase * kBase);
  const uint32_t in_last = static_cast<uint32_t>(scale) % kBaseDecimals;
  const uint32_t missing = (kBaseDecimals - in_last) % kBaseDecimals;
  int16_t* const end = result->digits + 16;
  int16_t* first = end;
  if (magnitude > ~uint128{0} / kUnits[kBaseDecimals - 1]) {  // too long to fill the last digit
    const uint128 rest = magnitude / kUnits[in_last];
    if (in_last != 0) *--first = static_cast<int16_t>((magnitude - rest * kUnits[in_last]) * kUnits[missing]);
    magnitude = rest;
  } else {
    magnitude *= kUnits[missing];
  }
  while (magnitude >= kFourDigits.value()) {
    uint64_t low;
    magnitude = magnitude >> 64 < kFourDigits.value() ? kFourDigits.DivideToWord(magnitude, &low)
                                                      : kFourDigits.Divide(magnitude, &low);
    PutFourDigits(low, first -= 4);
  }
  PutFourDigits(static_cast<uint64_t>(magnitude), first -= 4);
  const int16_t* last = end;
  // The fours at both ends are looked at as words: how many zeros there are is hard to foretell.
  first += std::countr_zero(WordAt(first)) / 16;
  while (first < last && *first == 0) ++first;
  if (const uint64_t word = WordAt(last - 4); word != 0) {
    last -= std::countl_zero(word) / 16;
  } else {
    while (first < last && last[-1] == 0) --last;
  }
  result->first = first;
  result->count = static_cast<uint32_t>(last - first);
  const int low_exponent = -((scale + kBaseDecimals - 1) / kBaseDecimals);
  result->weight = result->count == 0 ? 0 : low_exponent + static_cast<int>(end - first) - 1;
}

bool PayloadToInt64(const char* payload, uint32_t length, int64_t* value, int* scale) {
  PackedNumber number;
  if (!UnpackPayload(payload, length, &number)) return false;
  *scale = number.scale;
  const uint32_t count = number.digit_count;
  if (count == 0) {
    *value = 0;
    return true;
  }
  if (count > 6) return false;
  // All digits but the last, which the display scale may cut.
  uint64_t head = 0;
  for (uint32_t i = 0; i + 1 < count; ++i) head = head * kBase + static_cast<uint32_t>(number.Digit(i));
  // Six digits reach 10^18 unless the first is below 10: then head, of five, stays below 10^17.
  if (count == 6 && number.Digit(0) >= 10) return false;
  const uint32_t last = static_cast<uint32_t>(number.Digit(count - 1));
  const int shift = kBaseDecimals * (number.weight - static_cast<int>(count) + 1) + number.scale;
  uint64_t low;
  if (shift < 0) {
    uint32_t cut;
    if (!CutLastDigit(last, shift, &cut)) return false;
    low = cut;
  } else {
    if (shift >= kMaxInt64Digits || last >= kPowers64[kMaxInt64Digits - shift]) return false;
    low = last * kPowers64[shift];
  }
  if (head != 0) {
    const int head_shift = shift + kBaseDecimals;
    if (head_shift >= kMaxInt64Digits || head >= kPowers64[kMaxInt64Digits - head_shift]) return false;
    low += head * kPowers64[head_shift];
  }
  *value = number.negative ? -static_cast<int64_t>(low) : static_cast<int64_t>(low);
  return true;
}

bool PayloadToInt128(const char* payload, uint32_t length, int128* value, int* scale) {
  PackedNumber number;
  if (!UnpackPayload(payload, length, &number)) return false;
  *scale = number.scale;
  const uint32_t count = number.digit_count;
  *value = 0;
  if (count == 0) return true;
  if (count > kInt128BaseDigits) return false;
  if (count <= kShortDigits && ShortPayloadToInt128(number, value)) return true;
  const uint128 limit = static_cast<uint128>(kPowersOfTen[kMaxInt128Digits]);
  uint128 head = 0;  // eleven digits: the first ten are below 10^40 > 2^128, so each step is checked
  for (uint32_t i = 0; i + 1 < count; ++i) {
    if (head >= limit / kBase) return false;
    head = head * kBase + static_cast<uint32_t>(number.Digit(i));
  }
  const uint32_t last = static_cast<uint32_t>(number.Digit(count - 1));
  const int shift = kBaseDecimals * (number.weight - static_cast<int>(count) + 1) + number.scale;
  uint128 low;
  if (shift < 0) {
    uint32_t cut;
    if (!CutLastDigit(last, shift, &cut)) return false;
    low = cut;
  } else {
    if (shift >= kMaxInt128Digits || last >= kPowersOfTen[kMaxInt128Digits - shift]) return false;
    low = last * static_cast<uint128>(kPowersOfTen[shift]);
  }
  if (head != 0) {
    const int head_shift = shift + kBaseDecimals;
    if (head_shift >= kMaxInt128Digits || head >= static_cast<uint128>(kPowersOfTen[kMaxInt128Digits - head_shift])) {
      return false;
    }
    low += head * static_cast<uint128>(kPowersOfTen[head_shift]);
  }
  *value = number.negative ? -static_cast<int128>(low) : static_cast<int128>(low);
  return true;
}

uint32_t IntegerToPayload(int128 value, int scale, char* out) {
  BaseDigits digits;
  IntegerToDigits(Magnitude(value), scale, &digits);
  const uint32_t header_bytes = PackHeader(value < 0, scale, digits.weight, out);
  // Of one length, whatever it is: what follows the digits is not looked at.
  constexpr size_t kBytes = kInt128BaseDigits * sizeof(int16_t);
  static_assert(4 + kBytes <= kIntegerPayloadBytes);
  std::memcpy(out + header_bytes, digits.first, kBytes);
  return header_bytes + digits.count * static_cast<uint32_t>(sizeof(int16_t));
}

namespace {

// Kinds of numbers in their order.
enum : uint8_t { kMinusInfinity, kNegative, kZero, kPositive, kPlusInfinity, kNotANumber };

// What follows a number's kind: its weight and its digits, which `digit` has, the first one first.
template <typename Digit>
char* WriteOrderedDigits(int weight, uint32_t count, bool is_negative, const Digit& digit, char* out) {
  const uint16_t mask = is_negative ? 0xFFFF : 0;
  const auto write = [&out, mask](uint32_t value) {
    const uint16_t bytes = __builtin_bswap16(static_cast<uint16_t>(value) ^ mask);
    std::memcpy(out, &bytes, sizeof(bytes));
    out += sizeof(bytes);
  };
  write(static_cast<uint32_t>(weight) ^ 0x8000);
  for (uint32_t i = 0; i < count; ++i) write(digit(i) + 1);
  write(0);
  return out;
}

}  // namespace

char* WriteOrderedBytes(std::string_view payload, char* out) {
  PackedNumber number;
  if (!UnpackPayload(payload.data(), static_cast<uint32_t>(payload.size()), &number)) {
    const uint16_t header = payload.size() < 2 ? 0 : PayloadHeader(payload.data());
    *out++ = header == kSpecialNaN ? kNotANumber : header == kSpecialPositiveInfinity ? kPlusInfinity : kMinusInfinity;
    return out;
  }
  *out++ = number.digit_count == 0 ? kZero : number.negative ? kNegative : kPositive;
  if (number.digit_count == 0) return out;
  return WriteOrderedDigits(
      number.weight, number.digit_count, number.negative,
      [&](uint32_t i) { return static_cast<uint32_t>(number.Digit(i)); }, out);
}

char* WriteOrderedBytes(int128 integer, int scale, char* out) {
  constexpr uint64_t kBase = 10000;
  constexpr uint64_t kPowers[] = {1, 10, 100, 1000};
  const int fraction_digits = (scale + 3) / 4;
  const bool is_negative = integer < 0;
  const uint128 magnitude = is_negative ? -static_cast<uint128>(integer) : static_cast<uint128>(integer);
  if (scale < 0 || magnitude > UINT64_MAX / kPowers[3]) {
    char payload[kIntegerPayloadBytes];
    return WriteOrderedBytes({payload, IntegerToPayload(integer, scale, payload)}, out);
  }
  uint32_t digits[5];  // the last one first
  uint32_t count = 0, zeros = 0;
  for (uint64_t rest = static_cast<uint64_t>(magnitude) * kPowers[fraction_digits * 4 - scale]; rest != 0;
       rest /= kBase)
    digits[count++] = static_cast<uint32_t>(rest % kBase);
  *out++ = count == 0 ? kZero : is_negative ? kNegative : kPositive;
  if (count == 0) return out;
  while (digits[zeros] == 0) ++zeros;
  return WriteOrderedDigits(
      static_cast<int>(count) - 1 - fraction_digits, count - zeros, is_negative,
      [&](uint32_t i) { return digits[count - 1 - i]; }, out);
}

// Reads PostgreSQL's bytes in any form that it stores. Bytes of no such form are reported as corruption.
Decimal Decimal::FromPayload(std::string_view payload) {
  PackedNumber number;
  Decimal result;
  if (!UnpackPayload(payload.data(), static_cast<uint32_t>(payload.size()), &number)) {
    if (payload.size() < 2) throw EngineError(PENUMBRA_CORRUPT, "numeric value of no bytes");
    switch (PayloadHeader(payload.data())) {
      case kSpecialNaN: return Special(Kind::kNaN);
      case kSpecialPositiveInfinity: return Special(Kind::kPositiveInfinity);
      case kSpecialNegativeInfinity: return Special(Kind::kNegativeInfinity);
      default: throw EngineError(PENUMBRA_CORRUPT, "numeric value of unknown kind");
    }
  }
  result.negative_ = number.negative;
  result.scale_ = number.scale;
  result.weight_ = number.weight;
  result.digits_.resize(number.digit_count);
  if (number.digit_count > 0) {
    std::memcpy(result.digits_.data(), number.digits, number.digit_count * sizeof(int16_t));
  }
  result.Strip();
  return result;
}

StringRef Decimal::ToPayload(Arena& arena) const {
  char header[4];
  uint32_t header_bytes;
  if (kind_ != Kind::kFinite) {
    const uint16_t special = kind_ == Kind::kNaN                ? kSpecialNaN
                             : kind_ == Kind::kPositiveInfinity ? kSpecialPositiveInfinity
                                                                : kSpecialNegativeInfinity;
    std::memcpy(header, &special, sizeof(special));
    return StringRef(header, sizeof(special));
  }
  header_bytes = PackHeader(negative_, scale_, weight_, header);
  const uint32_t digit_bytes = static_cast<uint32_t>(digits_.size() * sizeof(int16_t));
  const uint32_t length = header_bytes + digit_bytes;
  char inlined[StringRef::kInlineBytes];
  char* out = length <= sizeof(inlined) ? inlined : static_cast<char*>(arena.Allocate(length));
  std::memcpy(out, header, header_bytes);
  if (digit_bytes > 0) std::memcpy(out + header_bytes, digits_.data(), digit_bytes);
  return StringRef(out, length);
}

bool Decimal::ToScaledInteger(int128* value) const {
  if (kind_ != Kind::kFinite) return false;
  // value = digits * 10^shift with the shift cutting zeros of the last digit when negative.
  int shift = kBaseDecimals * LowExponent() + scale_;
  uint128 magnitude = 0;
  const uint128 limit = static_cast<uint128>(kPowersOfTen[kMaxInt128Digits]);
  for (size_t i = 0; i < digits_.size(); ++i) {
    uint32_t digit = static_cast<uint32_t>(digits_[i]);
    uint32_t unit = kBase;
    if (i + 1 == digits_.size() && shift < 0) {
      if (!CutLastDigit(digit, shift, &digit)) return false;
      unit = static_cast<uint32_t>(kPowersOfTen[kBaseDecimals + shift]);
    }
    if (magnitude > (limit - 1 - digit) / unit) return false;
    magnitude = magnitude * unit + digit;
  }
  for (; shift > 0 && magnitude != 0; --shift) {
    if (magnitude > (limit - 1) / 10) return false;
    magnitude *= 10;
  }
  *value = negative_ ? -static_cast<int128>(magnitude) : static_cast<int128>(magnitude);
  return true;
}

bool Decimal::ToInt64(int64_t* value) const {
  Decimal rounded = *this;
  rounded.RoundTo(0);
  if (rounded.weight_ > 4) return false;  // 10^20 and more
  int128 wide;
  if (!rounded.ToScaledInteger(&wide) || wide < INT64_MIN || wide > INT64_MAX) return false;
  *value = static_cast<int64_t>(wide);
  return true;
}

// ---------------------------------------------------------------- canonical form --------------

StringRef CanonicalInteger(int128 value, int scale, Arena& arena) {
  if (value >= INT64_MIN && value <= INT64_MAX) {
    uint64_t magnitude = static_cast<uint64_t>(Magnitude(value));
    if (magnitude == 0) {
      scale = 0;
    } else {
      while (DivideBy10(&magnitude)) --scale;
    }
    const int32_t scale32 = scale;
    const int64_t stripped = static_cast<int64_t>(value < 0 ? -magnitude : magnitude);
    char bytes[kCanonicalInt64Bytes];
    std::memcpy(bytes, &scale32, sizeof(scale32));
    std::memcpy(bytes + sizeof(scale32), &stripped, sizeof(stripped));
    return StringRef(bytes, sizeof(bytes));
  }
  if (value % 10 == 0) return CanonicalInteger(value / 10, scale - 1, arena);
  // Its magnitude is the one that does not fit; a payload of this value takes the same way.
  if (value == kInt128Min) return CanonicalPayload(Decimal::FromInteger(value, scale).ToPayload(arena).view(), arena);
  const int32_t scale32 = scale;
  char bytes[kCanonicalInt128Bytes];
  std::memcpy(bytes, &scale32, sizeof(scale32));
  std::memcpy(bytes + sizeof(scale32), &value, sizeof(value));
  return MakeRef(bytes, sizeof(bytes), arena);
}

StringRef CanonicalPayload(std::string_view payload, Arena& arena) {
  const uint32_t length = static_cast<uint32_t>(payload.size());
  int64_t narrow;
  int128 value;
  int scale;
  if (PayloadToInt64(payload.data(), length, &narrow, &scale)) return CanonicalInteger(narrow, scale, arena);
  PackedNumber number;
  if (!UnpackPayload(payload.data(), length, &number)) {
    const char kind = static_cast<char>(length < 2 ? 0 : PayloadHeader(payload.data()) >> 8);
    return StringRef(&kind, 1);
  }
  uint32_t count = number.digit_count;
  while (count > 0 && number.Digit(count - 1) == 0) --count;
  if (count == 0) return CanonicalInteger(0, 0, arena);
  // As an integer without trailing zeros, if int128 holds it.
  int last = number.Digit(count - 1);
  int unit = kBase;
  scale = -kBaseDecimals * (number.weight - static_cast<int>(count) + 1);
  for (; last % 10 == 0; last /= 10, unit /= 10) --scale;
  value = 0;
  bool fits = true;
  for (uint32_t i = 0; i < count && fits; ++i) {
    const bool at_end = i + 1 == count;
    fits = !__builtin_mul_overflow(value, static_cast<int128>(at_end ? unit : kBase), &value) &&
           !__builtin_add_overflow(value, static_cast<int128>(at_end ? last : number.Digit(i)), &value);
  }
  if (fits) return CanonicalInteger(number.negative ? -value : value, scale, arena);
  const uint32_t bytes = 5 + count * static_cast<uint32_t>(sizeof(int16_t));
  char* out = static_cast<char*>(arena.Allocate(bytes));
  out[0] = static_cast<char>(number.negative);
  const int32_t weight32 = number.weight;
  std::memcpy(out + 1, &weight32, sizeof(weight32));
  std::memcpy(out + 5, number.digits, count * sizeof(int16_t));
  return StringRef(out, bytes);
}

Decimal CanonicalToDecimal(std::string_view canonical) {
  if (canonical.size() == 1) {
    const uint16_t header = static_cast<uint16_t>(static_cast<uint8_t>(canonical[0]) << 8);
    char payload[2];
    std::memcpy(payload, &header, sizeof(header));
    return Decimal::FromPayload({payload, sizeof(payload)});
  }
  int128 value;
  int32_t scale;
  if (canonical.size() == kCanonicalInt64Bytes || canonical.size() == kCanonicalInt128Bytes) {
    std::memcpy(&scale, canonical.data(), sizeof(scale));
    if (canonical.size() == kCanonicalInt64Bytes) {
      int64_t narrow;
      std::memcpy(&narrow, canonical.data() + sizeof(scale), sizeof(narrow));
      value = narrow;
    } else {
      std::memcpy(&value, canonical.data() + sizeof(scale), sizeof(value));
    }
    if (scale >= 0) return Decimal::FromInteger(value, scale);
    // A multiple of a power of ten: shift through text, as this is for numbers past int128 only.
    return Decimal::FromString(Decimal::FromInteger(value).ToString() + "e" + std::to_string(-scale));
  }
  int32_t weight;
  std::memcpy(&weight, canonical.data() + 1, sizeof(weight));
  const std::string_view digits = canonical.substr(5);
  const int count = static_cast<int>(digits.size() / sizeof(int16_t));
  std::string payload(4, '\0');
  payload.resize(
      PackHeader(canonical[0] != 0, std::max(0, kBaseDecimals * (count - 1 - weight)), weight, payload.data()));
  payload += digits;
  return Decimal::FromPayload(payload);
}

Decimal DecimalAt(const Vector& v, uint32_t row) {
  const void* data = v.data;
  if (v.form == VectorForm::kConstant) {
    row = 0;
  } else if (v.form == VectorForm::kDictionary) {
    row = v.Code(row);
    data = v.dictionary->data;
  }
  switch (v.numeric_form) {
    case NumericForm::kInt64: return Decimal::FromInteger(static_cast<const int64_t*>(data)[row], v.scale);
    case NumericForm::kInt128: return Decimal::FromInteger(static_cast<const int128*>(data)[row], v.scale);
    default: return Decimal::FromPayload(static_cast<const StringRef*>(data)[row].view());
  }
}

}  // namespace penumbra

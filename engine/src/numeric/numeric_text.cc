// Decimal from and to text and floating point.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "numeric/numeric.h"
#include "numeric/numeric_digits.h"
#include "numeric/numeric_rows.h"
#include "vector/error.h"

namespace penumbra {
namespace {

[[noreturn]] void ThrowSyntax(std::string_view text) {
  throw EngineError(PENUMBRA_INVALID_ARGUMENT, "invalid input syntax for type numeric: \"" + std::string(text) + "\"");
}

bool EqualsFolded(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
         });
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The correctly rounded value of a decimal number's text.
template <typename Real>
Real ParseReal(const std::string& text, bool is_zero, bool is_small) {
  Real value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool out_of_range = error == std::errc::result_out_of_range || std::isinf(value) || (value == 0 && !is_zero);
  if (!out_of_range) return value;
  throw EngineError(
      is_small ? PENUMBRA_FLOAT_UNDERFLOW : PENUMBRA_FLOAT_OVERFLOW,
      "\"" + text.substr(0, 100) + "\" is out of range for type " + (sizeof(Real) == 4 ? "real" : "double precision"));
}

// As %.15g (float8) and %.6g (float4), the digits that survive a round trip through text.
template <typename Real>
std::string FormatSignificant(Real value) {
  char text[64];
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::general, std::numeric_limits<Real>::digits10);
  return std::string(text, end);
}

constexpr std::array<char, 200> MakePairs() {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
constexpr std::array<char, 200> kPairs = MakePairs();  // "00" to "99"

char* WriteDigit(int digit, char* out) {
  std::memcpy(out, &kPairs[2 * (digit / 100)], 2);
  std::memcpy(out + 2, &kPairs[2 * (digit % 100)], 2);
  return out + kBaseDecimals;
}

// Without leading zeros. Each byte is written once, since reading them together would wait for the stores.
char* WriteFirstDigit(int digit, char* out) {
  const int high = digit / 100;
  const int low = digit % 100;
  if (digit >= 1000) return WriteDigit(digit, out);
  if (digit >= 100) *out++ = static_cast<char>('0' + high);
  if (digit >= 10) {
    std::memcpy(out, &kPairs[2 * low], 2);
    return out + 2;
  }
  *out++ = static_cast<char>('0' + low);
  return out;
}

// What WriteText may write: it ends with whole digits, and cuts them.
size_t TextBytesMax(int weight, int scale) {
  return (std::max(weight, 0) + 1) * size_t{kBaseDecimals} + scale + kBaseDecimals + sizeof("-.");
}

// The text of a finite number; returns its end. digit_at(i) is its digit of 10000^(weight - i).
template <typename DigitAt>
char* WriteText(bool negative, int weight, int scale, DigitAt digit_at, char* out) {
  if (negative) *out++ = '-';
  if (weight < 0) {
    *out++ = '0';
  } else {
    out = WriteFirstDigit(digit_at(0), out);
    for (int i = 1; i <= weight; ++i) out = WriteDigit(digit_at(i), out);
  }
  if (scale == 0) return out;
  *out++ = '.';
  char* const end = out + scale;
  for (int i = weight + 1; out < end; ++i) out = WriteDigit(digit_at(i), out);
  return end;
}

}  // namespace

Decimal Decimal::FromString(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (EqualsFolded(text, "nan")) return Special(Kind::kNaN);
  if (EqualsFolded(rest, "infinity") || EqualsFolded(rest, "inf")) {
    return Special(negative ? Kind::kNegativeInfinity : Kind::kPositiveInfinity);
  }
  std::string decimals;
  int64_t scale = 0;
  bool has_point = false;
  size_t i = 0;
  for (; i < rest.size() && (IsDigit(rest[i]) || (rest[i] == '.' && !has_point)); ++i) {
    if (rest[i] == '.') {
      has_point = true;
    } else {
      decimals.push_back(rest[i]);
      scale += has_point;
    }
  }
  if (decimals.empty()) ThrowSyntax(text);
  if (i < rest.size()) {
    if (rest[i] != 'e' && rest[i] != 'E') ThrowSyntax(text);
    ++i;
    if (i < rest.size() && rest[i] == '+') ++i;
    int exponent = 0;
    const auto [end, error] = std::from_chars(rest.data() + i, rest.data() + rest.size(), exponent);
    if (error != std::errc() || end != rest.data() + rest.size()) ThrowSyntax(text);
    if (std::abs(int64_t{exponent}) >= INT32_MAX / 2) throw EngineError(PENUMBRA_NUMERIC_OVERFLOW);
    scale -= exponent;
  }
  // decimals / 10^scale; pad so that the decimal point falls between base-10,000 digits.
  const int64_t pad = ((-scale % kBaseDecimals) + kBaseDecimals) % kBaseDecimals;
  decimals.append(pad, '0');
  decimals.insert(0, (kBaseDecimals - decimals.size() % kBaseDecimals) % kBaseDecimals, '0');
  Decimal result;
  for (size_t d = 0; d < decimals.size(); d += kBaseDecimals) {
    int digit = 0;
    for (int j = 0; j < kBaseDecimals; ++j) digit = digit * 10 + (decimals[d + j] - '0');
    result.digits_.push_back(static_cast<int16_t>(digit));
  }
  result.weight_ = static_cast<int>(result.digits_.size()) - 1 - static_cast<int>((scale + pad) / kBaseDecimals);
  result.negative_ = negative;
  result.scale_ = static_cast<int>(std::clamp<int64_t>(scale, 0, INT32_MAX));
  return std::move(result).Finish();
}

std::string Decimal::ToString() const {
  switch (kind_) {
    case Kind::kNaN: return "NaN";
    case Kind::kPositiveInfinity: return "Infinity";
    case Kind::kNegativeInfinity: return "-Infinity";
    case Kind::kFinite: break;
  }
  const auto digit_at = [this](int i) { return i >= 0 && i < static_cast<int>(digits_.size()) ? digits_[i] : 0; };
  std::string text(TextBytesMax(weight_, scale_), '\0');
  text.resize(WriteText(negative_, weight_, scale_, digit_at, text.data()) - text.data());
  return text;
}

uint32_t WritePayloadText(std::string_view payload, char* out, uint32_t room) {
  PackedNumber number;
  if (!UnpackPayload(payload.data(), static_cast<uint32_t>(payload.size()), &number)) return 0;
  if (TextBytesMax(number.weight, number.scale) > room) return 0;
  const auto digit_at = [&number](int i) {
    return static_cast<uint32_t>(i) < number.digit_count ? number.Digit(i) : 0;  // also where i < 0
  };
  return static_cast<uint32_t>(WriteText(number.negative, number.weight, number.scale, digit_at, out) - out);
}

Decimal Decimal::FromFloat(double value) {
  if (std::isnan(value)) return Special(Kind::kNaN);
  if (std::isinf(value)) return Special(value > 0 ? Kind::kPositiveInfinity : Kind::kNegativeInfinity);
  return FromString(FormatSignificant(value));
}

Decimal Decimal::FromFloat(float value) {
  if (std::isnan(value)) return Special(Kind::kNaN);
  if (std::isinf(value)) return Special(value > 0 ? Kind::kPositiveInfinity : Kind::kNegativeInfinity);
  return FromString(FormatSignificant(value));
}

namespace {

// 5^s for the least digits of a double that fit beside it in two words.
constexpr int kFifthPowersMax = 32;
struct FifthPowers {
  uint128 of[kFifthPowersMax + 1];
};
constexpr FifthPowers MakeFifthPowers() {
  FifthPowers powers = {{1}};
  for (int i = 1; i <= kFifthPowersMax; ++i) powers.of[i] = powers.of[i - 1] * 5;
  return powers;
}
constexpr FifthPowers kFifthPowers = MakeFifthPowers();

// mantissa * 2^exponent * 10^scale, which is below 10^16, rounded half to even as printf() does it.
uint64_t RoundScaled(uint64_t mantissa, int exponent, int scale) {
  const uint128 product = mantissa * kFifthPowers.of[scale];
  const int shift = -(exponent + scale);
  if (shift <= 0) return static_cast<uint64_t>(product << -shift);
  const uint64_t whole = static_cast<uint64_t>(product >> shift);
  const uint128 rest = product - (static_cast<uint128>(whole) << shift), half = static_cast<uint128>(1) << (shift - 1);
  return whole + (rest > half || (rest == half && whole % 2 == 1));
}

// As %g drops them.
void DropFinalZeros(SmallNumber* number) {
  const bool is_negative = number->value < 0;
  uint64_t value = static_cast<uint64_t>(Magnitude(number->value));
  for (int zeros : {8, 4, 2, 1}) {
    const uint64_t shorter = kPowerOfTenDividers.of[zeros].Divide(value);
    if (number->scale < zeros || shorter * kWordPowers.of_ten[zeros] != value) continue;
    value = shorter;
    number->scale -= zeros;
  }
  number->value = WithSign(value, is_negative);
}

// With all of its digits. The first one is at 10^k: floor(log10(2) * e) is k, or one less, of 2^e <= |value| < 2^(e +
// 1).
template <typename T>
bool FindDigits(T value, SmallNumber* number) {
  constexpr int kDigits = std::numeric_limits<T>::digits10;
  const uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(value));
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  *number = {0, 0};
  if (bits << 1 == 0) return true;
  const int scale = kDigits - 1 - ((biased - 1023) * 78913 >> 18);
  if (biased == 0 || biased == 0x7ff || scale > kFifthPowersMax || scale <= 0) return false;
  const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  number->scale = scale;
  uint64_t digits = RoundScaled(mantissa, biased - 1075, scale);
  if (digits >= kWordPowers.of_ten[kDigits]) digits = RoundScaled(mantissa, biased - 1075, --number->scale);
  if (digits < kWordPowers.of_ten[kDigits - 1]) return false;
  number->value = value < 0 ? -static_cast<int128>(digits) : static_cast<int128>(digits);
  return true;
}

template <typename T>
bool FindShortDigits(T value, SmallNumber* number) {
  if (!FindDigits(value, number)) return false;
  DropFinalZeros(number);
  return true;
}

}  // namespace

bool DigitsOfFloat(double value, SmallNumber* number) { return FindDigits(value, number); }
bool DigitsOfFloat(float value, SmallNumber* number) { return FindDigits(value, number); }

bool SmallFromFloat(double value, SmallNumber* number) { return FindShortDigits(value, number); }
bool SmallFromFloat(float value, SmallNumber* number) { return FindShortDigits(value, number); }

double Decimal::ToDouble() const {
  switch (kind_) {
    case Kind::kNaN: return std::numeric_limits<double>::quiet_NaN();
    case Kind::kPositiveInfinity: return std::numeric_limits<double>::infinity();
    case Kind::kNegativeInfinity: return -std::numeric_limits<double>::infinity();
    case Kind::kFinite: break;
  }
  return ParseReal<double>(ToString(), digits_.empty(), weight_ < 0);
}

float Decimal::ToFloat() const {
  if (kind_ != Kind::kFinite) return static_cast<float>(ToDouble());
  return ParseReal<float>(ToString(), digits_.empty(), weight_ < 0);
}

}  // namespace penumbra

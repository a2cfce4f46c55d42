// Decimal from and to text and floating point.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "numeric/numeric.h"
#include "numeric/numeric_digits.h"
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
  const auto digit_at = [this](int exponent) {  // of 10000^exponent
    const int i = weight_ - exponent;
    return i >= 0 && i < static_cast<int>(digits_.size()) ? digits_[i] : 0;
  };
  const auto append = [](std::string* out, int digit) {
    const char four[4] = {static_cast<char>('0' + digit / 1000), static_cast<char>('0' + digit / 100 % 10),
                          static_cast<char>('0' + digit / 10 % 10), static_cast<char>('0' + digit % 10)};
    out->append(four, 4);
  };
  std::string text;
  text.reserve(std::max(weight_, 0) * kBaseDecimals + scale_ + 8);
  if (negative_) text.push_back('-');
  if (weight_ < 0 || digits_.empty()) {
    text.push_back('0');
  } else {
    text += std::to_string(digits_[0]);
    for (int exponent = weight_ - 1; exponent >= 0; --exponent) append(&text, digit_at(exponent));
  }
  if (scale_ > 0) {
    text.push_back('.');
    const size_t end = text.size() + scale_;
    for (int exponent = -1; text.size() < end; --exponent) append(&text, digit_at(exponent));
    text.resize(end);
  }
  return text;
}

Decimal Decimal::FromDouble(double value) {
  if (std::isnan(value)) return Special(Kind::kNaN);
  if (std::isinf(value)) return Special(value > 0 ? Kind::kPositiveInfinity : Kind::kNegativeInfinity);
  return FromString(FormatSignificant(value));
}

Decimal Decimal::FromFloat(float value) {
  if (std::isnan(value)) return Special(Kind::kNaN);
  if (std::isinf(value)) return Special(value > 0 ? Kind::kPositiveInfinity : Kind::kNegativeInfinity);
  return FromString(FormatSignificant(value));
}

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

// Division, square root and the finals of aggregates, powers. Quotients and roots are computed truncated,
// with at least one decimal digit more than asked for, which decides the rounding exactly (half
// away from zero).
#include <algorithm>
#include <cmath>

#include "numeric/numeric.h"
#include "numeric/numeric_rows.h"
#include "vector/error.h"

namespace penumbra {
namespace {

using Digits = std::vector<int16_t>;

// Divides by a divisor below 10^12, given as one integer.
Digits DivideShort(const Digits& dividend, uint64_t divisor) {
  Digits quotient(dividend.size());
  uint64_t remainder = 0;
  for (size_t i = 0; i < dividend.size(); ++i) {
    remainder = remainder * kBase + static_cast<uint64_t>(dividend[i]);
    const uint64_t digit = remainder / divisor;
    remainder -= digit * divisor;
    // Digits before the first one of the quotient are zero, so each fits once the remainder is
    // below the divisor, which it is from the start.
    quotient[i] = static_cast<int16_t>(digit);
  }
  return quotient;
}

// Knuth's algorithm D. The divisor has at least two digits, the first not zero.
Digits DivideLong(const Digits& dividend, const Digits& divisor) {
  const size_t n = divisor.size();
  if (dividend.size() < n) return {};
  const int normalizer = kBase / (divisor[0] + 1);
  const auto scaled = [normalizer](const Digits& digits) {
    std::vector<int32_t> result(digits.size() + 1);
    int32_t carry = 0;
    for (size_t i = digits.size(); i-- > 0;) {
      carry += digits[i] * normalizer;
      result[i + 1] = carry % kBase;
      carry /= kBase;
    }
    result[0] = carry;
    return result;
  };
  std::vector<int32_t> u = scaled(dividend);
  const std::vector<int32_t> v = scaled(divisor);  // v[0] is zero, v[1] >= base / 2
  const size_t steps = dividend.size() - n + 1;
  Digits quotient(steps);
  for (size_t j = 0; j < steps; ++j) {
    const int32_t head = u[j] * kBase + u[j + 1];
    int32_t digit = std::min(head / v[1], kBase - 1);
    while (int64_t{head - digit * v[1]} * kBase + u[j + 2] < int64_t{digit} * v[2]) --digit;
    if (digit == 0) continue;
    int32_t borrow = 0;
    for (size_t i = n; i > 0; --i) {
      int32_t difference = u[j + i] - digit * v[i] - borrow;
      borrow = difference < 0 ? (kBase - 1 - difference) / kBase : 0;
      u[j + i] = difference + borrow * kBase;
    }
    u[j] -= borrow;
    if (u[j] < 0) {  // the estimate was one too high
      --digit;
      int32_t carry = 0;
      for (size_t i = n; i > 0; --i) {
        carry += u[j + i] + v[i];
        u[j + i] = carry >= kBase ? carry - kBase : carry;
        carry = carry >= kBase;
      }
      u[j] += carry;
    }
    quotient[j] = static_cast<int16_t>(digit);
  }
  return quotient;
}

}  // namespace

int Decimal::DivisionScale(const Decimal& a, const Decimal& b) {
  const Leading x = {a.weight_, static_cast<uint32_t>(a.FirstDigit())};
  const Leading y = {b.weight_, static_cast<uint32_t>(b.FirstDigit())};
  return penumbra::DivisionScale(x, y, std::max(a.scale_, b.scale_));
}

Decimal Decimal::DivideFinite(const Decimal& a, const Decimal& b, int scale, bool round) {
  Decimal result;
  result.scale_ = scale;
  if (a.digits_.empty()) return result;
  // With an extra digit past `scale` when rounding.
  const int fraction_digits = round ? scale / kBaseDecimals + 1 : (scale + kBaseDecimals - 1) / kBaseDecimals;
  const int shift = a.LowExponent() - b.LowExponent() + fraction_digits;
  const int64_t dividend_digits = static_cast<int64_t>(a.digits_.size()) + shift;
  if (dividend_digits <= 0) return result;
  Digits dividend = a.digits_;
  dividend.resize(dividend_digits);  // floor(floor(x / k) / d) = floor(x / (k d)): digits may go
  if (b.digits_.size() <= 3) {
    uint64_t divisor = 0;
    for (int16_t digit : b.digits_) divisor = divisor * kBase + static_cast<uint64_t>(digit);
    result.digits_ = DivideShort(dividend, divisor);
  } else {
    result.digits_ = DivideLong(dividend, b.digits_);
  }
  result.weight_ = static_cast<int>(result.digits_.size()) - 1 - fraction_digits;
  result.negative_ = a.negative_ != b.negative_;
  result.Strip();
  if (round) {
    result.RoundTo(scale);
  } else {
    result.TruncateTo(scale);
  }
  return result;
}

Decimal Decimal::Divide(const Decimal& a, const Decimal& b) {
  if (a.kind_ == Kind::kNaN || b.kind_ == Kind::kNaN) return Special(Kind::kNaN);
  if (a.kind_ != Kind::kFinite) {
    if (b.kind_ != Kind::kFinite) return Special(Kind::kNaN);
    const int sign = a.SignNumber() * b.SignNumber();
    if (sign == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
    return Special(sign > 0 ? Kind::kPositiveInfinity : Kind::kNegativeInfinity);
  }
  if (b.kind_ != Kind::kFinite) return Decimal();
  if (b.digits_.empty()) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
  return DivideFinite(a, b, DivisionScale(a, b), true).Finish();
}

Decimal Decimal::Modulo(const Decimal& a, const Decimal& b) {
  if (a.kind_ == Kind::kNaN || b.kind_ == Kind::kNaN) return Special(Kind::kNaN);
  if (b.SignNumber() == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
  if (a.kind_ != Kind::kFinite) return Special(Kind::kNaN);
  if (b.kind_ != Kind::kFinite) return a;
  Decimal product = MultiplyFinite(b, DivideFinite(a, b, 0, false));
  return AddFinite(a, product, true).Finish();
}

Decimal Decimal::SquareRootFinite(const Decimal& a, int scale) {
  Decimal result;
  result.scale_ = scale;
  if (a.digits_.empty()) return result;
  // floor(sqrt(n)) for the integer n = floor(a * 10000^(2 f)): the root's digits up to 10000^-f.
  const int fraction_digits = scale / kBaseDecimals + 1;
  Decimal n = a;
  n.scale_ = 0;
  n.weight_ += 2 * fraction_digits;
  n.TruncateTo(0);
  if (n.digits_.empty()) return result;
  // An estimate that is not below the root, from an even number of digits less.
  const bool odd = (n.weight_ & 1) != 0;
  double head = 0;
  const int head_digits = odd ? 4 : 5;
  for (int i = 0; i < head_digits; ++i) {
    head = head * kBase + (i < static_cast<int>(n.digits_.size()) ? n.digits_[i] : 0);
  }
  Decimal root = FromInteger(int128{1} << 40);  // above the root of anything shorter than `head`
  if (n.weight_ >= head_digits - 1) {
    root = FromInteger(static_cast<int64_t>(std::sqrt(head) * (1 + 1e-12)) + 2);
    root.weight_ += (n.weight_ - (head_digits - 1)) / 2;
  }
  const Decimal two = FromInteger(2);
  for (;;) {  // Newton's iteration falls until it reaches the floor of the root
    Decimal next = DivideFinite(AddFinite(root, DivideFinite(n, root, 0, false), false), two, 0, false);
    if (CompareMagnitude(next, root) >= 0) break;
    root = std::move(next);
  }
  root.weight_ -= fraction_digits;
  root.RoundTo(scale);
  return root;
}

Decimal Decimal::SquareRoot(const Decimal& a) {
  if (a.SignNumber() < 0 && a.kind_ != Kind::kNaN) {
    throw EngineError(PENUMBRA_INVALID_POWER_ARGUMENT, "cannot take square root of a negative number");
  }
  if (a.kind_ != Kind::kFinite) return a;
  const int root_weight = (a.weight_ + 1) * kBaseDecimals / 2 - 1;
  const int scale = std::min(std::max({kSignificantDigitsMin - root_weight, a.scale_, 0}), kDisplayScaleMax);
  return SquareRootFinite(a, scale).Finish();
}

int Decimal::PowerScale(const PowerRule& rule) const {
  double weight = 0;
  if (rule.scale_by_result && !digits_.empty()) {
    weight = PowerWeight(digits_.data(), static_cast<uint32_t>(digits_.size()), weight_, rule.exponent);
  }
  return PowerScaleOf(rule, weight, scale_);
}

// As in numeric_power(), NaN^0 is 1.
Decimal Decimal::Power(const Decimal& a, const PowerRule& rule) {
  if (a.kind_ != Kind::kFinite) {
    if (rule.exponent == 0) return FromInteger(1);
    return a.kind_ == Kind::kNegativeInfinity && rule.exponent % 2 == 0 ? Special(Kind::kPositiveInfinity) : a;
  }
  Decimal result = FromInteger(1);
  for (int i = 0; i < rule.exponent; ++i) result = MultiplyFinite(result, a);
  result.RoundTo(a.PowerScale(rule));
  return std::move(result).Finish();
}

Decimal Decimal::Average(const Decimal& sum, int64_t count) { return Divide(sum, FromInteger(count)); }

// The variance is (n * sum(x^2) - sum(x)^2) / (n * (n or n - 1)), exact up to the division, whose scale is
// PostgreSQL's. A numerator that is not positive makes 0.
bool Decimal::ComputeSpread(Spread spread, int64_t count, const Decimal& sum, const Decimal& sum_of_squares,
                            Decimal* result) {
  const bool sample = spread == Spread::kVarSamp || spread == Spread::kStddevSamp;
  if (count == 0 || (sample && count == 1)) return false;
  if (sum.kind_ != Kind::kFinite || sum_of_squares.kind_ != Kind::kFinite) {
    *result = Special(Kind::kNaN);
    return true;
  }
  const Decimal n = FromInteger(count);
  Decimal numerator = AddFinite(MultiplyFinite(n, sum_of_squares), MultiplyFinite(sum, sum), true);
  if (numerator.SignNumber() <= 0) {
    *result = Decimal();
    return true;
  }
  numerator.scale_ = 2 * sum.scale_;
  const Decimal denominator = FromInteger(int128{count} * (sample ? count - 1 : count));
  const int scale = DivisionScale(numerator, denominator);
  Decimal variance = DivideFinite(numerator, denominator, scale, true);
  if (spread == Spread::kStddevPop || spread == Spread::kStddevSamp) variance = SquareRootFinite(variance, scale);
  *result = std::move(variance).Finish();
  return true;
}

}  // namespace penumbra

#include <algorithm>

#include "numeric/numeric.h"
#include "numeric/numeric_digits.h"
#include "vector/error.h"

namespace penumbra {
namespace {

constexpr int128 PowerOfTen(int exponent) {
  int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

constexpr int kDecimalPowers[kBaseDecimals] = {1, 10, 100, 1000};

[[noreturn]] void ThrowOverflow() { throw EngineError(PENUMBRA_NUMERIC_OVERFLOW); }

}  // namespace

#define P(n) PowerOfTen(n)
constinit const int128 kPowersOfTen[kMaxInt128Digits + 1] = {
    P(0),  P(1),  P(2),  P(3),  P(4),  P(5),  P(6),  P(7),  P(8),  P(9),  P(10), P(11), P(12),
    P(13), P(14), P(15), P(16), P(17), P(18), P(19), P(20), P(21), P(22), P(23), P(24), P(25),
    P(26), P(27), P(28), P(29), P(30), P(31), P(32), P(33), P(34), P(35), P(36), P(37), P(38)};
#undef P

Decimal Decimal::Special(Kind kind) {
  Decimal result;
  result.kind_ = kind;
  return result;
}

Decimal Decimal::FromInteger(int128 value, int scale) {
  BaseDigits digits;
  IntegerToDigits(Magnitude(value), scale, &digits);
  Decimal result;
  result.digits_.assign(digits.first, digits.first + digits.count);
  result.weight_ = digits.weight;
  result.negative_ = value < 0;
  result.scale_ = scale;
  return result;
}

void Decimal::Strip() {
  auto begin = std::find_if(digits_.begin(), digits_.end(), [](int16_t d) { return d != 0; });
  weight_ -= static_cast<int>(begin - digits_.begin());
  digits_.erase(digits_.begin(), begin);
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  if (digits_.empty()) {
    weight_ = 0;
    negative_ = false;
  }
}

Decimal Decimal::Finish() && {
  Strip();
  if (weight_ > kWeightMax || weight_ < kWeightMin || scale_ > kNumericScaleMax) ThrowOverflow();
  return std::move(*this);
}

int Decimal::SignNumber() const {
  switch (kind_) {
    case Kind::kPositiveInfinity: return 1;
    case Kind::kNegativeInfinity: return -1;
    default: return digits_.empty() ? 0 : (negative_ ? -1 : 1);
  }
}

// ---------------------------------------------------------------- rounding --------------------

void Decimal::RoundTo(int scale) {
  scale_ = scale;
  const int64_t kept = (int64_t{weight_} + 1) * kBaseDecimals + scale;  // decimal digits
  if (kept < 0) {
    digits_.clear();
    return Strip();
  }
  int64_t count = (kept + kBaseDecimals - 1) / kBaseDecimals;
  const int in_last = static_cast<int>(kept % kBaseDecimals);
  const int64_t size = static_cast<int64_t>(digits_.size());
  if (count > size || (count == size && in_last == 0)) return;
  int carry = 0;
  if (in_last == 0) {
    carry = digits_[count] >= kBase / 2;
    digits_.resize(count);
  } else {
    digits_.resize(count);
    const int unit = kDecimalPowers[kBaseDecimals - in_last];
    int last = digits_[count - 1];
    const int extra = last % unit;
    last -= extra;
    if (extra >= unit / 2) last += unit;
    carry = last >= kBase;
    digits_[count - 1] = static_cast<int16_t>(carry != 0 ? last - kBase : last);
    --count;
  }
  while (carry != 0 && count > 0) {
    --count;
    carry = digits_[count] == kBase - 1;
    digits_[count] = static_cast<int16_t>(carry != 0 ? 0 : digits_[count] + 1);
  }
  if (carry != 0) {
    digits_.insert(digits_.begin(), 1);
    ++weight_;
  }
  Strip();
}

void Decimal::TruncateTo(int scale) {
  scale_ = scale;
  const int64_t kept = (int64_t{weight_} + 1) * kBaseDecimals + scale;
  if (kept <= 0) {
    digits_.clear();
    return Strip();
  }
  const int64_t count = (kept + kBaseDecimals - 1) / kBaseDecimals;
  const int in_last = static_cast<int>(kept % kBaseDecimals);
  if (count > static_cast<int64_t>(digits_.size())) return;
  digits_.resize(count);
  if (in_last != 0) {
    int16_t& last = digits_[count - 1];
    last = static_cast<int16_t>(last - last % kDecimalPowers[kBaseDecimals - in_last]);
  }
  Strip();
}

Decimal Decimal::Round(const Decimal& a, int scale) {
  if (a.kind_ != Kind::kFinite) return a;
  // The least scale leaves room for a carry out of the greatest weight.
  scale = std::clamp(scale, -(kWeightMax + 1) * kBaseDecimals - 1, kNumericScaleMax);
  Decimal result = a;
  result.RoundTo(scale);
  result.scale_ = std::max(scale, 0);
  return std::move(result).Finish();
}

Decimal Decimal::Truncate(const Decimal& a, int scale) {
  if (a.kind_ != Kind::kFinite) return a;
  scale = std::clamp(scale, -(kWeightMax + 1) * kBaseDecimals, kNumericScaleMax);
  Decimal result = a;
  result.TruncateTo(scale);
  result.scale_ = std::max(scale, 0);
  return std::move(result).Finish();
}

Decimal Decimal::Floor(const Decimal& a) {
  Decimal result = Truncate(a, 0);
  if (a.kind_ != Kind::kFinite || !a.negative_ || CompareMagnitude(a, result) == 0) return result;
  return Subtract(result, FromInteger(1));
}

Decimal Decimal::Ceil(const Decimal& a) {
  Decimal result = Truncate(a, 0);
  if (a.kind_ != Kind::kFinite || a.negative_ || CompareMagnitude(a, result) == 0) return result;
  return Add(result, FromInteger(1));
}

// Errors have PostgreSQL's texts. Digits are counted after rounding: 9.99 as numeric(2, 1) overflows.
Decimal Decimal::ApplyTypmod(const Decimal& a, int precision, int scale) {
  if (a.kind_ == Kind::kNaN) return a;
  if (a.kind_ != Kind::kFinite) {
    throw EngineError(PENUMBRA_NUMERIC_FIELD_OVERFLOW, "A field with precision " + std::to_string(precision) +
                                                           ", scale " + std::to_string(scale) +
                                                           " cannot hold an infinite value.");
  }
  Decimal result = a;
  result.RoundTo(scale);
  result.scale_ = std::max(scale, 0);
  if (!result.digits_.empty()) {
    const int first = result.FirstDigit();
    const int leading_zeros = first < 10 ? 3 : first < 100 ? 2 : first < 1000 ? 1 : 0;
    const int digits_before_point = (result.weight_ + 1) * kBaseDecimals - leading_zeros;
    const int limit = precision - scale;
    if (digits_before_point > limit) {
      throw EngineError(PENUMBRA_NUMERIC_FIELD_OVERFLOW, "A field with precision " + std::to_string(precision) +
                                                             ", scale " + std::to_string(scale) +
                                                             " must round to an absolute value less than " +
                                                             (limit != 0 ? "10^" + std::to_string(limit) : "1") + ".");
    }
  }
  return std::move(result).Finish();
}

// ---------------------------------------------------------------- sign, order -----------------

Decimal Decimal::Negate(const Decimal& a) {
  if (a.kind_ == Kind::kPositiveInfinity) return Special(Kind::kNegativeInfinity);
  if (a.kind_ == Kind::kNegativeInfinity) return Special(Kind::kPositiveInfinity);
  Decimal result = a;
  result.negative_ = !a.digits_.empty() && !a.negative_;
  return result;
}

Decimal Decimal::Abs(const Decimal& a) {
  if (a.kind_ == Kind::kNegativeInfinity) return Special(Kind::kPositiveInfinity);
  Decimal result = a;
  result.negative_ = false;
  return result;
}

Decimal Decimal::Sign(const Decimal& a) {
  if (a.kind_ == Kind::kNaN) return a;
  return FromInteger(a.SignNumber());
}

int Decimal::CompareMagnitude(const Decimal& a, const Decimal& b) {
  if (a.digits_.empty() || b.digits_.empty()) {
    return static_cast<int>(!a.digits_.empty()) - static_cast<int>(!b.digits_.empty());
  }
  if (a.weight_ != b.weight_) return a.weight_ < b.weight_ ? -1 : 1;
  // Both are stripped, so the order of the digit strings is that of the values.
  const auto order =
      std::lexicographical_compare_three_way(a.digits_.begin(), a.digits_.end(), b.digits_.begin(), b.digits_.end());
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

int Decimal::Compare(const Decimal& a, const Decimal& b) {
  if (a.kind_ != Kind::kFinite || b.kind_ != Kind::kFinite) {
    const auto rank = [](Kind kind) {
      switch (kind) {
        case Kind::kNegativeInfinity: return 0;
        case Kind::kFinite: return 1;
        case Kind::kPositiveInfinity: return 2;
        default: return 3;
      }
    };
    const int difference = rank(a.kind_) - rank(b.kind_);
    return difference < 0 ? -1 : (difference > 0 ? 1 : 0);
  }
  const int sign_a = a.SignNumber();
  const int sign_b = b.SignNumber();
  if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
  const int order = CompareMagnitude(a, b);
  return sign_a < 0 ? -order : order;
}

// ---------------------------------------------------------------- sums, products --------------

Decimal Decimal::AddMagnitudes(const Decimal& a, const Decimal& b) {
  Decimal result;
  if (a.digits_.empty() || b.digits_.empty()) {
    result = a.digits_.empty() ? b : a;
    return result;
  }
  const int high = std::max(a.weight_, b.weight_) + 1;  // room for the carry
  const int low = std::min(a.LowExponent(), b.LowExponent());
  result.weight_ = high;
  result.digits_.assign(high - low + 1, 0);
  for (size_t i = 0; i < a.digits_.size(); ++i) result.digits_[high - a.weight_ + i] = a.digits_[i];
  for (size_t i = 0; i < b.digits_.size(); ++i) result.digits_[high - b.weight_ + i] += b.digits_[i];
  for (size_t i = result.digits_.size() - 1; i > 0; --i) {
    if (result.digits_[i] >= kBase) {
      result.digits_[i] -= kBase;
      ++result.digits_[i - 1];
    }
  }
  return result;
}

Decimal Decimal::SubtractMagnitudes(const Decimal& a, const Decimal& b) {
  if (b.digits_.empty()) return a;
  Decimal result;
  const int high = a.weight_;
  const int low = std::min(a.LowExponent(), b.LowExponent());
  result.weight_ = high;
  result.digits_.assign(high - low + 1, 0);
  for (size_t i = 0; i < a.digits_.size(); ++i) result.digits_[i] = a.digits_[i];
  for (size_t i = 0; i < b.digits_.size(); ++i) result.digits_[high - b.weight_ + i] -= b.digits_[i];
  for (size_t i = result.digits_.size() - 1; i > 0; --i) {
    if (result.digits_[i] < 0) {
      result.digits_[i] += kBase;
      --result.digits_[i - 1];
    }
  }
  return result;
}

Decimal Decimal::AddFinite(const Decimal& a, const Decimal& b, bool subtract) {
  const bool negative_b = b.negative_ != subtract;
  Decimal result;
  if (a.negative_ == negative_b || b.digits_.empty()) {
    result = AddMagnitudes(a, b);
    result.negative_ = a.digits_.empty() ? negative_b : a.negative_;
  } else if (CompareMagnitude(a, b) >= 0) {
    result = SubtractMagnitudes(a, b);
    result.negative_ = a.negative_;
  } else {
    result = SubtractMagnitudes(b, a);
    result.negative_ = negative_b;
  }
  result.kind_ = Kind::kFinite;
  result.scale_ = std::max(a.scale_, b.scale_);
  result.Strip();
  return result;
}

Decimal Decimal::AddAny(const Decimal& a, const Decimal& b, bool subtract) {
  if (a.kind_ == Kind::kFinite && b.kind_ == Kind::kFinite) return AddFinite(a, b, subtract).Finish();
  if (a.kind_ == Kind::kNaN || b.kind_ == Kind::kNaN) return Special(Kind::kNaN);
  const Decimal& addend = subtract ? Negate(b) : b;
  if (a.kind_ == Kind::kFinite) return addend;
  if (addend.kind_ == Kind::kFinite || addend.kind_ == a.kind_) return a;
  return Special(Kind::kNaN);
}

Decimal Decimal::Add(const Decimal& a, const Decimal& b) { return AddAny(a, b, false); }
Decimal Decimal::Subtract(const Decimal& a, const Decimal& b) { return AddAny(a, b, true); }

Decimal Decimal::MultiplyFinite(const Decimal& a, const Decimal& b) {
  Decimal result;
  result.scale_ = a.scale_ + b.scale_;
  if (a.digits_.empty() || b.digits_.empty()) return result;
  const size_t size_a = a.digits_.size();
  const size_t size_b = b.digits_.size();
  // A column sums at most 2^15 products below 10^8 each, far from 2^64.
  std::vector<uint64_t> columns(size_a + size_b, 0);
  for (size_t i = 0; i < size_a; ++i) {
    const uint64_t factor = static_cast<uint64_t>(a.digits_[i]);
    if (factor == 0) continue;
    for (size_t j = 0; j < size_b; ++j) columns[i + j + 1] += factor * static_cast<uint64_t>(b.digits_[j]);
  }
  result.digits_.resize(columns.size());
  uint64_t carry = 0;
  for (size_t i = columns.size(); i-- > 0;) {
    carry += columns[i];
    result.digits_[i] = static_cast<int16_t>(carry % kBase);
    carry /= kBase;
  }
  result.weight_ = a.weight_ + b.weight_ + 1;
  result.negative_ = a.negative_ != b.negative_;
  result.Strip();
  return result;
}

Decimal Decimal::Multiply(const Decimal& a, const Decimal& b) {
  if (a.kind_ == Kind::kFinite && b.kind_ == Kind::kFinite) {
    Decimal result = MultiplyFinite(a, b);
    if (result.scale_ > kNumericScaleMax) result.RoundTo(kNumericScaleMax);
    return std::move(result).Finish();
  }
  if (a.kind_ == Kind::kNaN || b.kind_ == Kind::kNaN) return Special(Kind::kNaN);
  const int sign = a.SignNumber() * b.SignNumber();
  if (sign == 0) return Special(Kind::kNaN);
  return Special(sign > 0 ? Kind::kPositiveInfinity : Kind::kNegativeInfinity);
}

}  // namespace penumbra

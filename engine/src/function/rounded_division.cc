#include "function/rounded_division.h"

#include <algorithm>

namespace penumbra {
namespace {

// What is added to a magnitude below zero and to one above before the division truncates it.
struct RoundingAddends {
  uint64_t negative;
  uint64_t positive;
};

RoundingAddends AddendsFor(Rounding rounding, uint64_t unit) {
  switch (rounding) {
    case Rounding::kHalfAway: return {unit / 2, unit / 2};
    case Rounding::kTruncate: return {0, 0};
    case Rounding::kFloor: return {unit - 1, 0};
    case Rounding::kCeil: return {0, unit - 1};
  }
  return {0, 0};
}

// Without branches: signs come in any order.
template <typename Divide>
void ComputeRows(const RoundedDivision& division, const int64_t* values, uint32_t rows, Divide divide, int64_t* out) {
  const RoundingAddends addends = AddendsFor(division.rounding, division.divisor);
  const uint64_t negation = division.is_negated ? ~uint64_t{0} : 0;
  for (uint32_t i = 0; i < rows; ++i) {
    const uint64_t sign = values[i] < 0 ? ~uint64_t{0} : 0;
    const uint64_t result_sign = sign ^ negation;
    const uint64_t magnitude = (static_cast<uint64_t>(values[i]) ^ sign) - sign;
    const uint64_t addend = (result_sign & addends.negative) | (~result_sign & addends.positive);
    const uint64_t rounded = divide(magnitude * division.factor + addend) * division.back;
    out[i] = static_cast<int64_t>((rounded ^ result_sign) - result_sign);
  }
}

}  // namespace

bool RoundedDivision::Takes(const Vector& v) const {
  const uint128 greatest = std::max(Magnitude(v.lower), Magnitude(v.upper));
  return greatest < kWordMagnitudeLimit && divisor < kWordMagnitudeLimit && factor < kWordMagnitudeLimit &&
         greatest * factor + divisor < kWordMagnitudeLimit;
}

int128 RoundedDivision::ComputeOne(int128 value) const {
  const bool is_negative = (value < 0) != is_negated;
  const RoundingAddends addends = AddendsFor(rounding, divisor);
  const uint128 dividend = Magnitude(value) * factor + (is_negative ? addends.negative : addends.positive);
  return WithSign(dividend / divisor * back, is_negative);
}

void RoundedDivision::Compute(const int64_t* values, uint32_t rows, int64_t* out) const {
  if (divisor == 1) {
    ComputeRows(*this, values, rows, [](uint64_t dividend) { return dividend; }, out);
  } else {
    const NarrowDivider divider(divisor);
    ComputeRows(*this, values, rows, [divider](uint64_t dividend) { return divider.Divide(dividend); }, out);
  }
}

}  // namespace penumbra

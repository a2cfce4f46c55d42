// Products of long numbers: scalar columns, vector columns, Fourier transforms. See
// penumbra/digits.h.
#include <algorithm>

#include "multiplication.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "multiply.cc"
#include <hwy/foreach_target.h>

#include "digit_columns-inl.h"
#include "fourier-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {
namespace {

HWY_EXPORT(MultiplyColumns);
HWY_EXPORT(AddBalancedDigits);
HWY_EXPORT(Transform);
HWY_EXPORT(Invert);
HWY_EXPORT(MultiplyTransformed);
HWY_EXPORT(RoundToIntegers);

// Measured, see README.md. Limbs of the shorter operand.
constexpr size_t kVectorColumnsFrom = 9;
constexpr size_t kFourierFrom = 220;
static_assert(kFourierFrom <= kColumnLimbsMax);
static_assert(2 * kColumnLimbsMax * uint128{kHalfLimbBase - 1} * (kHalfLimbBase - 1) <= UINT64_MAX,
              "a column of half limbs must not overflow");

constexpr size_t kDigitsPerLimb = PENUMBRA_DIGITS_PER_LIMB;

size_t PaddedColumns(size_t limbs) { return 2 * limbs + 2 * kColumnPadding; }

// Coefficients of a product by transforms: modulo X^main + 1, and what is above modulo X^rest + 1.
struct FourierSize {
  size_t main;
  size_t rest;
};

FourierSize ChooseFourierSize(size_t coefficients) {
  size_t main = 2 * kFourierPointsMin;
  while (main < coefficients && main < 2 * kFourierPointsMax) main *= 2;
  if (coefficients <= main / 2 + main / 8) return {main / 2, main / 8};
  if (coefficients <= main / 2 + main / 4) return {main / 2, main / 4};
  if (coefficients <= main) return {main, 0};
  return {main, coefficients <= main + main / 4 ? main / 4 : main / 2};
}
static_assert(PENUMBRA_LIMBS_MAX * kDigitsPerLimb == 3 * kFourierPointsMax);

// Few limbs: column by column with 64 x 64 bit multiplications.
void MultiplyScalar(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* product) {
  uint128 carry = 0;
  for (size_t k = 0; k + 1 < a_limbs + b_limbs; ++k) {
    const size_t begin = k + 1 > b_limbs ? k + 1 - b_limbs : 0;
    const size_t end = std::min(a_limbs, k + 1);
    for (size_t i = begin; i < end; ++i) carry += uint128{a[i]} * b[k - i];
    const SplitLimb split = SplitByBase(carry);
    product[k] = split.low;
    carry = split.high;
  }
  product[a_limbs + b_limbs - 1] = static_cast<uint64_t>(carry);
}

void ToHalves(const uint64_t* limbs, size_t n, uint64_t* halves) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t high = limbs[i] / kHalfLimbBase;
    halves[2 * i] = limbs[i] - high * kHalfLimbBase;
    halves[2 * i + 1] = high;
  }
}

// The columns of the limb below those that are wanted make the carry; what is below that would add
// 10^-4 units.
void MultiplyByColumns(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, size_t dropped,
                       uint64_t* product, uint64_t* scratch) {
  const size_t first = dropped > 0 ? dropped - 1 : 0;
  uint64_t* b_halves = scratch + kColumnPadding;
  uint64_t* a_halves = b_halves + 2 * b_limbs + kColumnPadding;
  uint64_t* columns = a_halves + 2 * a_limbs;
  std::fill_n(scratch, kColumnPadding, 0);
  std::fill_n(b_halves + 2 * b_limbs, kColumnPadding, 0);
  ToHalves(a, a_limbs, a_halves);
  ToHalves(b, b_limbs, b_halves);
  HWY_DYNAMIC_DISPATCH(MultiplyColumns)
  (a_halves, 2 * a_limbs, b_halves, 2 * b_limbs, 2 * first, columns);

  uint64_t high = 0;
  uint64_t carry = 0;
  for (size_t i = first; i < a_limbs + b_limbs; ++i) {
    const SplitLimb split = SplitByBase(uint128{columns[2 * i + 1]} * kHalfLimbBase + columns[2 * i]);
    const uint64_t limb = split.low + high + carry;
    carry = limb >= kLimbBase ? 1 : 0;
    product[i] = carry != 0 ? limb - kLimbBase : limb;
    high = split.high;
  }
}

void SplitDigits(const uint64_t* limbs, size_t n, int32_t* digits) {
  for (size_t i = 0; i < n; ++i, digits += kDigitsPerLimb) {
    const auto high = static_cast<uint32_t>(limbs[i] / kHalfLimbBase);
    const auto low = static_cast<uint32_t>(limbs[i] - high * kHalfLimbBase);
    digits[0] = static_cast<int32_t>(low % 10000);
    digits[1] = static_cast<int32_t>(low / 10000);
    digits[2] = static_cast<int32_t>(high % 10000);
    digits[3] = static_cast<int32_t>(high / 10000);
  }
}

// The digits of a number as a polynomial modulo X^n + 1. Digits from 5,000 on are taken as negative
// and carry, but for the last; the transforms' error bound rests on that.
void LoadPolynomial(const uint64_t* limbs, size_t limb_count, double* data, size_t n) {
  constexpr size_t kBlockMax = 64;
  const size_t block = std::min(kBlockMax, n / kDigitsPerLimb);
  int32_t digits[1 + kBlockMax * kDigitsPerLimb];  // the first is the last of the block before
  digits[0] = 0;
  std::fill_n(data, n, 0);
  size_t at = 0;
  double sign = 1;
  for (size_t i = 0; i < limb_count; i += block) {
    const size_t limb_count_here = std::min(block, limb_count - i);
    const size_t count = limb_count_here * kDigitsPerLimb;
    SplitDigits(limbs + i, limb_count_here, digits + 1);
    HWY_DYNAMIC_DISPATCH(AddBalancedDigits)(digits + 1, count, sign, data + at);
    digits[0] = digits[count];
    if (i + block >= limb_count && digits[0] >= kBalancedDigitEnd) {
      data[at + count - 1] += sign * kDigitBase;
    }
    at += count;
    if (at == n) {
      at = 0;
      sign = -sign;
    }
  }
}

// coefficients = the product modulo X^n + 1; they may be where x is.
void MultiplyPolynomials(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, size_t n, double* x,
                         double* y, int64_t* coefficients) {
  LoadPolynomial(a, a_limbs, x, n);
  HWY_DYNAMIC_DISPATCH(Transform)(x, n / 2);
  if (a == b && a_limbs == b_limbs) {
    y = x;
  } else {
    LoadPolynomial(b, b_limbs, y, n);
    HWY_DYNAMIC_DISPATCH(Transform)(y, n / 2);
  }
  HWY_DYNAMIC_DISPATCH(MultiplyTransformed)(x, y, n / 2);
  HWY_DYNAMIC_DISPATCH(Invert)(x, n / 2);
  HWY_DYNAMIC_DISPATCH(RoundToIntegers)(x, n, coefficients);
}

// With R = low + X^main high: R = low - high modulo X^main + 1, in `low`, and R = low' + high
// modulo X^rest + 1, in `high`, where low' is low reduced; main / rest is even.
void JoinResidues(FourierSize size, int64_t* low, int64_t* high) {
  for (size_t i = 0; i < size.rest; ++i) {
    int64_t reduced = 0;
    for (size_t k = i; k < size.main; k += 2 * size.rest) reduced += low[k] - low[k + size.rest];
    high[i] = (high[i] - reduced) / 2;
    low[i] += high[i];
  }
}

void CarryCoefficients(const int64_t* coefficients, uint64_t* limbs, size_t limb_count) {
  int64_t high = 0;
  int64_t carry = 0;
  for (size_t i = 0; i < limb_count; ++i) {
    const int64_t* c = coefficients + kDigitsPerLimb * i;
    const int64_t low_half = c[0] + c[1] * 10000;
    const int64_t high_half = c[2] + c[3] * 10000;
    const SignedSplitLimb split = SplitByBase(int128{high_half} * kHalfLimbBase + low_half);
    const int64_t limb = static_cast<int64_t>(split.low) + high + carry;
    constexpr auto kBase = static_cast<int64_t>(kLimbBase);
    carry = limb < 0 ? -1 : limb >= kBase ? 1 : 0;
    limbs[i] = static_cast<uint64_t>(limb - carry * kBase);
    high = split.high;
  }
}

void MultiplyByTransforms(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* product,
                          double* scratch) {
  const FourierSize size = ChooseFourierSize((a_limbs + b_limbs) * kDigitsPerLimb);
  double* second = scratch + size.main;
  auto* coefficients = reinterpret_cast<int64_t*>(scratch);
  MultiplyPolynomials(a, a_limbs, b, b_limbs, size.main, scratch, second, coefficients);
  if (size.rest > 0) {
    int64_t* rest = coefficients + size.main;
    MultiplyPolynomials(a, a_limbs, b, b_limbs, size.rest, second, second + size.rest, rest);
    JoinResidues(size, coefficients, rest);
  }
  CarryCoefficients(coefficients, product, a_limbs + b_limbs);
}

}  // namespace

Multiplication ChooseMultiplication(size_t shorter_limbs) {
  if (shorter_limbs >= kFourierFrom) return Multiplication::kTransforms;
  return shorter_limbs >= kVectorColumnsFrom ? Multiplication::kColumns : Multiplication::kScalar;
}

size_t MultiplicationScratchBytes(Multiplication method, size_t a_limbs, size_t b_limbs) {
  if (method == Multiplication::kScalar) return 0;
  if (method == Multiplication::kTransforms) {
    return 2 * ChooseFourierSize((a_limbs + b_limbs) * kDigitsPerLimb).main * sizeof(double);
  }
  // the halves of one, those of the other with zeros around, the columns up to a whole step
  return (2 * a_limbs + PaddedColumns(b_limbs) + PaddedColumns(a_limbs + b_limbs)) * sizeof(uint64_t);
}

void MultiplyBy(Multiplication method, const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs,
                size_t dropped, uint64_t* product, void* scratch) {
  switch (method) {
    case Multiplication::kScalar: return MultiplyScalar(a, a_limbs, b, b_limbs, product);
    case Multiplication::kColumns:
      return MultiplyByColumns(a, a_limbs, b, b_limbs, dropped, product, static_cast<uint64_t*>(scratch));
    case Multiplication::kTransforms:
      return MultiplyByTransforms(a, a_limbs, b, b_limbs, product, static_cast<double*>(scratch));
  }
}

}  // namespace penumbra::kernels

namespace k = penumbra::kernels;

extern "C" {

size_t penumbra_limbs_multiply_scratch_bytes(size_t a_limbs, size_t b_limbs) {
  const auto [shorter, longer] = std::minmax(a_limbs, b_limbs);
  return k::MultiplicationScratchBytes(k::ChooseMultiplication(shorter), shorter, longer);
}

void penumbra_limbs_multiply(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* product,
                             void* scratch) {
  penumbra_limbs_multiply_high(a, a_limbs, b, b_limbs, 0, product, scratch);
}

void penumbra_limbs_multiply_high(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, size_t dropped,
                                  uint64_t* product, void* scratch) {
  if (a_limbs > b_limbs) {
    std::swap(a, b);
    std::swap(a_limbs, b_limbs);
  }
  if (a_limbs == 0) {
    std::fill_n(product, b_limbs, 0);
  } else {
    k::MultiplyBy(k::ChooseMultiplication(a_limbs), a, a_limbs, b, b_limbs, dropped, product, scratch);
  }
}

}  // extern "C"
#endif

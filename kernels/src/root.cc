// Square roots of long numbers: Zimmermann's Karatsuba square root, by division. See
// penumbra/digits.h.
#include <algorithm>
#include <cmath>

#include "limb.h"
#include "scratch.h"

namespace penumbra::kernels {
namespace {

// The root of a number below 10^32, rounded down.
uint64_t RootOfTwoLimbs(uint128 value) {
  auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(value)));
  // The double is right to some ten units; a step of Newton's makes it right to one.
  if (root > 0) root = static_cast<uint64_t>((root + value / root) / 2);
  while (uint128{root} * root > value) --root;
  while (uint128{root + 1} * (root + 1) <= value) ++root;
  return root;
}

uint64_t RootAndRemainder(uint64_t* a, size_t n, uint64_t* root, Scratch scratch);

// The root of a's 2 * high highest limbs goes into root + low; what is left is in a + 2 * low.
// Returned is 1 if the root was subtracted from it once to fit `high` limbs.
uint64_t RootOfHighHalf(uint64_t* a, size_t low, size_t high, uint64_t* root, Scratch scratch) {
  const uint64_t carry = RootAndRemainder(a + 2 * low, high, root + low, scratch);
  if (carry != 0) penumbra_limbs_subtract(a + 2 * low, high, root + low, high, a + 2 * low);
  return carry;
}

// After RootOfHighHalf the low half of the root, which is half the quotient of the remainder and
// the next limbs by the high half; and the remainder, as RootAndRemainder.
uint64_t RootOfLowHalf(uint64_t* a, size_t low, size_t high, uint64_t carry, uint64_t* root, Scratch scratch) {
  constexpr uint64_t kOne = 1;
  const size_t n = low + high;
  uint64_t* high_root = root + low;
  uint64_t* quotient = scratch.Take(low + 1);
  penumbra_limbs_divide(a + low, n, high_root, high, quotient, a + low, scratch.Rest());
  quotient[low] += carry;
  const uint64_t odd = penumbra_limbs_divide_small(quotient, low + 1, 2, quotient);
  int64_t sign = 0;
  if (odd != 0) sign = static_cast<int64_t>(penumbra_limbs_add(a + low, high, high_root, high, a + low));
  std::copy_n(quotient, low, root);

  uint64_t* square = scratch.Take(2 * low);
  penumbra_limbs_multiply(root, low, root, low, square, scratch.Rest());
  // The half quotient may be base^low, of which the digits are zero and the square is base^2low.
  uint64_t borrow = quotient[low] + penumbra_limbs_subtract(a, 2 * low, square, 2 * low, a);
  if (low != high) borrow = penumbra_limbs_subtract(a + 2 * low, 1, &borrow, 1, a + 2 * low);
  sign -= static_cast<int64_t>(borrow);
  if (sign < 0) {
    int64_t above = static_cast<int64_t>(penumbra_limbs_add(high_root, high, quotient + low, 1, high_root));
    while (sign < 0) {
      sign += static_cast<int64_t>(penumbra_limbs_add(a, n, root, n, a)) + above;
      above -= static_cast<int64_t>(penumbra_limbs_subtract(root, n, &kOne, 1, root));
      sign += static_cast<int64_t>(penumbra_limbs_add(a, n, root, n, a)) + above;
    }
  }
  return static_cast<uint64_t>(sign);
}

// The same without the remainder: with s the high half times base^low, r what is left, and x = q +
// f the quotient of r by 2 s, the low half of the root is x - x^2 / 2 s, of which the last term is
// below 1. False, and nothing done, if that is too near to a whole number.
bool RootOfLowHalfAlone(const uint64_t* a, size_t low, size_t high, uint64_t carry, uint64_t* root, Scratch scratch) {
  constexpr double kSure = 1e-12;
  constexpr uint64_t kOne = 1;
  constexpr auto kBase = static_cast<double>(kLimbBase);
  uint64_t* quotient = scratch.Take(low + 1);
  double fraction = penumbra_limbs_quotient(a + low, low + high, root + low, high, quotient, scratch.Rest());
  quotient[low] += carry;
  fraction += static_cast<double>(penumbra_limbs_divide_small(quotient, low + 1, 2, quotient));
  fraction /= 2;
  const double x = static_cast<double>(quotient[low - 1]) / kBase;
  const double s = static_cast<double>(root[low + high - 1]) / kBase;
  const double left = low == high ? fraction - x * x / (2 * s) : fraction;
  if (quotient[low] != 0 || std::abs(left) < kSure) return false;
  std::copy_n(quotient, low, root);
  if (left < 0) penumbra_limbs_subtract(root, low, &kOne, 1, root);
  return true;
}

// root^2 + remainder = a, a of 2 n limbs with the highest at least a quarter of the base. The
// remainder, at most twice the root, is left in the n lowest limbs of a; returned is what it has
// above them.
uint64_t RootAndRemainder(uint64_t* a, size_t n, uint64_t* root, Scratch scratch) {
  if (n == 1) {
    const uint128 value = uint128{a[1]} * kLimbBase + a[0];
    *root = RootOfTwoLimbs(value);
    const SplitLimb split = SplitByBase(value - uint128{*root} * *root);
    a[0] = split.low;
    return split.high;
  }
  const size_t low = n / 2;
  const uint64_t carry = RootOfHighHalf(a, low, n - low, root, scratch);
  return RootOfLowHalf(a, low, n - low, carry, root, scratch);
}

void Root(uint64_t* a, size_t n, uint64_t* root, Scratch scratch) {
  const size_t low = n / 2;
  if (low == 0) {
    RootAndRemainder(a, n, root, scratch);
    return;
  }
  const uint64_t carry = RootOfHighHalf(a, low, n - low, root, scratch);
  if (!RootOfLowHalfAlone(a, low, n - low, carry, root, scratch)) {
    RootOfLowHalf(a, low, n - low, carry, root, scratch);
  }
}

}  // namespace
}  // namespace penumbra::kernels

namespace k = penumbra::kernels;

extern "C" {

size_t penumbra_limbs_root_scratch_bytes(size_t root_limbs) {
  // a copy of the number; then the quotient, the square, and what multiplies or divides
  const size_t limbs = 2 * root_limbs + 2 * root_limbs + 8 + k::MultiplyScratchBound(root_limbs + 1);
  return limbs * sizeof(uint64_t) + penumbra_limbs_divide_scratch_bytes(root_limbs, (root_limbs + 1) / 2) +
         penumbra_limbs_divide_scratch_bytes(root_limbs / 2 + 1, root_limbs / 4 + 1);
}

void penumbra_limbs_root(const uint64_t* a, size_t root_limbs, uint64_t* root, void* memory) {
  k::Scratch scratch(memory);
  const size_t n = 2 * root_limbs;
  uint64_t* scaled = scratch.Take(n);
  // a 4^i, which has a root 2^i times as large.
  const k::uint128 top = k::uint128{a[n - 1]} * k::kLimbBase + a[n - 2] + 1;
  uint64_t root_factor = 1;
  while (top * root_factor * root_factor <= k::uint128{k::kLimbBase} * (k::kLimbBase / 4)) root_factor *= 2;
  penumbra_limbs_multiply_small(a, n, root_factor * root_factor, 0, scaled);
  if (scaled[n - 1] < k::kLimbBase / 4) {
    penumbra_limbs_multiply_small(scaled, n, 4, 0, scaled);
    root_factor *= 2;
  }
  k::Root(scaled, root_limbs, root, scratch);
  penumbra_limbs_divide_small(root, root_limbs, root_factor, root);
}

}  // extern "C"

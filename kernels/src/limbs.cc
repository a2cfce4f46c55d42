// Numbers of limbs: conversion, and operations that take one pass. See penumbra/digits.h.
#include <algorithm>

#include "limb.h"

namespace k = penumbra::kernels;

extern "C" {

void penumbra_limbs_from_digits(const int16_t* digits, size_t digit_count, uint64_t* limbs) {
  const size_t whole = digit_count / 4;
  const int16_t* end = digits + digit_count;
  for (size_t i = 0; i < whole; ++i) {
    end -= 4;
    const auto high = static_cast<uint32_t>(end[0] * 10000 + end[1]);
    const auto low = static_cast<uint32_t>(end[2] * 10000 + end[3]);
    limbs[i] = high * k::kHalfLimbBase + low;
  }
  if (digit_count % 4 != 0) {
    uint64_t limb = 0;
    for (; digits < end; ++digits) limb = limb * 10000 + static_cast<uint64_t>(*digits);
    limbs[whole] = limb;
  }
}

void penumbra_limbs_to_digits(const uint64_t* limbs, size_t limb_count, int16_t* digits) {
  for (size_t i = limb_count; i-- > 0; digits += 4) {
    const auto high = static_cast<uint32_t>(limbs[i] / k::kHalfLimbBase);
    const auto low = static_cast<uint32_t>(limbs[i] - high * k::kHalfLimbBase);
    digits[0] = static_cast<int16_t>(high / 10000);
    digits[1] = static_cast<int16_t>(high % 10000);
    digits[2] = static_cast<int16_t>(low / 10000);
    digits[3] = static_cast<int16_t>(low % 10000);
  }
}

int penumbra_limbs_compare(const uint64_t* a, const uint64_t* b, size_t n) {
  for (size_t i = n; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

uint64_t penumbra_limbs_add(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs, uint64_t* sum) {
  uint64_t carry = 0;
  for (size_t i = 0; i < a_limbs; ++i) {
    const uint64_t limb = a[i] + (i < b_limbs ? b[i] : 0) + carry;
    carry = limb >= k::kLimbBase ? 1 : 0;
    sum[i] = carry != 0 ? limb - k::kLimbBase : limb;
  }
  return carry;
}

uint64_t penumbra_limbs_subtract(const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs,
                                 uint64_t* difference) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < a_limbs; ++i) {
    const uint64_t limb = a[i] - (i < b_limbs ? b[i] : 0) - borrow;
    borrow = limb >> 63;
    difference[i] = borrow != 0 ? limb + k::kLimbBase : limb;
  }
  return borrow;
}

uint64_t penumbra_limbs_multiply_small(const uint64_t* a, size_t n, uint64_t factor, uint64_t addend,
                                       uint64_t* product) {
  // The products are split on their own, so that only an addition waits for the limb before.
  uint64_t high = addend;
  uint64_t carry = 0;
  for (size_t i = 0; i < n; ++i) {
    const k::SplitLimb split = k::SplitByBase(k::uint128{a[i]} * factor);
    const uint64_t limb = split.low + high + carry;
    carry = limb >= k::kLimbBase ? 1 : 0;
    product[i] = carry != 0 ? limb - k::kLimbBase : limb;
    high = split.high;
  }
  return high + carry;
}

// A division of 128 bits is slow, so it is used only where 64 bits do not hold the dividend. Powers of two are shifts.
uint64_t penumbra_limbs_divide_small(const uint64_t* a, size_t n, uint64_t divisor, uint64_t* quotient) {
  uint64_t remainder = 0;
  if ((divisor & (divisor - 1)) == 0) {
    const int shift = __builtin_ctzll(divisor);
    for (size_t i = n; i-- > 0;) {
      const k::uint128 value = k::uint128{remainder} * k::kLimbBase + a[i];
      quotient[i] = static_cast<uint64_t>(value >> shift);
      remainder = static_cast<uint64_t>(value) & (divisor - 1);
    }
    return remainder;
  }
  for (size_t i = n; i-- > 0;) {
    const k::uint128 value = k::uint128{remainder} * k::kLimbBase + a[i];
    if (value >> 64 == 0) {
      quotient[i] = static_cast<uint64_t>(value) / divisor;
    } else {
      quotient[i] = static_cast<uint64_t>(value / divisor);
    }
    remainder = static_cast<uint64_t>(value - k::uint128{quotient[i]} * divisor);
  }
  return remainder;
}

}  // extern "C"

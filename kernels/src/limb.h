// Arithmetic on a limb of base 10^16.
#pragma once

#include <cstdint>

#include "penumbra/digits.h"

namespace penumbra::kernels {

inline constexpr uint64_t kLimbBase = PENUMBRA_LIMB_BASE;
inline constexpr uint64_t kHalfLimbBase = 100'000'000;

using uint128 = unsigned __int128;
using int128 = __int128;

struct SplitLimb {
  uint64_t high;
  uint64_t low;
};

// value = high * base + low, for value < 2^117. The estimate of the quotient drops 53 bits of the
// value (below 0.91 of the base), and the reciprocal has 64 bits, an error below 1; with the two
// floors it is at most 2 too small.
inline SplitLimb SplitByBase(uint128 value) {
  constexpr auto kReciprocal = static_cast<uint64_t>((uint128{1} << 117) / kLimbBase);
  const auto shifted = static_cast<uint64_t>(value >> 53);
  auto high = static_cast<uint64_t>((uint128{shifted} * kReciprocal) >> 64);
  uint64_t low = static_cast<uint64_t>(value) - high * kLimbBase;
  for (int i = 0; i < 2; ++i) {
    const bool less = low < kLimbBase;
    high += !less;
    low -= less ? 0 : kLimbBase;
  }
  return {high, low};
}

struct SignedSplitLimb {
  int64_t high;
  uint64_t low;
};

// The same for any sign, rounding down; |value| < 2^115.
inline SignedSplitLimb SplitByBase(int128 value) {
  constexpr uint64_t kBias = uint64_t{1} << 62;  // times the base: more than 2^115
  constexpr int128 kBiasTimesBase = int128{kBias} * kLimbBase;
  const SplitLimb split = SplitByBase(static_cast<uint128>(value + kBiasTimesBase));
  return {static_cast<int64_t>(split.high - kBias), split.low};
}

// value / base within 3, for |value| < 2^115; faster.
inline int64_t DivideByBase(int128 value) {
  constexpr auto kReciprocal = static_cast<int64_t>((uint128{1} << 116) / kLimbBase);
  const auto shifted = static_cast<int64_t>(value >> 53);
  return static_cast<int64_t>((int128{shifted} * kReciprocal) >> 63);
}

}  // namespace penumbra::kernels

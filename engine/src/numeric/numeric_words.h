// Numbers of one or two machine words: powers of ten, decimals, and division of two words by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "vector/vector.h"

namespace penumbra {

constexpr int kMaxWordDigits = 19;  // 10^19 is below 2^64

struct WordPowers {
  uint64_t of_ten[kMaxWordDigits + 1];
};
constexpr WordPowers MakeWordPowers() {
  WordPowers powers = {};
  uint64_t power = 1;
  for (uint64_t& slot : powers.of_ten) {
    slot = power;
    power *= 10;
  }
  return powers;
}
inline constexpr WordPowers kWordPowers = MakeWordPowers();

// How many decimal digits; 0 for zero.
inline int CountWordDecimals(uint64_t magnitude) {
  const int estimate = std::bit_width(magnitude) * 1233 >> 12;  // log10(2) from below: right or one too low
  return estimate + (magnitude >= kWordPowers.of_ten[estimate]);
}

// Divides integers up to 2^63 by a constant from 2 to 2^63 with a multiplication: with l = floor(log2(d)) and
// m = floor(2^(64+l) / d) + 1 the quotient is floor(n m / 2^(64+l)), because (m d - 2^(64+l)) n <= d 2^63 < 2^(64+l).
// Of a power of two such a factor has 65 bits. With half of it, and 2^(63+l), nothing is lost that n has.
class NarrowDivider {
 public:
  constexpr NarrowDivider() = default;
  constexpr explicit NarrowDivider(uint64_t divisor) {
    shift_ = std::bit_width(divisor) - 1 - std::has_single_bit(divisor);
    factor_ = static_cast<uint64_t>((static_cast<uint128>(1) << (64 + shift_)) / divisor) + 1;
  }
  uint64_t Divide(uint64_t dividend) const {
    return static_cast<uint64_t>((static_cast<uint128>(dividend) * factor_) >> 64) >> shift_;
  }

 private:
  uint64_t factor_ = 0;
  int shift_ = 0;
};

struct PowerOfTenDividers {
  NarrowDivider of[kMaxWordDigits + 1];
};
constexpr PowerOfTenDividers MakePowerOfTenDividers() {
  PowerOfTenDividers dividers;
  for (int i = 1; i <= kMaxWordDigits; ++i) dividers.of[i] = NarrowDivider(kWordPowers.of_ten[i]);
  return dividers;
}
inline constexpr PowerOfTenDividers kPowerOfTenDividers = MakePowerOfTenDividers();

// Divides by a word that is not zero, with its reciprocal: floor((2^128 - 1) / d) - 2^64 of the divisor d shifted to
// the top of its word. A quotient is then two multiplications and two corrections (Moeller and Granlund 2011), a third
// of what the processor's division of 128 bits takes, where there is one.
class WordDivisor {
 public:
  constexpr explicit WordDivisor(uint64_t divisor)
      : divisor_(divisor),
        shift_(std::countl_zero(divisor)),
        shifted_(divisor << shift_),
        reciprocal_(std::is_constant_evaluated() ? static_cast<uint64_t>(~uint128{0} / shifted_)
                                                 : FindReciprocal(shifted_)) {}
  constexpr uint64_t value() const { return divisor_; }

  uint128 Divide(uint128 dividend, uint64_t* remainder) const {
    const uint64_t top = static_cast<uint64_t>(dividend >> 64 >> (63 - shift_) >> 1);
    const uint128 shifted = dividend << shift_;
    uint64_t rest;
    const uint64_t high = DivideShifted(top, static_cast<uint64_t>(shifted >> 64), &rest);
    const uint64_t low = DivideShifted(rest, static_cast<uint64_t>(shifted), &rest);
    *remainder = rest >> shift_;
    return static_cast<uint128>(high) << 64 | low;
  }
  // A quotient of one word: dividend < value() * 2^64.
  uint64_t DivideToWord(uint128 dividend, uint64_t* remainder) const {
    const uint128 shifted = dividend << shift_;
    uint64_t rest;
    const uint64_t quotient =
        DivideShifted(static_cast<uint64_t>(shifted >> 64), static_cast<uint64_t>(shifted), &rest);
    *remainder = rest >> shift_;
    return quotient;
  }

 private:
  // Of a divisor with its highest bit set. A quotient in double is right to 2^12, and is taken from below. What it
  // leaves gives the rest to one, and the loop is there for that one.
  static uint64_t FindReciprocal(uint64_t divisor) {
    const double inverse = 0x1p64 / static_cast<double>(divisor);
    uint64_t reciprocal = static_cast<uint64_t>(std::max((inverse - 1) * 0x1p64 - 0x1p13, 0.0));
    uint128 rest = ~uint128{0} - (static_cast<uint128>(divisor) << 64) - static_cast<uint128>(reciprocal) * divisor;
    const uint64_t missing =
        static_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(rest >> 32)) * inverse * 0x1p-32);
    const uint64_t correction = missing - (missing != 0);
    reciprocal += correction;
    rest -= static_cast<uint128>(correction) * divisor;
    while (rest >= divisor) {
      ++reciprocal;
      rest -= divisor;
    }
    return reciprocal;
  }

  uint64_t DivideShifted(uint64_t high, uint64_t low, uint64_t* remainder) const {
    const uint128 estimate = static_cast<uint128>(reciprocal_) * high + (static_cast<uint128>(high + 1) << 64 | low);
    uint64_t quotient = static_cast<uint64_t>(estimate >> 64);
    uint64_t rest = low - quotient * shifted_;
    // As often as not, so without a branch.
    const uint64_t is_above = -uint64_t{rest > static_cast<uint64_t>(estimate)};
    quotient += is_above;
    rest += is_above & shifted_;
    if (rest >= shifted_) [[unlikely]] {
      ++quotient;
      rest -= shifted_;
    }
    *remainder = rest;
    return quotient;
  }

  uint64_t divisor_;
  int shift_;
  uint64_t shifted_;
  uint64_t reciprocal_;
};

}  // namespace penumbra

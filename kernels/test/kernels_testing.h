// Random inputs for the kernel tests, and the fixture that runs each test once per SIMD target.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/tests/hwy_gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace penumbra::kernels {

class KernelTest : public hwy::TestWithParamTarget {
 protected:
  std::mt19937_64 random{20260101};

  // Around word and vector boundaries of every target.
  static std::vector<size_t> Sizes() { return {0, 1, 7, 15, 63, 64, 65, 127, 128, 200, 1000, 2047, 2048, 2049}; }

  // A mixture of few distinct values, extremes and anything.
  template <typename T>
  std::vector<T> Values(size_t rows) {
    std::vector<T> values(rows);
    for (T& value : values) value = Value<T>();
    return values;
  }
  template <typename T>
  T Value() {
    uint64_t r = random();
    if constexpr (std::is_floating_point_v<T>) {
      using Limits = std::numeric_limits<T>;
      const T specials[] = {T(0),
                            T(-0.0),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            -Limits::quiet_NaN(),
                            Limits::max(),
                            Limits::denorm_min(),
                            T(1),
                            T(-1)};
      if (r % 2 == 0) return specials[(r >> 8) % 10];
      return static_cast<T>(static_cast<int64_t>(random()) >> 20);
    } else {
      switch (r % 4) {
        case 0: return static_cast<T>((r >> 8) % 5);
        case 1: return static_cast<T>(std::numeric_limits<T>::max() - (r >> 8) % 3);
        case 2: return static_cast<T>(std::numeric_limits<T>::min() + (r >> 8) % 3);
        default: return static_cast<T>(random());
      }
    }
  }
  // With garbage past the last row.
  std::vector<uint64_t> Bits(size_t rows, int density_percent) {
    std::vector<uint64_t> bits(BitmapWords(rows) + 1);
    for (uint64_t& word : bits) {
      for (int i = 0; i < 64; ++i) {
        word |= static_cast<uint64_t>(random() % 100 < static_cast<uint64_t>(density_percent)) << i;
      }
    }
    return bits;
  }
};

inline bool BitAt(const std::vector<uint64_t>& bits, size_t row) { return (bits[row / 64] >> (row % 64)) & 1; }

// The bitmap of a predicate on row numbers, with the guard word that a kernel may not touch.
template <typename Predicate>
std::vector<uint64_t> BitsOf(size_t rows, Predicate predicate) {
  std::vector<uint64_t> bits(BitmapWords(rows) + 1);
  for (size_t row = 0; row < rows; ++row) bits[row / 64] |= static_cast<uint64_t>(predicate(row)) << (row % 64);
  bits.back() = 0x5555;
  return bits;
}
inline std::vector<uint64_t> EmptyBits(size_t rows) {
  std::vector<uint64_t> bits(BitmapWords(rows) + 1, ~uint64_t{0});
  bits.back() = 0x5555;
  return bits;
}

}  // namespace penumbra::kernels

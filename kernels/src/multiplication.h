// What the parts of multiplication share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "limb.h"

namespace penumbra::kernels {

// The ways to multiply, and which one penumbra_limbs_multiply takes for a shorter operand of so
// many limbs. Columns take shorter operands of at most kColumnLimbsMax limbs.
enum class Multiplication { kScalar, kColumns, kTransforms };
inline constexpr size_t kColumnLimbsMax = 922;
Multiplication ChooseMultiplication(size_t shorter_limbs);
size_t MultiplicationScratchBytes(Multiplication method, size_t a_limbs, size_t b_limbs);
// 0 < a_limbs <= b_limbs; `dropped` limbs may be left out, see penumbra_limbs_multiply_high
void MultiplyBy(Multiplication method, const uint64_t* a, size_t a_limbs, const uint64_t* b, size_t b_limbs,
                size_t dropped, uint64_t* product, void* scratch);

// A vector of columns is at most this long.
inline constexpr size_t kColumnLanes = 8;
// Columns that a step of MultiplyColumns makes, at most.
inline constexpr size_t kColumnPadding = 4 * kColumnLanes;

// Digits that transforms work on are taken as from -5,000 to 5,000.
inline constexpr int32_t kDigitBase = 10000;
inline constexpr int32_t kBalancedDigitEnd = 5000;

// Sizes of the Fourier transforms: complex points.
inline constexpr size_t kFourierPointsMin = 64;
inline constexpr size_t kFourierPointsMax = size_t{1} << 15;

// The complex numbers exp(i pi t), t = 1/4, 1/8, 5/8, 1/16, 9/16, 5/16, 13/16, ...: entry 2^l + b
// splits block b of level l. In memory real parts, then imaginary ones; entry 0 is unused.
inline constexpr size_t kFourierRoots = size_t{1} << 14;
struct FourierRoots {
  double real[kFourierRoots];
  double imaginary[kFourierRoots];
};
extern const FourierRoots kRoots;

}  // namespace penumbra::kernels

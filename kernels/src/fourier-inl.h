// Products of polynomials by Fourier transforms in double precision. Why their rounded results are exact: README.md.
//
// Data of M complex points is an array of 2 M doubles, real parts first. A real polynomial modulo X^2M + 1 is, as it
// stands in memory, the complex one modulo X^M - i (its upper half times i). That is split into blocks
// X^m - s^2 = (X^m - s) (X^m + s), level by level, down to blocks of kBlock points; these are multiplied directly,
// which is as fast as the last levels and needs no shuffling of lanes.
#if defined(PENUMBRA_KERNELS_FOURIER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_FOURIER_INL_H_
#undef PENUMBRA_KERNELS_FOURIER_INL_H_
#else
#define PENUMBRA_KERNELS_FOURIER_INL_H_
#endif

#include "lanes-inl.h"
#include "multiply.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

using RealTag = hn::CappedTag<double, 8>;
using Reals = hn::Vec<RealTag>;

// Blocks of so many points are transformed whole before the next: they fit the first-level cache.
inline constexpr size_t kCachedPoints = 1024;

HWY_INLINE size_t BlockPoints() { return hn::Lanes(RealTag()) < 2 ? 2 : hn::Lanes(RealTag()); }

struct Complexes {
  Reals real;
  Reals imaginary;
};

HWY_INLINE Complexes LoadComplexes(const double* data, size_t points, size_t i) {
  return {hn::LoadU(RealTag(), data + i), hn::LoadU(RealTag(), data + points + i)};
}
HWY_INLINE void StoreComplexes(Complexes x, double* data, size_t points, size_t i) {
  hn::StoreU(x.real, RealTag(), data + i);
  hn::StoreU(x.imaginary, RealTag(), data + points + i);
}
HWY_INLINE Complexes LoadRoot(size_t index) {
  return {hn::Set(RealTag(), kRoots.real[index]), hn::Set(RealTag(), kRoots.imaginary[index])};
}
HWY_INLINE Complexes operator+(Complexes x, Complexes y) {
  return {hn::Add(x.real, y.real), hn::Add(x.imaginary, y.imaginary)};
}
HWY_INLINE Complexes operator-(Complexes x, Complexes y) {
  return {hn::Sub(x.real, y.real), hn::Sub(x.imaginary, y.imaginary)};
}
HWY_INLINE Complexes operator*(Complexes x, Complexes y) {
  return {hn::NegMulAdd(x.imaginary, y.imaginary, hn::Mul(x.real, y.real)),
          hn::MulAdd(x.imaginary, y.real, hn::Mul(x.real, y.imaginary))};
}
HWY_INLINE Complexes TimesConjugate(Complexes x, Complexes y) {
  return {hn::MulAdd(x.imaginary, y.imaginary, hn::Mul(x.real, y.real)),
          hn::NegMulAdd(x.real, y.imaginary, hn::Mul(x.imaginary, y.real))};
}
HWY_INLINE Complexes TimesI(Complexes x) { return {hn::Neg(x.imaginary), x.real}; }

// One level of the block at `at` with the root `index`: two blocks of `half` points.
HWY_INLINE void Split(double* data, size_t points, size_t at, size_t half, size_t index) {
  const Complexes s = LoadRoot(index);
  for (size_t i = at; i < at + half; i += hn::Lanes(RealTag())) {
    const Complexes x0 = LoadComplexes(data, points, i);
    const Complexes x1 = LoadComplexes(data, points, i + half) * s;
    StoreComplexes(x0 + x1, data, points, i);
    StoreComplexes(x0 - x1, data, points, i + half);
  }
}

HWY_INLINE void Join(double* data, size_t points, size_t at, size_t half, size_t index) {
  const Complexes s = LoadRoot(index);
  for (size_t i = at; i < at + half; i += hn::Lanes(RealTag())) {
    const Complexes y0 = LoadComplexes(data, points, i);
    const Complexes y1 = LoadComplexes(data, points, i + half);
    StoreComplexes(y0 + y1, data, points, i);
    StoreComplexes(TimesConjugate(y0 - y1, s), data, points, i + half);
  }
}

// Two levels at once: four blocks of `quarter` points.
HWY_INLINE void SplitTwice(double* data, size_t points, size_t at, size_t quarter, size_t index) {
  const Complexes s = LoadRoot(index);
  const Complexes r = LoadRoot(2 * index);  // of block 2 index + 1 it is i r
  for (size_t i = at; i < at + quarter; i += hn::Lanes(RealTag())) {
    const Complexes x0 = LoadComplexes(data, points, i);
    const Complexes x1 = LoadComplexes(data, points, i + quarter);
    const Complexes x2 = LoadComplexes(data, points, i + 2 * quarter) * s;
    const Complexes x3 = LoadComplexes(data, points, i + 3 * quarter) * s;
    const Complexes u0 = x0 + x2;
    const Complexes u1 = (x1 + x3) * r;
    const Complexes v0 = x0 - x2;
    const Complexes v1 = TimesI((x1 - x3) * r);
    StoreComplexes(u0 + u1, data, points, i);
    StoreComplexes(u0 - u1, data, points, i + quarter);
    StoreComplexes(v0 + v1, data, points, i + 2 * quarter);
    StoreComplexes(v0 - v1, data, points, i + 3 * quarter);
  }
}

HWY_INLINE void JoinTwice(double* data, size_t points, size_t at, size_t quarter, size_t index) {
  const Complexes s = LoadRoot(index);
  const Complexes r = LoadRoot(2 * index);
  for (size_t i = at; i < at + quarter; i += hn::Lanes(RealTag())) {
    const Complexes y0 = LoadComplexes(data, points, i);
    const Complexes y1 = LoadComplexes(data, points, i + quarter);
    const Complexes y2 = LoadComplexes(data, points, i + 2 * quarter);
    const Complexes y3 = LoadComplexes(data, points, i + 3 * quarter);
    const Complexes u0 = y0 + y1;
    const Complexes u1 = TimesConjugate(y0 - y1, r);
    const Complexes v0 = y2 + y3;
    const Complexes v1 = TimesI(TimesConjugate(y3 - y2, r));
    StoreComplexes(u0 + v0, data, points, i);
    StoreComplexes(u1 + v1, data, points, i + quarter);
    StoreComplexes(TimesConjugate(u0 - v0, s), data, points, i + 2 * quarter);
    StoreComplexes(TimesConjugate(u1 - v1, s), data, points, i + 3 * quarter);
  }
}

// The block of `size` points at `at`, split down to the last blocks. size / BlockPoints() is a power of four.
void TransformBlock(double* data, size_t points, size_t at, size_t size, size_t index) {
  if (size > kCachedPoints) {
    SplitTwice(data, points, at, size / 4, index);
    for (size_t i = 0; i < 4; ++i) {
      TransformBlock(data, points, at + i * (size / 4), size / 4, 4 * index + i);
    }
    return;
  }
  for (size_t blocks = 1; size / blocks > BlockPoints(); blocks *= 4) {
    const size_t block = size / blocks;
    for (size_t i = 0; i < blocks; ++i) {
      SplitTwice(data, points, at + i * block, block / 4, index * blocks + i);
    }
  }
}

void InvertBlock(double* data, size_t points, size_t at, size_t size, size_t index) {
  if (size > kCachedPoints) {
    for (size_t i = 0; i < 4; ++i) {
      InvertBlock(data, points, at + i * (size / 4), size / 4, 4 * index + i);
    }
    JoinTwice(data, points, at, size / 4, index);
    return;
  }
  size_t blocks = 1;
  while (size / blocks > BlockPoints()) blocks *= 4;
  while ((blocks /= 4) > 0) {
    const size_t block = size / blocks;
    for (size_t i = 0; i < blocks; ++i) {
      JoinTwice(data, points, at + i * block, block / 4, index * blocks + i);
    }
  }
}

HWY_INLINE bool IsOddNumberOfLevels(size_t points) {
  return (__builtin_ctzll(points / BlockPoints()) & 1) != 0;
}

void Transform(double* data, size_t points) {
  if (IsOddNumberOfLevels(points)) {
    Split(data, points, 0, points / 2, 1);
    TransformBlock(data, points, 0, points / 2, 2);
    TransformBlock(data, points, points / 2, points / 2, 3);
  } else {
    TransformBlock(data, points, 0, points, 1);
  }
}

void Invert(double* data, size_t points) {
  if (IsOddNumberOfLevels(points)) {
    InvertBlock(data, points, 0, points / 2, 2);
    InvertBlock(data, points, points / 2, points / 2, 3);
    Join(data, points, 0, points / 2, 1);
  } else {
    InvertBlock(data, points, 0, points, 1);
  }
}

// x *= y, both transformed: block by block modulo X^n - root, and divided by the number of blocks.
void MultiplyTransformed(double* x, const double* y, size_t points) {
  const RealTag d;
  const size_t n = BlockPoints();
  const size_t blocks = points / n;
  const double scale = 1.0 / static_cast<double>(blocks);
  const auto scales = hn::Set(d, scale);
  // y of a block, preceded by itself times the root: what stands n - k places before the end is X^k y, reduced.
  double real[16];
  double imaginary[16];
  for (size_t block = 0; block < blocks; ++block) {
    const size_t at = block * n;
    Complexes root = blocks == 1 ? TimesI({hn::Set(d, 1.0), hn::Zero(d)})
                                 : LoadRoot((blocks + block) / 2);
    if (block % 2 != 0) root = {hn::Neg(root.real), hn::Neg(root.imaginary)};
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
      Complexes factor = LoadComplexes(y, points, at + i);
      factor = {hn::Mul(factor.real, scales), hn::Mul(factor.imaginary, scales)};
      const Complexes reduced = factor * root;
      hn::StoreU(factor.real, d, real + n + i);
      hn::StoreU(factor.imaginary, d, imaginary + n + i);
      hn::StoreU(reduced.real, d, real + i);
      hn::StoreU(reduced.imaginary, d, imaginary + i);
    }
    Complexes sums[2] = {{hn::Zero(d), hn::Zero(d)}, {hn::Zero(d), hn::Zero(d)}};
    for (size_t k = 0; k < n; ++k) {
      const auto a = hn::Set(d, x[at + k]);
      const auto b = hn::Set(d, x[points + at + k]);
      for (size_t i = 0; i < n; i += hn::Lanes(d)) {
        Complexes& sum = sums[i / hn::Lanes(d)];
        const auto c = hn::LoadU(d, real + n - k + i);
        const auto e = hn::LoadU(d, imaginary + n - k + i);
        sum.real = hn::NegMulAdd(b, e, hn::MulAdd(a, c, sum.real));
        sum.imaginary = hn::MulAdd(b, c, hn::MulAdd(a, e, sum.imaginary));
      }
    }
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
      StoreComplexes(sums[i / hn::Lanes(d)], x, points, at + i);
    }
  }
}

// coefficients = x rounded to integers; |x| < 2^51.
void RoundToIntegers(const double* x, size_t n, int64_t* coefficients) {
  const RealTag d;
  const hn::RebindToSigned<RealTag> di;
  // A double of this size has an integer in its low bits.
  const auto shift = hn::Set(d, 6755399441055744.0);  // 3 * 2^51
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto shifted = hn::BitCast(di, hn::Add(hn::LoadU(d, x + i), shift));
    hn::StoreU(hn::Sub(shifted, hn::BitCast(di, shift)), di, coefficients + i);
  }
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

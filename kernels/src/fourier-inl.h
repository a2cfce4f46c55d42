// Products of polynomials by Fourier transforms in double precision. Why their rounded results are
// exact: README.md.
//
// Data of M complex points is an array of 2 M doubles, real parts first. A real polynomial modulo
// X^2M + 1 is, as it stands in memory, the complex one modulo X^M - i (its upper half times i).
// That is split into blocks X^m - s^2 = (X^m - s) (X^m + s), level by level, down to blocks of
// BlockPoints(); these are multiplied directly, which is as fast as the last levels and needs no
// shuffling of lanes.
#if defined(PENUMBRA_KERNELS_FOURIER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_FOURIER_INL_H_
#undef PENUMBRA_KERNELS_FOURIER_INL_H_
#else
#define PENUMBRA_KERNELS_FOURIER_INL_H_
#endif

#include "lanes-inl.h"
#include "multiplication.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

using RealTag = hn::CappedTag<double, 8>;
using Reals = hn::Vec<RealTag>;

// Blocks of so many points are transformed whole before the next: they fit the first-level cache.
inline constexpr size_t kCachedPoints = 1024;

HWY_INLINE size_t BlockPoints() { return hn::Lanes(RealTag()) < 2 ? 2 : hn::Lanes(RealTag()); }

// A vector of complex numbers is two variables, because vectors of SVE cannot be members of a
// struct.

HWY_INLINE void Load(const double* data, size_t points, size_t i, Reals& xr, Reals& xi) {
  xr = hn::LoadU(RealTag(), data + i);
  xi = hn::LoadU(RealTag(), data + points + i);
}
HWY_INLINE void Store(Reals xr, Reals xi, double* data, size_t points, size_t i) {
  hn::StoreU(xr, RealTag(), data + i);
  hn::StoreU(xi, RealTag(), data + points + i);
}
HWY_INLINE void LoadRoot(size_t index, Reals& r, Reals& i) {
  r = hn::Set(RealTag(), kRoots.real[index]);
  i = hn::Set(RealTag(), kRoots.imaginary[index]);
}
// x *= y
HWY_INLINE void Multiply(Reals& xr, Reals& xi, Reals yr, Reals yi) {
  const Reals real = hn::NegMulAdd(xi, yi, hn::Mul(xr, yr));
  xi = hn::MulAdd(xi, yr, hn::Mul(xr, yi));
  xr = real;
}
// x *= conjugate of y
HWY_INLINE void MultiplyConjugate(Reals& xr, Reals& xi, Reals yr, Reals yi) {
  const Reals real = hn::MulAdd(xi, yi, hn::Mul(xr, yr));
  xi = hn::NegMulAdd(xr, yi, hn::Mul(xi, yr));
  xr = real;
}

// One level of the block at `at` with the root `index`: two blocks of `half` points.
HWY_INLINE void Split(double* data, size_t points, size_t at, size_t half, size_t index) {
  Reals sr, si, ar, ai, br, bi;
  LoadRoot(index, sr, si);
  for (size_t i = at; i < at + half; i += hn::Lanes(RealTag())) {
    Load(data, points, i, ar, ai);
    Load(data, points, i + half, br, bi);
    Multiply(br, bi, sr, si);
    Store(hn::Add(ar, br), hn::Add(ai, bi), data, points, i);
    Store(hn::Sub(ar, br), hn::Sub(ai, bi), data, points, i + half);
  }
}

HWY_INLINE void Join(double* data, size_t points, size_t at, size_t half, size_t index) {
  Reals sr, si, ar, ai, br, bi;
  LoadRoot(index, sr, si);
  for (size_t i = at; i < at + half; i += hn::Lanes(RealTag())) {
    Load(data, points, i, ar, ai);
    Load(data, points, i + half, br, bi);
    Store(hn::Add(ar, br), hn::Add(ai, bi), data, points, i);
    Reals difference_r = hn::Sub(ar, br);
    Reals difference_i = hn::Sub(ai, bi);
    MultiplyConjugate(difference_r, difference_i, sr, si);
    Store(difference_r, difference_i, data, points, i + half);
  }
}

// Two levels at once: four blocks of `quarter` points.
HWY_INLINE void SplitTwice(double* data, size_t points, size_t at, size_t quarter, size_t index) {
  Reals sr, si, rr, ri, ar, ai, br, bi, cr, ci, dr, di;
  LoadRoot(index, sr, si);
  LoadRoot(2 * index, rr, ri);  // r; of block 2 index + 1 it is i r
  for (size_t i = at; i < at + quarter; i += hn::Lanes(RealTag())) {
    Load(data, points, i, ar, ai);
    Load(data, points, i + quarter, br, bi);
    Load(data, points, i + 2 * quarter, cr, ci);
    Load(data, points, i + 3 * quarter, dr, di);
    Multiply(cr, ci, sr, si);
    Multiply(dr, di, sr, si);
    // u = (b + d) r, v = (b - d) r
    Reals ur = hn::Add(br, dr);
    Reals ui = hn::Add(bi, di);
    Reals vr = hn::Sub(br, dr);
    Reals vi = hn::Sub(bi, di);
    Multiply(ur, ui, rr, ri);
    Multiply(vr, vi, rr, ri);
    const Reals sum_r = hn::Add(ar, cr);
    const Reals sum_i = hn::Add(ai, ci);
    const Reals difference_r = hn::Sub(ar, cr);
    const Reals difference_i = hn::Sub(ai, ci);
    Store(hn::Add(sum_r, ur), hn::Add(sum_i, ui), data, points, i);
    Store(hn::Sub(sum_r, ur), hn::Sub(sum_i, ui), data, points, i + quarter);
    // a - c + i v, a - c - i v
    Store(hn::Sub(difference_r, vi), hn::Add(difference_i, vr), data, points, i + 2 * quarter);
    Store(hn::Add(difference_r, vi), hn::Sub(difference_i, vr), data, points, i + 3 * quarter);
  }
}

HWY_INLINE void JoinTwice(double* data, size_t points, size_t at, size_t quarter, size_t index) {
  Reals sr, si, rr, ri, ar, ai, br, bi, cr, ci, dr, di;
  LoadRoot(index, sr, si);
  LoadRoot(2 * index, rr, ri);
  for (size_t i = at; i < at + quarter; i += hn::Lanes(RealTag())) {
    Load(data, points, i, ar, ai);
    Load(data, points, i + quarter, br, bi);
    Load(data, points, i + 2 * quarter, cr, ci);
    Load(data, points, i + 3 * quarter, dr, di);
    // u = (a - b) / r, v = (d - c) / r
    Reals ur = hn::Sub(ar, br);
    Reals ui = hn::Sub(ai, bi);
    Reals vr = hn::Sub(dr, cr);
    Reals vi = hn::Sub(di, ci);
    MultiplyConjugate(ur, ui, rr, ri);
    MultiplyConjugate(vr, vi, rr, ri);
    ar = hn::Add(ar, br);
    ai = hn::Add(ai, bi);
    cr = hn::Add(cr, dr);
    ci = hn::Add(ci, di);
    Store(hn::Add(ar, cr), hn::Add(ai, ci), data, points, i);
    // u + i v, u - i v
    Store(hn::Sub(ur, vi), hn::Add(ui, vr), data, points, i + quarter);
    ar = hn::Sub(ar, cr);
    ai = hn::Sub(ai, ci);
    MultiplyConjugate(ar, ai, sr, si);
    Store(ar, ai, data, points, i + 2 * quarter);
    ur = hn::Add(ur, vi);
    ui = hn::Sub(ui, vr);
    MultiplyConjugate(ur, ui, sr, si);
    Store(ur, ui, data, points, i + 3 * quarter);
  }
}

// The block of `size` points at `at`, split down to the last blocks. size / BlockPoints() is a
// power of four.
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

HWY_INLINE bool IsOddNumberOfLevels(size_t points) { return (__builtin_ctzll(points / BlockPoints()) & 1) != 0; }

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
  const auto scale = hn::Set(d, 1.0 / static_cast<double>(blocks));
  // y of a block, preceded by itself times the root: what stands n - k places before the end is X^k
  // y, reduced.
  double real[16];
  double imaginary[16];
  for (size_t block = 0; block < blocks; ++block) {
    const size_t at = block * n;
    Reals root_r = hn::Zero(d);
    Reals root_i = hn::Set(d, 1.0);
    if (blocks > 1) LoadRoot((blocks + block) / 2, root_r, root_i);
    if (block % 2 != 0) {
      root_r = hn::Neg(root_r);
      root_i = hn::Neg(root_i);
    }
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
      Reals factor_r, factor_i;
      Load(y, points, at + i, factor_r, factor_i);
      factor_r = hn::Mul(factor_r, scale);
      factor_i = hn::Mul(factor_i, scale);
      hn::StoreU(factor_r, d, real + n + i);
      hn::StoreU(factor_i, d, imaginary + n + i);
      Multiply(factor_r, factor_i, root_r, root_i);
      hn::StoreU(factor_r, d, real + i);
      hn::StoreU(factor_i, d, imaginary + i);
    }
    double block_r[8];
    double block_i[8];
    std::copy_n(x + at, n, block_r);
    std::copy_n(x + points + at, n, block_i);
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
      Reals sum_r = hn::Zero(d);
      Reals sum_i = hn::Zero(d);
      for (size_t k = 0; k < n; ++k) {
        const auto a = hn::Set(d, block_r[k]);
        const auto b = hn::Set(d, block_i[k]);
        const auto c = hn::LoadU(d, real + n - k + i);
        const auto e = hn::LoadU(d, imaginary + n - k + i);
        sum_r = hn::NegMulAdd(b, e, hn::MulAdd(a, c, sum_r));
        sum_i = hn::MulAdd(b, c, hn::MulAdd(a, e, sum_i));
      }
      Store(sum_r, sum_i, x, points, at + i);
    }
  }
}

// data += sign * the digits, balanced: from 5,000 on they are negative and carry. digits[-1] is the
// one before.
void AddBalancedDigits(const int32_t* digits, size_t count, double sign, double* data) {
  const RealTag d;
  const hn::Rebind<int32_t, RealTag> di;
  const auto greatest = hn::Set(di, kBalancedDigitEnd - 1);
  const auto base = hn::Set(di, kDigitBase);
  const auto one = hn::Set(di, 1);
  const auto signs = hn::Set(d, sign);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto digit = hn::LoadU(di, digits + i);
    const auto before = hn::LoadU(di, digits + i - 1);
    const auto borrowed = hn::IfThenElseZero(hn::Gt(digit, greatest), base);
    const auto carried = hn::IfThenElseZero(hn::Gt(before, greatest), one);
    const auto balanced = hn::PromoteTo(d, hn::Add(hn::Sub(digit, borrowed), carried));
    hn::StoreU(hn::MulAdd(balanced, signs, hn::LoadU(d, data + i)), d, data + i);
  }
  for (; i < count; ++i) {
    const int32_t borrowed = digits[i] >= kBalancedDigitEnd ? kDigitBase : 0;
    const int32_t carried = digits[i - 1] >= kBalancedDigitEnd ? 1 : 0;
    data[i] += sign * (digits[i] - borrowed + carried);
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

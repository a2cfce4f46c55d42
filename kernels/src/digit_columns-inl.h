// Schoolbook products by columns, and the carries of columns.
//
// Operands are split into half limbs of base 10^8, each in a lane of 64 bits, so that a vector
// instruction multiplies 32 by 32 bits a lane, and a column of the product sums up to 1,844
// products before it overflows.
#if defined(PENUMBRA_KERNELS_DIGIT_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_DIGIT_COLUMNS_INL_H_
#undef PENUMBRA_KERNELS_DIGIT_COLUMNS_INL_H_
#else
#define PENUMBRA_KERNELS_DIGIT_COLUMNS_INL_H_
#endif

#include <algorithm>

#include "lanes-inl.h"
#include "multiplication.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

// Vectors of columns that a step makes: enough to hide latencies behind one broadcast factor.
inline constexpr size_t kColumnVectors = 4;

using ColumnTag = hn::CappedTag<uint64_t, kColumnLanes>;

// The low 32 bits of the lanes.
HWY_INLINE hn::Vec<ColumnTag> MultiplyHalves(hn::Vec<ColumnTag> x, hn::Vec<ColumnTag> y) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Mul(x, y);
#else
  const hn::Repartition<uint32_t, ColumnTag> d32;
  return hn::MulEven(hn::BitCast(d32, x), hn::BitCast(d32, y));
#endif
}

// columns[k] = sum of a[i] * b[k - i], for columns from `first` to a_halves + b_halves - 1, in whole
// steps; b has kColumnPadding zeros on both sides.
void MultiplyColumns(const uint64_t* HWY_RESTRICT a, size_t a_halves, const uint64_t* HWY_RESTRICT b, size_t b_halves,
                     size_t first, uint64_t* HWY_RESTRICT columns) {
  const ColumnTag d;
  const size_t lanes = hn::Lanes(d);
  const size_t step = kColumnVectors * lanes;
  for (size_t k = first; k < a_halves + b_halves; k += step) {
    auto sum0 = hn::Zero(d);
    auto sum1 = sum0;
    auto sum2 = sum0;
    auto sum3 = sum0;
    const size_t begin = k + 1 > b_halves ? k + 1 - b_halves : 0;
    const size_t end = std::min(a_halves, k + step);
    const uint64_t* from = b + k;
    for (size_t i = begin; i < end; ++i) {
      const auto factor = hn::Set(d, a[i]);
      sum0 = hn::Add(sum0, MultiplyHalves(factor, hn::LoadU(d, from - i)));
      sum1 = hn::Add(sum1, MultiplyHalves(factor, hn::LoadU(d, from - i + lanes)));
      sum2 = hn::Add(sum2, MultiplyHalves(factor, hn::LoadU(d, from - i + 2 * lanes)));
      sum3 = hn::Add(sum3, MultiplyHalves(factor, hn::LoadU(d, from - i + 3 * lanes)));
    }
    hn::StoreU(sum0, d, columns + k);
    hn::StoreU(sum1, d, columns + k + lanes);
    hn::StoreU(sum2, d, columns + k + 2 * lanes);
    hn::StoreU(sum3, d, columns + k + 3 * lanes);
  }
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

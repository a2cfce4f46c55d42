// Integer arithmetic, modulo 2^n and with detection of overflow.
#if defined(PENUMBRA_KERNELS_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_ARITHMETIC_INL_H_
#undef PENUMBRA_KERNELS_ARITHMETIC_INL_H_
#else
#define PENUMBRA_KERNELS_ARITHMETIC_INL_H_
#endif

#include "kernels/kernels.h"
#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

// Each operation: the result modulo 2^n; lanes whose sign bit tells of an overflow; one row
// checked.
struct AddOperation {
  template <class V>
  static HWY_INLINE V Apply(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static HWY_INLINE V Overflow(V a, V b, V result) {
    return hn::And(hn::Xor(a, result), hn::Xor(b, result));
  }
  template <typename T>
  static HWY_INLINE bool ApplyOne(T a, T b, T* result) {
    return __builtin_add_overflow(a, b, result);
  }
};
struct SubtractOperation {
  template <class V>
  static HWY_INLINE V Apply(V a, V b) {
    return hn::Sub(a, b);
  }
  template <class V>
  static HWY_INLINE V Overflow(V a, V b, V result) {
    return hn::And(hn::Xor(a, b), hn::Xor(a, result));
  }
  template <typename T>
  static HWY_INLINE bool ApplyOne(T a, T b, T* result) {
    return __builtin_sub_overflow(a, b, result);
  }
};
struct MultiplyOperation {
  template <class V>
  static HWY_INLINE V Apply(V a, V b) {
    return hn::Mul(a, b);
  }
  template <typename T>
  static HWY_INLINE bool ApplyOne(T a, T b, T* result) {
    return __builtin_mul_overflow(a, b, result);
  }
};

template <class Operation, typename T, class A, class B>
HWY_INLINE bool RunRows(const A& a, const B& b, size_t begin, size_t end, T* out) {
  bool is_overflow = false;
  for (size_t row = begin; row < end; ++row) {
    T result;  // out may be a or b's memory no longer than this statement
    is_overflow |= Operation::ApplyOne(a.At(row), b.At(row), &result);
    out[row] = result;
  }
  return !is_overflow;
}

template <class Operation, bool kIsChecked, typename T, class A, class B>
HWY_INLINE bool Run(const A& a, const B& b, size_t rows, T* out) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto overflow = hn::Zero(d);
  size_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    const auto x = a.Load(d, row);
    const auto y = b.Load(d, row);
    const auto result = Operation::Apply(x, y);
    if constexpr (kIsChecked) overflow = hn::Or(overflow, Operation::Overflow(x, y, result));
    hn::StoreU(result, d, out + row);
  }
  const bool is_exact = hn::AllFalse(d, hn::Lt(overflow, hn::Zero(d)));
  return RunRows<Operation>(a, b, row, rows, out) && is_exact;
}

// The product has twice the width; it fits if narrowing loses nothing. Saturation shows the loss.
template <class A, class B>
HWY_INLINE bool MultiplyChecked(const A& a, const B& b, size_t rows, int16_t* out) {
  const hn::CappedTag<int32_t, 32> d32;
  const hn::Rebind<int16_t, decltype(d32)> d16;
  const size_t lanes = hn::Lanes(d32);
  auto inexact = hn::Zero(d32);
  size_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    const auto product = hn::Mul(hn::PromoteTo(d32, a.Load(d16, row)), hn::PromoteTo(d32, b.Load(d16, row)));
    const auto kept = hn::ShiftRight<16>(hn::ShiftLeft<16>(product));
    inexact = hn::Or(inexact, hn::Xor(kept, product));
    hn::StoreU(hn::DemoteTo(d16, kept), d16, out + row);
  }
  bool is_exact = hn::AllTrue(d32, hn::Eq(inexact, hn::Zero(d32)));
  return RunRows<MultiplyOperation>(a, b, row, rows, out) && is_exact;
}

// A 64-bit product of the low halves of 64-bit lanes.
template <class D, class V>
HWY_INLINE V MultiplyLowHalves(D d, V a, V b) {
  const hn::RepartitionToNarrow<D> narrow;
  return hn::BitCast(d, hn::MulEven(hn::BitCast(narrow, a), hn::BitCast(narrow, b)));
}

// Lanes of int64: zero iff the value fits in int32.
template <class DU, class V>
HWY_INLINE hn::Vec<DU> Excess(DU du, V v) {
  return hn::ShiftRight<32>(hn::Add(hn::BitCast(du, v), hn::Set(du, uint64_t{1} << 31)));
}

template <class DU, class V>
HWY_INLINE bool IsZero(DU du, V v) {
  return hn::AllTrue(du, hn::Eq(v, hn::Zero(du)));
}

template <class A, class B>
HWY_INLINE bool MultiplyChecked(const A& a, const B& b, size_t rows, int32_t* out) {
#if HWY_TARGET == HWY_SCALAR
  return RunRows<MultiplyOperation>(a, b, 0, rows, out);
#else
  const BlockTag<int64_t> d;
  const BlockTag<uint64_t> du;
  const hn::Rebind<int32_t, decltype(d)> d32;
  const hn::Rebind<uint32_t, decltype(d)> du32;
  const size_t lanes = hn::Lanes(d);
  auto excess = hn::Zero(du);
  size_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    const auto x = hn::PromoteTo(d, a.Load(d32, row));
    const auto y = hn::PromoteTo(d, b.Load(d32, row));
    const auto product = MultiplyLowHalves(d, x, y);
    excess = hn::Or(excess, Excess(du, product));
    const auto low = hn::TruncateTo(du32, hn::BitCast(du, product));
    hn::StoreU(hn::BitCast(d32, low), d32, out + row);
  }
  return RunRows<MultiplyOperation>(a, b, row, rows, out) && IsZero(du, excess);
#endif
}

template <class A, class B>
HWY_INLINE bool MultiplyChecked(const A& a, const B& b, size_t rows, int64_t* out) {
#if HWY_TARGET == HWY_SCALAR
  return RunRows<MultiplyOperation>(a, b, 0, rows, out);
#else
  // Factors of 32 bits, block by block, are the rule; other blocks go row by row.
  const BlockTag<int64_t> d;
  const BlockTag<uint64_t> du;
  const size_t lanes = hn::Lanes(d);
  bool is_exact = true;
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) {
    auto excess = hn::Zero(du);
    for (size_t lane = 0; lane < 64; lane += lanes) {
      const auto x = a.Load(d, row + lane);
      const auto y = b.Load(d, row + lane);
      excess = hn::Or(excess, hn::Or(Excess(du, x), Excess(du, y)));
      hn::StoreU(MultiplyLowHalves(d, x, y), d, out + row + lane);
    }
    if (!IsZero(du, excess)) is_exact &= RunRows<MultiplyOperation>(a, b, row, row + 64, out);
  }
  return RunRows<MultiplyOperation>(a, b, row, rows, out) && is_exact;
#endif
}

template <class A, class B>
HWY_INLINE void MultiplyNarrow(const A& a, const B& b, size_t rows, int64_t* out) {
  size_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const BlockTag<int64_t> d;
  const size_t lanes = hn::Lanes(d);
  for (; row + lanes <= rows; row += lanes) {
    hn::StoreU(MultiplyLowHalves(d, a.Load(d, row), b.Load(d, row)), d, out + row);
  }
#endif
  RunRows<MultiplyOperation>(a, b, row, rows, out);
}

template <bool kIsChecked, class A, class B, typename T>
HWY_INLINE bool RunOperation(Arithmetic op, const A& a, const B& b, size_t rows, T* out) {
  switch (op) {
    case Arithmetic::kAdd: return Run<AddOperation, kIsChecked>(a, b, rows, out);
    case Arithmetic::kSubtract: return Run<SubtractOperation, kIsChecked>(a, b, rows, out);
    default:
      if constexpr (kIsChecked) {
        return MultiplyChecked(a, b, rows, out);
      } else if constexpr (HWY_TARGET == HWY_SCALAR) {
        return RunRows<MultiplyOperation>(a, b, 0, rows, out);
      } else {
        return Run<MultiplyOperation, false>(a, b, rows, out);
      }
  }
}

// At most one operand is a constant.
template <bool kIsChecked, typename T>
HWY_INLINE bool RunOperands(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out) {
  const ColumnOperand<T> column_a{a.values};
  const ColumnOperand<T> column_b{b.values};
  if (b.values == nullptr) {
    return RunOperation<kIsChecked>(op, column_a, ConstantOperand<T>{b.constant}, rows, out);
  }
  if (a.values == nullptr) {
    return RunOperation<kIsChecked>(op, ConstantOperand<T>{a.constant}, column_b, rows, out);
  }
  return RunOperation<kIsChecked>(op, column_a, column_b, rows, out);
}

#define PENUMBRA_ARITHMETIC_TYPES(X) X(int16_t, I16) X(int32_t, I32) X(int64_t, I64)

#define PENUMBRA_DEFINE_ARITHMETIC(T, suffix)                                                           \
  void Wrapping##suffix(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out) { \
    RunOperands<false>(op, a, b, rows, out);                                                            \
  }                                                                                                     \
  bool Checked##suffix(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out) {  \
    return RunOperands<true>(op, a, b, rows, out);                                                      \
  }
PENUMBRA_ARITHMETIC_TYPES(PENUMBRA_DEFINE_ARITHMETIC)
#undef PENUMBRA_DEFINE_ARITHMETIC

void NarrowColumns(const int64_t* a, const int64_t* b, size_t rows, int64_t* out) {
  MultiplyNarrow(ColumnOperand<int64_t>{a}, ColumnOperand<int64_t>{b}, rows, out);
}
void NarrowConstant(const int64_t* a, int32_t b, size_t rows, int64_t* out) {
  MultiplyNarrow(ColumnOperand<int64_t>{a}, ConstantOperand<int64_t>{b}, rows, out);
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

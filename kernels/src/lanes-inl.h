// What all topics share: blocks of 64 rows, masks of a vector as bits of a bitmap word, widening.
#if defined(PENUMBRA_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_LANES_INL_H_
#undef PENUMBRA_KERNELS_LANES_INL_H_
#else
#define PENUMBRA_KERNELS_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A bitmap word holds a whole number of vectors of any type.
template <typename T>
using BlockTag = hn::CappedTag<T, 64>;

// The compiler keeps the eight bytes in a register.
template <class D, class M>
HWY_INLINE uint64_t WordFromMask(D d, M mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return word;
}

template <class D>
HWY_INLINE hn::Mask<D> MaskFromWord(D d, uint64_t word) {
  uint8_t bytes[8];
  std::memcpy(bytes, &word, 8);
  return hn::LoadMaskBits(d, bytes);
}

// Loads Lanes(d) codes as lanes of d, unsigned.
template <class D, typename Code>
HWY_INLINE hn::Vec<D> LoadWidened(D d, const Code* codes) {
  using Wide = hn::TFromD<D>;
  if constexpr (sizeof(Code) == sizeof(Wide)) {
    return hn::LoadU(d, codes);
  } else if constexpr (sizeof(Code) < 4 && sizeof(Wide) == 8) {
    const hn::Rebind<uint32_t, D> d32;  // there is no promotion from these to 64 bits
    return hn::PromoteTo(d, LoadWidened(d32, codes));
  } else {
    const hn::Rebind<Code, D> narrow;
    return hn::PromoteTo(d, hn::LoadU(narrow, codes));
  }
}

// An operand: a column, or one value for all rows.
template <typename T>
struct ColumnOperand {
  const T* values;
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, size_t row) const {
    return hn::LoadU(d, values + row);
  }
  HWY_INLINE T At(size_t row) const { return values[row]; }
};
template <typename T>
struct ConstantOperand {
  T value;
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, size_t /*row*/) const {
    return hn::Set(d, value);
  }
  HWY_INLINE T At(size_t /*row*/) const { return value; }
};

// Of a bitmap word, the bits of the first `rows` rows; rows < 64.
HWY_INLINE uint64_t LowBits(size_t rows) { return (uint64_t{1} << rows) - 1; }

// Word w of a bitmap of `rows` rows, bits past the end cleared; all ones if `bits` is null.
HWY_INLINE uint64_t WordOrOnes(const uint64_t* bits, size_t w, size_t rows) {
  uint64_t word = bits != nullptr ? bits[w] : ~uint64_t{0};
  size_t left = rows - w * 64;
  return left < 64 ? word & LowBits(left) : word;
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// Frame of reference: widen codes and add the base.
#if defined(PENUMBRA_KERNELS_FRAME_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_FRAME_INL_H_
#undef PENUMBRA_KERNELS_FRAME_INL_H_
#else
#define PENUMBRA_KERNELS_FRAME_INL_H_
#endif

#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

template <typename Code, typename Wide>
HWY_INLINE void DecodeFrameOf(const Code* codes, Wide base, size_t rows, Wide* values) {
  const BlockTag<Wide> d;
  const size_t lanes = hn::Lanes(d);
  const auto bases = hn::Set(d, base);
  size_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    hn::StoreU(hn::Add(bases, LoadWidened(d, codes + row)), d, values + row);
  }
  for (; row < rows; ++row) values[row] = static_cast<Wide>(base + codes[row]);
}

// clang-format off
#define PENUMBRA_FRAME_TYPES(X) \
  X(uint8_t, uint16_t, int16_t, U8ToU16) X(uint16_t, uint16_t, int16_t, U16ToU16) \
  X(uint8_t, uint32_t, int32_t, U8ToU32) X(uint16_t, uint32_t, int32_t, U16ToU32) \
  X(uint32_t, uint32_t, int32_t, U32ToU32) \
  X(uint8_t, uint64_t, int64_t, U8ToU64) X(uint16_t, uint64_t, int64_t, U16ToU64) \
  X(uint32_t, uint64_t, int64_t, U32ToU64) X(uint64_t, uint64_t, int64_t, U64ToU64)
// clang-format on

#define PENUMBRA_DEFINE_FRAME(Code, Wide, T, suffix)                                  \
  void DecodeFrame##suffix(const Code* codes, Wide base, size_t rows, Wide* values) { \
    DecodeFrameOf(codes, base, rows, values);                                         \
  }
PENUMBRA_FRAME_TYPES(PENUMBRA_DEFINE_FRAME)
#undef PENUMBRA_DEFINE_FRAME

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

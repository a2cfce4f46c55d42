#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "frame.cc"
#include <hwy/foreach_target.h>

#include "frame-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

// Addition modulo 2^n is the same for signed and unsigned values.
#define PENUMBRA_EXPORT_FRAME(Code, Wide, T, suffix)                             \
  HWY_EXPORT(DecodeFrame##suffix);                                               \
  template <>                                                                    \
  void DecodeFrame<Code, T>(const Code* codes, T base, size_t rows, T* values) { \
    HWY_DYNAMIC_DISPATCH(DecodeFrame##suffix)                                    \
    (codes, static_cast<Wide>(base), rows, reinterpret_cast<Wide*>(values));     \
  }
PENUMBRA_FRAME_TYPES(PENUMBRA_EXPORT_FRAME)
#undef PENUMBRA_EXPORT_FRAME

}  // namespace penumbra::kernels
#endif

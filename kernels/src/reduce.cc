#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce.cc"
#include <hwy/foreach_target.h>

#include "reduce-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

#define PENUMBRA_EXPORT_SUM(Result, T, suffix)                               \
  HWY_EXPORT(Sum##suffix);                                                   \
  Result SumValues(const T* values, const uint64_t* validity, size_t rows) { \
    return HWY_DYNAMIC_DISPATCH(Sum##suffix)(values, validity, rows);        \
  }
PENUMBRA_EXPORT_SUM(uint64_t, uint8_t, U8)
PENUMBRA_EXPORT_SUM(uint64_t, uint16_t, U16)
PENUMBRA_EXPORT_SUM(uint64_t, uint32_t, U32)
PENUMBRA_EXPORT_SUM(int64_t, int16_t, I16)
PENUMBRA_EXPORT_SUM(int64_t, int32_t, I32)
PENUMBRA_EXPORT_SUM(__int128, int64_t, I64)
#undef PENUMBRA_EXPORT_SUM

#define PENUMBRA_EXPORT_BOUNDS(T, suffix)                                                             \
  HWY_EXPORT(FindBounds##suffix);                                                                     \
  template <>                                                                                         \
  bool FindBounds<T>(const T* values, const uint64_t* validity, size_t rows, T* least, T* greatest) { \
    return HWY_DYNAMIC_DISPATCH(FindBounds##suffix)(values, validity, rows, least, greatest);         \
  }
PENUMBRA_BOUNDS_TYPES(PENUMBRA_EXPORT_BOUNDS)
#undef PENUMBRA_EXPORT_BOUNDS

}  // namespace penumbra::kernels
#endif

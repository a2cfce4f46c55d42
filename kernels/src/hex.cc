#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hex.cc"
#include <hwy/foreach_target.h>

#include "hex-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

HWY_EXPORT(WriteHexDigits);

void WriteHex(const uint8_t* bytes, size_t count, char* digits) {
  HWY_DYNAMIC_DISPATCH(WriteHexDigits)(bytes, count, digits);
}

}  // namespace penumbra::kernels
#endif

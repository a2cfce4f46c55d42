#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hex.cc"
#include <hwy/foreach_target.h>

#include "hex-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

HWY_EXPORT(WriteHexDigits);
HWY_EXPORT(ReadHexDigits);

void WriteHex(const uint8_t* bytes, size_t count, char* digits) {
  HWY_DYNAMIC_DISPATCH(WriteHexDigits)(bytes, count, digits);
}

size_t ReadHex(const char* digits, size_t count, uint8_t* bytes) {
  return HWY_DYNAMIC_DISPATCH(ReadHexDigits)(digits, count, bytes);
}

}  // namespace penumbra::kernels
#endif

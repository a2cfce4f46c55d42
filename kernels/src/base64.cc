#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base64.cc"
#include <hwy/foreach_target.h>

#include "base64-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

HWY_EXPORT(WriteBase64Digits);
HWY_EXPORT(ReadBase64Digits);

void WriteBase64(const uint8_t* bytes, size_t count, char* digits) {
  HWY_DYNAMIC_DISPATCH(WriteBase64Digits)(bytes, count, digits);
}

size_t ReadBase64(const char* digits, size_t count, uint8_t* bytes) {
  return HWY_DYNAMIC_DISPATCH(ReadBase64Digits)(digits, count, bytes);
}

}  // namespace penumbra::kernels
#endif

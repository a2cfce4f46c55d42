#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "digest.cc"
#include <hwy/foreach_target.h>

#include "digest-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

HWY_EXPORT(Md5All);
HWY_EXPORT(Sha256All);

void Md5(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests) {
  HWY_DYNAMIC_DISPATCH(Md5All)(messages, lengths, count, digests);
}

void Sha256(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests) {
  HWY_DYNAMIC_DISPATCH(Sha256All)(messages, lengths, count, digests);
}

}  // namespace penumbra::kernels
#endif

#include "penumbra/key_search.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "key_search.cc"
#include <hwy/foreach_target.h>

#include "key_search-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {
HWY_EXPORT(LowerBoundPacked);
}  // namespace penumbra::kernels

using namespace penumbra::kernels;

size_t penumbra_lower_bound_packed(const char* keys, int width, size_t count, uint64_t key) {
  return HWY_DYNAMIC_DISPATCH(LowerBoundPacked)(keys, width, count, key);
}

size_t penumbra_upper_bound_packed(const char* keys, int width, size_t count, uint64_t key) {
  return key == UINT64_MAX ? count : penumbra_lower_bound_packed(keys, width, count, key + 1);
}
#endif

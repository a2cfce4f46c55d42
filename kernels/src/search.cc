#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search.cc"
#include <hwy/foreach_target.h>

#include "search-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {
namespace {

// Bytes from rare to common in texts: what is not listed (punctuation, continuation bytes) is
// rare, lead bytes of UTF-8 are the most common ones where there are any.
int Commonness(char byte) {
  constexpr char kOrder[] = "QJZXKVBPYGFWMUCLDHRSNIOATEqjzxkvbp0123456789ygfwmucldhrsnioate ";
  if (static_cast<uint8_t>(byte) >= 0xc0) return sizeof(kOrder);
  const void* found = std::memchr(kOrder, byte, sizeof(kOrder) - 1);
  return found == nullptr ? 0 : static_cast<int>(static_cast<const char*>(found) - kOrder) + 1;
}

}  // namespace

Needle MakeNeedle(const char* bytes, size_t length) {
  Needle needle{bytes, length, {0, 0}};
  const auto is_rarer = [bytes](size_t a, size_t b) { return Commonness(bytes[a]) < Commonness(bytes[b]); };
  for (size_t i = 1; i < length; ++i) {
    if (is_rarer(i, needle.probes[0])) needle.probes[0] = i;
  }
  // An equal byte tells less than another one, and more than none.
  const char first = bytes[needle.probes[0]];
  needle.probes[1] = needle.probes[0] > 0 ? 0 : length - 1;
  for (size_t i = 0; i < length; ++i) {
    if (bytes[i] == first) continue;
    if (bytes[needle.probes[1]] == first || is_rarer(i, needle.probes[1])) needle.probes[1] = i;
  }
  return needle;
}

HWY_EXPORT(FindNeedleIn);

size_t FindNeedle(const Needle& needle, const char* text, size_t begin, size_t length) {
  return HWY_DYNAMIC_DISPATCH(FindNeedleIn)(needle, text, begin, length);
}

}  // namespace penumbra::kernels
#endif

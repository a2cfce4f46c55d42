// Lower bound in the packed key array of a page.
#if defined(PENUMBRA_KERNELS_KEY_SEARCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_KEY_SEARCH_INL_H_
#undef PENUMBRA_KERNELS_KEY_SEARCH_INL_H_
#else
#define PENUMBRA_KERNELS_KEY_SEARCH_INL_H_
#endif

#include <hwy/cache_control.h>

#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

constexpr size_t kCacheLineBytes = 64;

// Arrays that may not be in a near cache have the pivots of the first three halvings fetched at once.
constexpr size_t kPrefetchedBytes = 512;

// Keys of these widths are lanes as they stand; the last two cache lines of them are compared side by side.
template <int kWidth>
constexpr bool kIsLane = (kWidth & (kWidth - 1)) == 0 && HWY_TARGET != HWY_SCALAR;
template <int kWidth>
constexpr size_t kKeyWindow = kIsLane<kWidth> ? 2 * kCacheLineBytes / kWidth : 1;

template <int kWidth>
HWY_INLINE uint64_t KeyAt(const char* keys, size_t i) {
  uint64_t key;
  std::memcpy(&key, keys + i * kWidth, sizeof(key));
  return key & (~uint64_t{0} >> (64 - 8 * kWidth));
}

// Halves [*begin, *begin + *length] around the bound, as long as it spans more than `most` keys. No branch
// depends on a key: which half it is costs a conditional move, a wrong guess would cost three of them.
template <int kWidth>
HWY_INLINE void HalveRange(const char* keys, uint64_t key, size_t most, size_t* begin, size_t* length) {
  while (*length > most) {
    const size_t half = *length / 2;
    *begin += KeyAt<kWidth>(keys, *begin + half - 1) < key ? half : 0;
    *length -= half;
  }
}

// How many of the window's keys are less.
template <int kWidth>
HWY_INLINE size_t CountLess(const char* window, uint64_t key) {
  if constexpr (kIsLane<kWidth>) {
    using T = hwy::UnsignedFromSize<kWidth>;
    const hn::CappedTag<T, kKeyWindow<kWidth>> d;
    const auto bound = hn::Set(d, static_cast<T>(key));
    const T* keys = reinterpret_cast<const T*>(window);
    size_t less = 0;
    for (size_t i = 0; i < kKeyWindow<kWidth>; i += hn::Lanes(d)) {
      less += hn::CountTrue(d, hn::Lt(hn::LoadU(d, keys + i), bound));
    }
    return less;
  } else {
    return KeyAt<kWidth>(window, 0) < key;
  }
}

template <int kWidth>
size_t LowerBoundOfWidth(const char* keys, size_t count, uint64_t key) {
  constexpr size_t kWindow = kKeyWindow<kWidth>;
  if (kWidth < 8 && key >> (8 * (kWidth % 8)) != 0) return count;
  size_t begin = 0;
  size_t length = count;
  if (count < kWindow || count == 0) {
    HalveRange<kWidth>(keys, key, 1, &begin, &length);
    return begin + (length == 1 && KeyAt<kWidth>(keys, begin) < key);
  }
  if (count * kWidth > kPrefetchedBytes) {
    for (size_t i = 1; i < 8; ++i) hwy::Prefetch(keys + i * count / 8 * kWidth);
    HalveRange<kWidth>(keys, key, count / 8 + 1, &begin, &length);
    for (size_t byte = 0; byte < length * kWidth; byte += kCacheLineBytes) {
      hwy::Prefetch(keys + begin * kWidth + byte);
    }
  }
  HalveRange<kWidth>(keys, key, kWindow, &begin, &length);
  // A whole window that ends inside the array: what it holds before `begin` stands before the bound too.
  begin = HWY_MIN(begin, count - kWindow);
  return begin + CountLess<kWidth>(keys + begin * kWidth, key);
}

size_t LowerBoundPacked(const char* keys, int width, size_t count, uint64_t key) {
  switch (width) {
    case 1: return LowerBoundOfWidth<1>(keys, count, key);
    case 2: return LowerBoundOfWidth<2>(keys, count, key);
    case 3: return LowerBoundOfWidth<3>(keys, count, key);
    case 4: return LowerBoundOfWidth<4>(keys, count, key);
    case 5: return LowerBoundOfWidth<5>(keys, count, key);
    case 6: return LowerBoundOfWidth<6>(keys, count, key);
    case 7: return LowerBoundOfWidth<7>(keys, count, key);
    case 8: return LowerBoundOfWidth<8>(keys, count, key);
    default: return key == 0 ? 0 : count;  // every key is zero
  }
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

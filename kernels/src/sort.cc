#include "penumbra/sort.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sort.cc"
#include <hwy/foreach_target.h>

#include "sort-inl.h"

#if HWY_ONCE
#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace penumbra::kernels {
namespace {

HWY_EXPORT(HasVectorSort);
HWY_EXPORT(AreOrderedI16);
HWY_EXPORT(AreOrderedI32);
HWY_EXPORT(AreOrderedI64);
HWY_EXPORT(AreOrderedU64);
HWY_EXPORT(EncodeFloat4);
HWY_EXPORT(EncodeFloat8);
HWY_EXPORT(DecodeFloat4);
HWY_EXPORT(DecodeFloat8);

// Up to here an insertion sort beats the set-up of Highway's: see README.
constexpr size_t kInsertionMax = 32;
constexpr size_t kSplitterLevels = 8;
constexpr size_t kSamplesPerSplitter = 32;
// Searched side by side, so that the loads of one hide behind the others'.
constexpr size_t kSearches = 8;

static_assert(PENUMBRA_SPLITTERS == (1 << kSplitterLevels) - 1);
static_assert(sizeof(PenumbraWideKey) == sizeof(hwy::uint128_t) && std::endian::native == std::endian::little);

using Wide = hwy::uint128_t;

// Calls f with a null pointer of the kind's type.
template <typename F>
auto WithType(PenumbraKeyKind kind, F f) {
  switch (kind) {
    case PENUMBRA_KEY_INT16: return f(static_cast<int16_t*>(nullptr));
    case PENUMBRA_KEY_INT32: return f(static_cast<int32_t*>(nullptr));
    case PENUMBRA_KEY_INT64: return f(static_cast<int64_t*>(nullptr));
    case PENUMBRA_KEY_UINT64: return f(static_cast<uint64_t*>(nullptr));
    case PENUMBRA_KEY_UINT128: break;
  }
  return f(static_cast<Wide*>(nullptr));
}

template <typename T>
bool Less(T a, T b) {
  return a < b;
}
// A subtraction with borrow. Two comparisons would be a branch that nothing predicts.
inline bool Less(Wide a, Wide b) {
  using Number = unsigned __int128;
  return (Number{a.hi} << 64 | a.lo) < (Number{b.hi} << 64 | b.lo);
}
template <typename T>
bool Equal(T a, T b) {
  return a == b;
}
inline bool Equal(Wide a, Wide b) { return a.hi == b.hi && a.lo == b.lo; }

template <bool kDescending, typename T>
void InsertionSort(T* keys, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const T key = keys[i];
    size_t place = i;
    for (; place > 0 && (kDescending ? Less(keys[place - 1], key) : Less(key, keys[place - 1])); --place) {
      keys[place] = keys[place - 1];
    }
    keys[place] = key;
  }
}

template <typename T>
void SortVectors(T* keys, size_t count, bool descending) {
  const hwy::Sorter sorter;
  if (descending) {
    sorter(keys, count, hwy::SortDescending());
  } else {
    sorter(keys, count, hwy::SortAscending());
  }
}

// Highway before 1.0.4 partitions 4-byte keys with the instruction that compresses lanes into memory, for which AMD's
// Zen 4 takes a hundred cycles. 8-byte keys it partitions in another way, in a quarter of the time.
bool SortsNarrowKeysSlowly() {
#if HWY_ARCH_X86 && !defined(HWY_AVX3_ZEN4)
  static const bool is_slow = __builtin_cpu_is("amd") && (hwy::SupportedTargets() & (HWY_AVX3 | HWY_AVX3_DL)) != 0;
  return is_slow;
#else
  return false;
#endif
}

// False: there is no memory for it.
bool SortWidened(int32_t* keys, size_t count, bool descending) {
  const std::unique_ptr<int64_t[]> wide(new (std::nothrow) int64_t[count]);
  if (wide == nullptr) return false;
  std::copy_n(keys, count, wide.get());
  SortVectors(wide.get(), count, descending);
  std::transform(wide.get(), wide.get() + count, keys, [](int64_t key) { return static_cast<int32_t>(key); });
  return true;
}

template <typename T>
void Sort(T* keys, size_t count, bool descending) {
  if (count <= kInsertionMax) {
    descending ? InsertionSort<true>(keys, count) : InsertionSort<false>(keys, count);
    return;
  }
  if (!HWY_DYNAMIC_DISPATCH(HasVectorSort)()) {
    std::sort(keys, keys + count, [=](const T& a, const T& b) { return descending ? Less(b, a) : Less(a, b); });
    return;
  }
  if constexpr (std::is_same_v<T, int32_t>) {
    if (SortsNarrowKeysSlowly() && SortWidened(keys, count, descending)) return;
  }
  SortVectors(keys, count, descending);
}

inline bool AreOrdered(const int16_t* keys, size_t count, bool descending) {
  return HWY_DYNAMIC_DISPATCH(AreOrderedI16)(keys, count, descending);
}
inline bool AreOrdered(const int32_t* keys, size_t count, bool descending) {
  return HWY_DYNAMIC_DISPATCH(AreOrderedI32)(keys, count, descending);
}
inline bool AreOrdered(const int64_t* keys, size_t count, bool descending) {
  return HWY_DYNAMIC_DISPATCH(AreOrderedI64)(keys, count, descending);
}
inline bool AreOrdered(const uint64_t* keys, size_t count, bool descending) {
  return HWY_DYNAMIC_DISPATCH(AreOrderedU64)(keys, count, descending);
}
inline bool AreOrdered(const Wide* keys, size_t count, bool descending) {
  for (size_t i = 1; i < count; ++i) {
    if (descending ? Less(keys[i - 1], keys[i]) : Less(keys[i], keys[i - 1])) return false;
  }
  return true;
}

// Writes the sorted splitters in the order of a search tree: the children of i are 2i and 2i + 1.
template <typename T>
void PlantTree(const T* sorted, T* tree) {
  for (size_t level = 0; level < kSplitterLevels; ++level) {
    const size_t step = size_t{1} << (kSplitterLevels - level);
    for (size_t i = 0; i < size_t{1} << level; ++i) {
      tree[(size_t{1} << level) + i] = sorted[i * step + step / 2 - 1];
    }
  }
}

// Calls f(key, bucket) for each key in turn.
template <typename T, typename F>
void ForEachBucket(const PenumbraSplitters& splitters, const T* keys, size_t count, F f) {
  const T* tree = reinterpret_cast<const T*>(splitters.tree);
  const T* sorted = reinterpret_cast<const T*>(splitters.sorted);
  for (size_t begin = 0; begin < count; begin += kSearches) {
    const size_t searches = std::min(kSearches, count - begin);
    size_t node[kSearches];
    if (searches == kSearches) {
      std::fill_n(node, kSearches, size_t{1});
      for (size_t level = 0; level < kSplitterLevels; ++level) {
        for (size_t k = 0; k < kSearches; ++k) {
          node[k] = 2 * node[k] + Less(tree[node[k]], keys[begin + k]);
        }
      }
    } else {
      for (size_t k = 0; k < searches; ++k) {
        node[k] = 1;
        for (size_t level = 0; level < kSplitterLevels; ++level) {
          node[k] = 2 * node[k] + Less(tree[node[k]], keys[begin + k]);
        }
      }
    }
    for (size_t k = 0; k < searches; ++k) {
      const T key = keys[begin + k];
      const size_t less = node[k] - PENUMBRA_SPLITTERS - 1;  // splitters below the key
      const bool is_splitter = less < PENUMBRA_SPLITTERS && Equal(sorted[less], key);
      f(key, 2 * less + is_splitter);
    }
  }
}

}  // namespace
}  // namespace penumbra::kernels

using namespace penumbra::kernels;

void penumbra_sort_keys(PenumbraKeyKind kind, void* keys, size_t count, bool descending) {
  WithType(kind, [=](auto* type) { Sort(static_cast<decltype(type)>(keys), count, descending); });
}

void penumbra_reverse_keys(PenumbraKeyKind kind, void* keys, size_t count, size_t begin, size_t end) {
  WithType(kind, [=](auto* type) {
    auto* values = static_cast<decltype(type)>(keys);
    for (size_t i = begin; i < end; ++i) std::swap(values[i], values[count - 1 - i]);
  });
}

bool penumbra_keys_are_ordered(PenumbraKeyKind kind, const void* keys, size_t count, bool descending) {
  return WithType(kind, [=](auto* type) {
    return AreOrdered(static_cast<decltype(type)>(const_cast<void*>(keys)), count, descending);
  });
}

size_t penumbra_drop_equal_keys(PenumbraKeyKind kind, void* keys, size_t count) {
  return WithType(kind, [=](auto* type) {
    auto* begin = static_cast<decltype(type)>(keys);
    size_t kept = count == 0 ? 0 : 1;
    for (size_t i = 1; i < count; ++i) {
      const auto key = begin[i];
      const bool is_other = !Equal(begin[kept - 1], key);
      begin[kept - !is_other] = key;
      kept += is_other;
    }
    return kept;
  });
}

size_t penumbra_select_keys(PenumbraKeyKind kind, const void* keys, size_t count, const void* bound, bool greater,
                            void* out) {
  return WithType(kind, [=](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T* begin = static_cast<const T*>(keys);
    const T limit = *static_cast<const T*>(bound);
    T* selected = static_cast<T*>(out);
    for (size_t i = 0; i < count; ++i) {
      if (greater ? Less(limit, begin[i]) : Less(begin[i], limit)) *selected++ = begin[i];
    }
    return static_cast<size_t>(selected - static_cast<T*>(out));
  });
}

void penumbra_choose_splitters(PenumbraKeyKind kind, const void* keys, size_t count, uint64_t seed,
                               PenumbraSplitters* splitters) {
  splitters->kind = kind;
  WithType(kind, [=](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    constexpr size_t kSamples = PENUMBRA_SPLITTERS * kSamplesPerSplitter;
    alignas(16) T samples[kSamples];
    uint64_t state = seed;
    for (T& sample : samples) {
      // A 64-bit linear congruential generator; its upper bits are the good ones.
      state = state * 6364136223846793005u + 1442695040888963407u;
      sample = static_cast<const T*>(keys)[(state >> 32) % count];
    }
    Sort(samples, kSamples, false);
    T* sorted = reinterpret_cast<T*>(splitters->sorted);
    for (size_t i = 0; i < PENUMBRA_SPLITTERS; ++i) {
      sorted[i] = samples[i * kSamplesPerSplitter + kSamplesPerSplitter / 2];
    }
    PlantTree(sorted, reinterpret_cast<T*>(splitters->tree));
  });
}

void penumbra_count_buckets(const PenumbraSplitters* splitters, const void* keys, size_t count, uint64_t* counts) {
  WithType(splitters->kind, [=](auto* type) {
    ForEachBucket(*splitters, static_cast<decltype(type)>(const_cast<void*>(keys)), count,
                  [=](auto, size_t bucket) { ++counts[bucket]; });
  });
}

void penumbra_scatter_keys(const PenumbraSplitters* splitters, const void* keys, size_t count, uint64_t* positions,
                           void* out) {
  WithType(splitters->kind, [=](auto* type) {
    auto* target = static_cast<decltype(type)>(out);
    ForEachBucket(*splitters, static_cast<decltype(type)>(const_cast<void*>(keys)), count,
                  [=](auto key, size_t bucket) { target[positions[bucket]++] = key; });
  });
}

void penumbra_encode_float4(int32_t* bits, size_t* next, size_t* end, size_t most) {
  HWY_DYNAMIC_DISPATCH(EncodeFloat4)(bits, next, end, most);
}
void penumbra_encode_float8(int64_t* bits, size_t* next, size_t* end, size_t most) {
  HWY_DYNAMIC_DISPATCH(EncodeFloat8)(bits, next, end, most);
}
void penumbra_decode_float4(int32_t* keys, size_t count) { HWY_DYNAMIC_DISPATCH(DecodeFloat4)(keys, count); }
void penumbra_decode_float8(int64_t* keys, size_t count) { HWY_DYNAMIC_DISPATCH(DecodeFloat8)(keys, count); }

void penumbra_encode_bytes16(const void* bytes, size_t count, PenumbraWideKey* keys) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t halves[2];
    std::memcpy(halves, static_cast<const char*>(bytes) + 16 * i, 16);
    keys[i] = {__builtin_bswap64(halves[1]), __builtin_bswap64(halves[0])};
  }
}

void penumbra_decode_bytes16(const PenumbraWideKey* keys, size_t count, void* bytes) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t halves[2] = {__builtin_bswap64(keys[i].high), __builtin_bswap64(keys[i].low)};
    std::memcpy(static_cast<char*>(bytes) + 16 * i, halves, 16);
  }
}
#endif

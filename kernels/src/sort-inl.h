// What of sorting is worth a vector loop beside Highway's sort: order checks and floats as keys.
#if defined(PENUMBRA_KERNELS_SORT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_SORT_INL_H_
#undef PENUMBRA_KERNELS_SORT_INL_H_
#else
#define PENUMBRA_KERNELS_SORT_INL_H_
#endif

#include <utility>

#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

// Blocks of 64 neighbours, so that the first of many unordered keys ends it.
template <typename T>
HWY_INLINE bool AreOrdered(const T* keys, size_t count, bool descending) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 65 <= count; i += 64) {
    auto wrong = hn::FirstN(d, 0);
    for (size_t lane = 0; lane < 64; lane += lanes) {
      const auto before = hn::LoadU(d, keys + i + lane);
      const auto after = hn::LoadU(d, keys + i + lane + 1);
      wrong = hn::Or(wrong, descending ? hn::Lt(before, after) : hn::Lt(after, before));
    }
    if (!hn::AllFalse(d, wrong)) return false;
  }
  for (; i + 1 < count; ++i) {
    if (descending ? keys[i] < keys[i + 1] : keys[i + 1] < keys[i]) return false;
  }
  return true;
}

// Negative numbers are ordered the other way round than their bits; its own inverse.
template <typename T>
HWY_INLINE T FlipNegative(T bits) {
  return bits ^ ((bits >> (8 * sizeof(T) - 1)) & std::numeric_limits<T>::max());
}

template <typename T>
HWY_INLINE void FlipNegatives(T* keys, size_t count) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto value_bits = hn::Set(d, std::numeric_limits<T>::max());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::LoadU(d, keys + i);
    hn::StoreU(hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), value_bits)), d, keys + i);
  }
  for (; i < count; ++i) keys[i] = FlipNegative(keys[i]);
}

// The bits of a NaN, without the sign, are greater than infinity's.
template <typename T>
HWY_INLINE void EncodeFloats(T* bits, size_t* next, size_t* last, size_t most, T infinity) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto value_bits = hn::Set(d, std::numeric_limits<T>::max());
  const auto infinities = hn::Set(d, infinity);
  size_t end = *last;
  size_t i = *next;
  for (size_t steps = most / lanes + 1; i < end && steps > 0; --steps) {
    if (i + lanes <= end) {
      const auto value = hn::LoadU(d, bits + i);
      if (hn::AllFalse(d, hn::Gt(hn::And(value, value_bits), infinities))) {
        hn::StoreU(hn::Xor(value, hn::And(hn::BroadcastSignBit(value), value_bits)), d, bits + i);
        i += lanes;
        continue;
      }
    }
    if ((bits[i] & std::numeric_limits<T>::max()) > infinity) {
      std::swap(bits[i], bits[--end]);
    } else {
      bits[i] = FlipNegative(bits[i]);
      ++i;
    }
  }
  *next = i;
  *last = end;
}

// Whether Highway's sort is of use: it has none for wide keys where there are no vectors, and
// aborts.
inline bool HasVectorSort() { return HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128; }

// HWY_EXPORT takes no templates.
inline bool AreOrderedI16(const int16_t* keys, size_t count, bool descending) {
  return AreOrdered(keys, count, descending);
}
inline bool AreOrderedI32(const int32_t* keys, size_t count, bool descending) {
  return AreOrdered(keys, count, descending);
}
inline bool AreOrderedI64(const int64_t* keys, size_t count, bool descending) {
  return AreOrdered(keys, count, descending);
}
inline bool AreOrderedU64(const uint64_t* keys, size_t count, bool descending) {
  return AreOrdered(keys, count, descending);
}
inline void EncodeFloat4(int32_t* bits, size_t* next, size_t* end, size_t most) {
  EncodeFloats(bits, next, end, most, int32_t{0x7f800000});
}
inline void EncodeFloat8(int64_t* bits, size_t* next, size_t* end, size_t most) {
  EncodeFloats(bits, next, end, most, int64_t{0x7ff0000000000000});
}
inline void DecodeFloat4(int32_t* keys, size_t count) { FlipNegatives(keys, count); }
inline void DecodeFloat8(int64_t* keys, size_t count) { FlipNegatives(keys, count); }

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

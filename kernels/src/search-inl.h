// Search for a short string in a long one.
#if defined(PENUMBRA_KERNELS_SEARCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_SEARCH_INL_H_
#undef PENUMBRA_KERNELS_SEARCH_INL_H_
#else
#define PENUMBRA_KERNELS_SEARCH_INL_H_
#endif

#include "kernels/kernels.h"
#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

HWY_INLINE bool IsNeedleAt(const Needle& needle, const char* place) {
  return std::memcmp(place, needle.bytes, needle.length) == 0;
}

// The first place in [place, end), one by one.
HWY_INLINE size_t FindNeedleSlowly(const Needle& needle, const char* text, size_t place, size_t end) {
  const char first = needle.bytes[needle.probes[0]];
  for (; place < end; ++place) {
    if (text[place + needle.probes[0]] == first && IsNeedleAt(needle, text + place)) return place;
  }
  return end;
}

#if HWY_TARGET != HWY_SCALAR
using SearchTag = BlockTag<uint8_t>;

// Where both probes agree, for Lanes() places from `place` on.
HWY_INLINE hn::Mask<SearchTag> ProbePlaces(const Needle& needle, const uint8_t* place, hn::Vec<SearchTag> first,
                                           hn::Vec<SearchTag> second) {
  const SearchTag d;
  return hn::And(hn::Eq(hn::LoadU(d, place + needle.probes[0]), first),
                 hn::Eq(hn::LoadU(d, place + needle.probes[1]), second));
}

// The first of the candidates that is the needle; 64 if none is. Of two bytes both are known.
HWY_INLINE size_t FirstOf(const Needle& needle, uint64_t candidates, const char* place) {
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto i = static_cast<size_t>(__builtin_ctzll(candidates));
    if (needle.length <= 2 || IsNeedleAt(needle, place + i)) return i;
  }
  return 64;
}
#endif

size_t FindNeedleIn(const Needle& needle, const char* text, size_t begin, size_t length) {
  if (needle.length > length || begin > length - needle.length) return length;
  const size_t end = length - needle.length + 1;  // of the places
  size_t place = begin;
#if HWY_TARGET != HWY_SCALAR
  const SearchTag d;
  const size_t lanes = hn::Lanes(d);
  const auto* bytes = reinterpret_cast<const uint8_t*>(text);
  const auto first = hn::Set(d, static_cast<uint8_t>(needle.bytes[needle.probes[0]]));
  const auto second = hn::Set(d, static_cast<uint8_t>(needle.bytes[needle.probes[1]]));
  for (; place + 2 * lanes <= end; place += 2 * lanes) {
    const auto low = ProbePlaces(needle, bytes + place, first, second);
    const auto high = ProbePlaces(needle, bytes + place + lanes, first, second);
    if (hn::AllFalse(d, hn::Or(low, high))) continue;
    size_t i = FirstOf(needle, WordFromMask(d, low), text + place);
    if (i < 64) return place + i;
    i = FirstOf(needle, WordFromMask(d, high), text + place + lanes);
    if (i < 64) return place + lanes + i;
  }
  for (; place + lanes <= end; place += lanes) {
    const auto found = ProbePlaces(needle, bytes + place, first, second);
    const size_t i = FirstOf(needle, WordFromMask(d, found), text + place);
    if (i < 64) return place + i;
  }
#endif
  place = FindNeedleSlowly(needle, text, place, end);
  return place < end ? place : length;
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

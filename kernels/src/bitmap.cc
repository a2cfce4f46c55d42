#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bitmap.cc"
#include <hwy/foreach_target.h>

#include "bitmap-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

HWY_EXPORT(CountBits);
HWY_EXPORT(BitsToSelection);
HWY_EXPORT(BitsToBytes);
HWY_EXPORT(BytesToBits);
HWY_EXPORT(CompactValuesU16);
HWY_EXPORT(CompactValuesU32);
HWY_EXPORT(CompactValuesU64);

namespace {

// Clears the bits past the last row.
void TrimBits(uint64_t* bits, size_t rows) {
  if (rows % 64 != 0) bits[rows / 64] &= (uint64_t{1} << (rows % 64)) - 1;
}

}  // namespace

// A vector's bitmap is 32 words: the loops below are not worth a dispatch.

void SetBits(uint64_t* bits, size_t rows) {
  for (size_t w = 0; w < BitmapWords(rows); ++w) bits[w] = ~uint64_t{0};
  TrimBits(bits, rows);
}

void AndBits(uint64_t* bits, const uint64_t* other, size_t rows) {
  for (size_t w = 0; w < BitmapWords(rows); ++w) bits[w] &= other[w];
  TrimBits(bits, rows);
}

void OrBits(uint64_t* bits, const uint64_t* other, size_t rows) {
  for (size_t w = 0; w < BitmapWords(rows); ++w) bits[w] |= other[w];
  TrimBits(bits, rows);
}

void AndNotBits(uint64_t* bits, const uint64_t* other, size_t rows) {
  for (size_t w = 0; w < BitmapWords(rows); ++w) bits[w] &= ~other[w];
  TrimBits(bits, rows);
}

void NotBits(uint64_t* bits, size_t rows) {
  for (size_t w = 0; w < BitmapWords(rows); ++w) bits[w] = ~bits[w];
  TrimBits(bits, rows);
}

void CopyBits(const uint64_t* bits, size_t begin, size_t rows, uint64_t* out) {
  const uint64_t* from = bits + begin / 64;
  size_t shift = begin % 64;
  size_t words = BitmapWords(rows);
  size_t source_words = BitmapWords(shift + rows);
  for (size_t w = 0; w < words; ++w) {
    uint64_t word = from[w] >> shift;
    // The next word is read only if rows of it are wanted: it may not exist.
    if (shift != 0 && w + 1 < source_words) word |= from[w + 1] << (64 - shift);
    out[w] = word;
  }
  TrimBits(out, rows);
}

void GatherBits(const uint64_t* bits, const uint16_t* selected, size_t count, uint64_t* out) {
  for (size_t begin = 0; begin < count; begin += 64) {
    size_t end = begin + 64 < count ? begin + 64 : count;
    uint64_t word = 0;
    for (size_t i = begin; i < end; ++i) {
      word |= ((bits[selected[i] / 64] >> (selected[i] % 64)) & 1) << (i - begin);
    }
    out[begin / 64] = word;
  }
}

size_t CountBits(const uint64_t* bits, size_t rows) { return HWY_DYNAMIC_DISPATCH(CountBits)(bits, rows); }

size_t BitsToSelection(const uint64_t* bits, size_t rows, uint16_t* selected) {
  return HWY_DYNAMIC_DISPATCH(BitsToSelection)(bits, rows, selected);
}

void BitsToBytes(const uint64_t* bits, size_t rows, uint8_t* bytes) {
  HWY_DYNAMIC_DISPATCH(BitsToBytes)(bits, rows, bytes);
}

void BytesToBits(const uint8_t* bytes, size_t rows, uint64_t* bits) {
  HWY_DYNAMIC_DISPATCH(BytesToBits)(bytes, rows, bits);
}

template <>
size_t CompactValues(const uint16_t* values, const uint64_t* bits, size_t rows, uint16_t* out) {
  return HWY_DYNAMIC_DISPATCH(CompactValuesU16)(values, bits, rows, out);
}
template <>
size_t CompactValues(const uint32_t* values, const uint64_t* bits, size_t rows, uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(CompactValuesU32)(values, bits, rows, out);
}
template <>
size_t CompactValues(const uint64_t* values, const uint64_t* bits, size_t rows, uint64_t* out) {
  return HWY_DYNAMIC_DISPATCH(CompactValuesU64)(values, bits, rows, out);
}

}  // namespace penumbra::kernels
#endif

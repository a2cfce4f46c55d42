// Counting bits, selections, bytes.
#if defined(PENUMBRA_KERNELS_BITMAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_BITMAP_INL_H_
#undef PENUMBRA_KERNELS_BITMAP_INL_H_
#else
#define PENUMBRA_KERNELS_BITMAP_INL_H_
#endif

#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

size_t CountBits(const uint64_t* bits, size_t rows) {
  size_t count = 0;
  for (size_t w = 0; w < rows / 64; ++w) count += __builtin_popcountll(bits[w]);
  if (rows % 64 != 0) count += __builtin_popcountll(bits[rows / 64] & LowBits(rows % 64));
  return count;
}

HWY_INLINE size_t SelectSparse(uint64_t word, size_t row, uint16_t* selected) {
  size_t count = 0;
  for (; word != 0; word &= word - 1) {
    selected[count++] = static_cast<uint16_t>(row + __builtin_ctzll(word));
  }
  return count;
}

#if HWY_TARGET > HWY_AVX3_DL
// By byte: the positions of its ones, then whatever.
struct BytePositions {
  uint8_t positions[256][8];
};
constexpr BytePositions MakeBytePositions() {
  BytePositions table{};
  for (int byte = 0; byte < 256; ++byte) {
    int count = 0;
    for (uint8_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit) & 1) table.positions[byte][count++] = bit;
    }
  }
  return table;
}
constexpr BytePositions kBytePositions = MakeBytePositions();
#endif

// The lanes whose bit is set, packed together; returns how many. Stores a whole vector: the instruction that compresses
// into memory takes 20 times as long on AMD's Zen 4 as one that compresses a register.
template <typename D, typename V>
HWY_INLINE size_t StoreCompressed(V lanes, uint64_t bits, D d, hn::TFromD<D>* out) {
  if (hn::Lanes(d) < 64) bits &= LowBits(hn::Lanes(d));
  uint8_t bytes[8];
  std::memcpy(bytes, &bits, 8);
  hn::StoreU(hn::CompressBits(lanes, bytes), d, out);
  return static_cast<size_t>(__builtin_popcountll(bits));
}

// A target that compresses 16-bit lanes in one instruction does that. Elsewhere Highway takes about
// 190 instructions for 16 lanes; a table of the 256 bytes takes 7 for 8 rows.
size_t BitsToSelection(const uint64_t* bits, size_t rows, uint16_t* selected) {
  const BlockTag<uint16_t> d;
  const size_t lanes = hn::Lanes(d);
  size_t count = 0;
  for (size_t row = 0; row < rows; row += 64) {
    uint64_t word = WordOrOnes(bits, row / 64, rows);
    if (word == 0) continue;
    // A handful of bits is faster one by one.
    if (lanes < 8 || __builtin_popcountll(word) <= 8) {
      count += SelectSparse(word, row, selected + count);
      continue;
    }
#if HWY_TARGET > HWY_AVX3_DL
    const hn::CappedTag<uint16_t, 8> d16;
    const hn::Rebind<uint8_t, decltype(d16)> d8;
    for (size_t first = row; word != 0; first += 8, word >>= 8) {
      const auto positions = hn::PromoteTo(d16, hn::LoadU(d8, kBytePositions.positions[word & 255]));
      hn::StoreU(hn::Add(positions, hn::Set(d16, static_cast<uint16_t>(first))), d16, selected + count);
      count += static_cast<size_t>(__builtin_popcountll(word & 255));
    }
#else
    auto indexes = hn::Iota(d, static_cast<uint16_t>(row));
    for (size_t lane = 0; lane < 64; lane += lanes) {
      count += StoreCompressed(indexes, word >> lane, d, selected + count);
      indexes = hn::Add(indexes, hn::Set(d, static_cast<uint16_t>(lanes)));
    }
#endif
  }
  return count;
}

HWY_INLINE void WordToBytes(uint64_t word, uint8_t* bytes) {
  const BlockTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t lane = 0; lane < 64; lane += lanes) {
    hn::StoreU(hn::IfThenElseZero(MaskFromWord(d, word >> lane), hn::Set(d, uint8_t{1})), d, bytes + lane);
  }
}

void BitsToBytes(const uint64_t* bits, size_t rows, uint8_t* bytes) {
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) WordToBytes(bits[row / 64], bytes + row);
  if (row < rows) {
    uint8_t tail[64];
    WordToBytes(bits[row / 64], tail);
    std::memcpy(bytes + row, tail, rows - row);
  }
}

HWY_INLINE uint64_t BytesToWord(const uint8_t* bytes) {
  const BlockTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  uint64_t word = 0;
  for (size_t lane = 0; lane < 64; lane += lanes) {
    word |= WordFromMask(d, hn::Ne(hn::LoadU(d, bytes + lane), hn::Zero(d))) << lane;
  }
  return word;
}

void BytesToBits(const uint8_t* bytes, size_t rows, uint64_t* bits) {
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) bits[row / 64] = BytesToWord(bytes + row);
  if (row < rows) {
    uint8_t tail[64] = {};
    std::memcpy(tail, bytes + row, rows - row);
    bits[row / 64] = BytesToWord(tail);
  }
}

// Few values are copied one by one, and so are those of an incomplete last word. Compressed lanes are stored as whole
// vectors. Such a store stays within the place of the lanes just read, since out grows no faster than row.
template <typename T>
HWY_INLINE size_t CompactValuesOf(const T* values, const uint64_t* bits, size_t rows, T* out) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t count = 0;
  for (size_t row = 0; row < rows; row += 64) {
    uint64_t word = WordOrOnes(bits, row / 64, rows);
    if (word == 0) continue;
    if (row + 64 > rows || lanes < 2 || __builtin_popcountll(word) <= 4) {
      for (; word != 0; word &= word - 1) out[count++] = values[row + __builtin_ctzll(word)];
      continue;
    }
    for (size_t lane = 0; lane < 64; lane += lanes) {
      count += StoreCompressed(hn::LoadU(d, values + row + lane), word >> lane, d, out + count);
    }
  }
  return count;
}

size_t CompactValuesU16(const uint16_t* values, const uint64_t* bits, size_t rows, uint16_t* out) {
  return CompactValuesOf(values, bits, rows, out);
}
size_t CompactValuesU32(const uint32_t* values, const uint64_t* bits, size_t rows, uint32_t* out) {
  return CompactValuesOf(values, bits, rows, out);
}
size_t CompactValuesU64(const uint64_t* values, const uint64_t* bits, size_t rows, uint64_t* out) {
  return CompactValuesOf(values, bits, rows, out);
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

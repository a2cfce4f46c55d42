#include "vector_build.h"

#include <new>

namespace penumbra {

void PackBytes(const uint8_t* bytes, uint32_t rows, uint64_t* bits) {
  uint32_t row = 0;
  for (; row + 64 <= rows; row += 64) {
    uint64_t word = 0;
    for (uint32_t k = 0; k < 8; ++k) {
      uint64_t eight;
      std::memcpy(&eight, bytes + row + 8 * k, 8);
      eight &= 0x0101010101010101ull;  // the byte of a null row may be anything
      // Moves the low bit of byte j to bit 56 + j; the partial products do not collide.
      word |= ((eight * 0x0102040810204080ull) >> 56) << (8 * k);
    }
    bits[row / 64] = word;
  }
  if (row < rows) {
    uint64_t word = 0;
    for (uint32_t i = row; i < rows; ++i) word |= uint64_t{bytes[i] & 1u} << (i - row);
    bits[row / 64] = word;
  }
}

void UnpackBits(const uint64_t* bits, uint32_t rows, uint8_t* bytes) {
  uint32_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    const uint64_t eight = (bits[row / 64] >> (row % 64)) & 0xff;
    // Each byte keeps its own bit of the eight copies; adding 0x7f carries it to the top.
    const uint64_t spread = (eight * 0x0101010101010101ull) & 0x8040201008040201ull;
    const uint64_t ones = ((spread + 0x00406070787c7e7full) >> 7) & 0x0101010101010101ull;
    std::memcpy(bytes + row, &ones, 8);
  }
  for (; row < rows; ++row) bytes[row] = IsBitSet(bits, row);
}

uint32_t SelectBits(const uint64_t* bits, uint32_t rows, uint16_t* selected) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < BitWords(rows); ++w) {
    uint64_t word = bits[w];
    if (word == ~uint64_t{0}) {
      for (uint32_t i = 0; i < 64; ++i) selected[count + i] = static_cast<uint16_t>(w * 64 + i);
      count += 64;
      continue;
    }
    while (word != 0) {
      selected[count++] = static_cast<uint16_t>(w * 64 + std::countr_zero(word));
      word &= word - 1;
    }
  }
  return count;
}

Vector VectorFromTruth(const Truth& truth, uint32_t rows, Arena& arena) {
  uint8_t* values = arena.AllocateArray<uint8_t>(rows);
  UnpackBits(truth.is_true, rows, values);
  uint64_t* validity = nullptr;
  if (truth.has_nulls) {
    const uint32_t words = BitWords(rows);
    validity = arena.AllocateArray<uint64_t>(words);
    for (uint32_t w = 0; w < words; ++w) validity[w] = ~truth.is_null[w];
  }
  return FlatVector(PENUMBRA_BOOL, values, validity);
}

Batch GatherBatch(const Batch& batch, const std::vector<int>& columns, const uint16_t* selected,
                  uint32_t count, Arena& arena) {
  Vector* vectors = arena.AllocateArray<Vector>(batch.column_count);
  std::uninitialized_default_construct_n(vectors, batch.column_count);
  for (int column : columns) {
    vectors[column] = Gather(batch.columns[column], selected, count, arena);
  }
  return {count, batch.column_count, vectors};
}

}  // namespace penumbra

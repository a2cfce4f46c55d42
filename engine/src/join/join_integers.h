// Sets of integers: what a join's build side knows of an integer key.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "vector/vector_build.h"

namespace penumbra {

// Of the values of an integer key; least > greatest: there are none.
struct KeyRange {
  int64_t least = INT64_MAX;
  int64_t greatest = INT64_MIN;

  bool is_empty() const { return least > greatest; }
  // Without the first value: up to 2^64 - 1.
  uint64_t span() const { return static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least); }
  void Add(const KeyRange& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
  // Of a vector of an integer type in any form.
  void Add(const Vector& v, uint32_t rows, Arena& arena);
};

// A set of integers as bits.
class KeyBitmap {
 public:
  // Whether the bits are worth their memory, which also has to be cleared and to stay in caches.
  static bool IsWorthIt(const KeyRange& range, uint64_t rows);

  // Empty; in `arena`.
  KeyBitmap(const KeyRange& range, Arena& arena);
  void Add(int64_t value) {
    const uint64_t place = PlaceOf(value);
    words_[place / 64] |= uint64_t{1} << (place % 64);
  }
  void AddConcurrently(int64_t value) {
    const uint64_t place = PlaceOf(value);
    std::atomic_ref(words_[place / 64]).fetch_or(uint64_t{1} << (place % 64), std::memory_order_relaxed);
  }
  bool Has(int64_t value) const {
    const uint64_t place = std::min(PlaceOf(value), span_ + 1);
    return (words_[place / 64] >> (place % 64)) & 1;
  }
  // Clears the bits of the rows that are not in it.
  template <typename T>
  void ClearOthers(const T* values, uint32_t rows, uint64_t* bits) const;
  // The same of base + codes[i]; false: not for this base.
  bool ClearOthers(const uint16_t* codes, int64_t base, uint32_t rows, uint64_t* bits) const;
  // Of a range within the bitmap's.
  bool HasAny(int64_t least, int64_t greatest) const;
  uint64_t Count() const;

 private:
  uint64_t PlaceOf(int64_t value) const { return static_cast<uint64_t>(value) - static_cast<uint64_t>(least_); }

  int64_t least_;
  uint64_t span_;
  uint64_t* words_;  // with one bit more than the range, which stays zero: what lies outside asks for that
};

// work(values) of a flat vector of an integer type.
template <typename Work>
auto WithIntegers(const Vector& flat, const Work& work) {
  switch (FlatWidth(flat)) {
    case 1: return work(flat.values<uint8_t>());
    case 2: return work(flat.values<int16_t>());
    case 4: return work(flat.values<int32_t>());
    default: return work(flat.values<int64_t>());
  }
}

// Clears the bits of rows for which test(i) is 0; whole words that are clear already cost nothing.
template <typename Test>
void ClearBits(uint32_t rows, uint64_t* bits, Test test) {
  for (uint32_t w = 0; w < BitWords(rows); ++w) {
    if (bits[w] == 0) continue;
    const uint32_t count = std::min(64u, rows - w * 64);
    uint64_t truth = 0;
    for (uint32_t i = 0; i < count; ++i) truth |= uint64_t{test(w * 64 + i)} << i;
    bits[w] &= truth;
  }
}

// Clears the bits of the rows that are not in the bitmap, or, where there is none, not in the range. Integer types, any
// form; nulls are not in it.
void ApplyIntegers(const KeyRange& range, const KeyBitmap* bitmap, const Vector& v, uint32_t rows, Arena& arena,
                   uint64_t* bits);

}  // namespace penumbra

// What functions build their results with: new vectors, validity, bitmaps of truth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/kernels.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

inline uint32_t BitWords(uint32_t rows) { return (rows + 63) / 64; }
// The bits of the last word that belong to rows.
inline uint64_t LastWordMask(uint32_t rows) { return rows % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << (rows % 64)) - 1; }

inline Vector NullConstant(PenumbraType type) {
  Vector v;
  v.type = type;
  v.form = VectorForm::kConstant;
  return v;
}

// The length of the longest string among the rows; 0 without strings.
uint32_t LongestString(const Vector& v, uint32_t rows);

// A flat vector over `values`, which the caller fills.
inline Vector FlatVector(PenumbraType type, const void* values, const uint64_t* validity) {
  Vector v;
  v.type = type;
  v.data = values;
  v.validity = validity;
  return v;
}
// Of each row the entry that its code has; null where the row is. Codes are those of `coded`, a dictionary vector.
inline Vector WithEntries(const Vector& coded, const Vector& entries, Arena& arena) {
  Vector result = entries;
  result.form = VectorForm::kDictionary;
  result.code_bytes = coded.code_bytes;
  result.dictionary_size = coded.dictionary_size;
  result.data = coded.data;
  result.validity = coded.validity;
  result.dictionary = new (arena.Allocate(sizeof(Vector))) Vector(entries);
  result.dictionary_id = 0;
  return result;
}

// Rows of a dictionary vector's column, told by their codes, a flat vector of integers as wide as its codes.
inline Vector WithCodes(const Vector& column, const Vector& codes) {
  Vector v = column;
  v.data = codes.data;
  v.validity = codes.validity;
  return v;
}

// Rows valid in both; either may be null (all rows valid).
inline const uint64_t* AndValidity(const uint64_t* a, const uint64_t* b, uint32_t rows, Arena& arena) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  const uint32_t words = BitWords(rows);
  uint64_t* both = arena.AllocateArray<uint64_t>(words);
  for (uint32_t w = 0; w < words; ++w) both[w] = a[w] & b[w];
  return both;
}

inline bool IsBitSet(const uint64_t* bits, uint32_t i) { return (bits[i / 64] >> (i % 64)) & 1; }
inline bool IsRowValid(const uint64_t* validity, uint32_t i) { return validity == nullptr || IsBitSet(validity, i); }

// A boolean result as bitmaps: row i is true, or null (then not true). Bits past the rows are zero in
// is_true; is_null is defined only when has_nulls.
struct Truth {
  uint64_t is_true[kValidityWords];
  uint64_t is_null[kValidityWords];
  bool has_nulls;
};

// Makes the rows that are not valid null in truth; before, it has no nulls.
inline void ApplyValidity(const uint64_t* validity, uint32_t rows, Truth* truth) {
  truth->has_nulls = validity != nullptr;
  if (validity == nullptr) return;
  for (uint32_t w = 0; w < BitWords(rows); ++w) {
    truth->is_true[w] &= validity[w];
    truth->is_null[w] = ~validity[w];
  }
}

Vector VectorFromTruth(const Truth& truth, uint32_t rows, Arena& arena);

// One argument's values: flat or constant, without a copy.
template <typename T>
struct View {
  const T* values;
  uint32_t stride;  // 0: constant
  const T& operator[](uint32_t row) const { return values[row * stride]; }
};
// `v` of any form but a null constant; a dictionary is made flat (its vector's validity is unchanged).
template <typename T>
View<T> ViewOf(const Vector& v, uint32_t rows, Arena& arena) {
  if (v.is_constant()) return {v.values<T>(), 0};
  if (v.form == VectorForm::kDictionary) return {Flatten(v, rows, arena).values<T>(), 1};
  return {v.values<T>(), 1};
}

// Calls f(row) for each valid row: for functions that may fail or cost much.
template <typename F>
void ForEachValid(const uint64_t* validity, uint32_t rows, F f) {
  if (validity == nullptr) {
    for (uint32_t i = 0; i < rows; ++i) f(i);
    return;
  }
  for (uint32_t w = 0; w < BitWords(rows); ++w) {
    uint64_t word = validity[w];
    if (w == rows / 64) word &= LastWordMask(rows);
    for (; word != 0; word &= word - 1) f(w * 64 + static_cast<uint32_t>(std::countr_zero(word)));
  }
}

inline bool IsInteger(PenumbraType type) {
  return type == PENUMBRA_INT2 || type == PENUMBRA_INT4 || type == PENUMBRA_INT8;
}
inline bool IsFloat(PenumbraType type) { return type == PENUMBRA_FLOAT4 || type == PENUMBRA_FLOAT8; }
// Whether values of the two types have one order.
inline bool AreComparable(PenumbraType a, PenumbraType b) {
  return a == b || (IsInteger(a) && IsInteger(b)) || (IsFloat(a) && IsFloat(b));
}

// bit i = test(i).
template <typename Test>
void PackTests(uint32_t rows, uint64_t* bits, Test test) {
  uint8_t bytes[kVectorRows];
  for (uint32_t i = 0; i < rows; ++i) bytes[i] = test(i);
  kernels::BytesToBits(bytes, rows, bits);
}

// The rows of the batch named by `selected`; only the columns listed are gathered, the others are unset.
Batch GatherBatch(const Batch& batch, const std::vector<int>& columns, const uint16_t* selected, uint32_t count,
                  Arena& arena);

}  // namespace penumbra

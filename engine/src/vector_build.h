// What functions build their results with: new vectors, validity, bitmaps of truth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "arena.h"
#include "expr.h"
#include "vector.h"

namespace penumbra {

inline uint32_t BitWords(uint32_t rows) { return (rows + 63) / 64; }
// The bits of the last word that belong to rows.
inline uint64_t LastWordMask(uint32_t rows) {
  return rows % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << (rows % 64)) - 1;
}

inline Vector NullConstant(PenumbraType type) {
  Vector v;
  v.type = type;
  v.form = VectorForm::kConstant;
  return v;
}

// A flat vector over `values`, which the caller fills.
inline Vector FlatVector(PenumbraType type, const void* values, const uint64_t* validity) {
  Vector v;
  v.type = type;
  v.data = values;
  v.validity = validity;
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
inline bool IsRowValid(const uint64_t* validity, uint32_t i) {
  return validity == nullptr || IsBitSet(validity, i);
}

inline void SetBits(uint64_t* bits, uint32_t rows) {
  const uint32_t words = BitWords(rows);
  for (uint32_t w = 0; w < words; ++w) bits[w] = ~uint64_t{0};
  if (words > 0) bits[words - 1] = LastWordMask(rows);
}

inline uint32_t CountBits(const uint64_t* bits, uint32_t rows) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < BitWords(rows); ++w) count += std::popcount(bits[w]);
  return count;
}

// Bytes 0/1 to bits; the bits past the rows are zero.
void PackBytes(const uint8_t* bytes, uint32_t rows, uint64_t* bits);
void UnpackBits(const uint64_t* bits, uint32_t rows, uint8_t* bytes);
// The rows whose bits are set (none past the rows may be); returns how many.
uint32_t SelectBits(const uint64_t* bits, uint32_t rows, uint16_t* selected);

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
// evaluate and evaluate_lazily of functions that are written as evaluate_truth, evaluate_lazy_truth.
Vector EvaluateByTruth(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateLazilyByTruth(const Expr& expr, const Batch& batch, EvalContext& context);

// The rows of the batch named by `selected`; only the columns listed are gathered, the others are unset.
Batch GatherBatch(const Batch& batch, const std::vector<int>& columns, const uint16_t* selected,
                  uint32_t count, Arena& arena);

}  // namespace penumbra

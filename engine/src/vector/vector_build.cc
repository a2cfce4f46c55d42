#include "vector/vector_build.h"

#include <algorithm>
#include <new>

namespace penumbra {

Vector VectorFromTruth(const Truth& truth, uint32_t rows, Arena& arena) {
  uint8_t* values = arena.AllocateArray<uint8_t>(rows);
  kernels::BitsToBytes(truth.is_true, rows, values);
  uint64_t* validity = nullptr;
  if (truth.has_nulls) {
    const uint32_t words = BitWords(rows);
    validity = arena.AllocateArray<uint64_t>(words);
    for (uint32_t w = 0; w < words; ++w) validity[w] = ~truth.is_null[w];
  }
  return FlatVector(PENUMBRA_BOOL, values, validity);
}

uint32_t LongestString(const Vector& v, uint32_t rows) {
  if (!IsStringForm(v) || v.is_null_constant()) return 0;
  if (v.is_constant()) return v.values<StringRef>()->length;
  uint32_t longest = 0;
  if (v.form == VectorForm::kFlat) {
    for (uint32_t i = 0; i < rows; ++i) longest = std::max(longest, v.values<StringRef>()[i].length);
  } else {
    const auto* entries = v.dictionary->values<StringRef>();
    for (uint32_t i = 0; i < rows; ++i) longest = std::max(longest, entries[v.Code(i)].length);
  }
  return longest;
}

Batch GatherBatch(const Batch& batch, const std::vector<int>& columns, const uint16_t* selected, uint32_t count,
                  Arena& arena) {
  Vector* vectors = arena.AllocateArray<Vector>(batch.column_count);
  std::uninitialized_default_construct_n(vectors, batch.column_count);
  for (int column : columns) {
    vectors[column] = Gather(batch.columns[column], selected, count, arena);
  }
  return {count, batch.column_count, vectors};
}

}  // namespace penumbra

// What sinks read and write vectors with: selections of rows, and flat vectors in the making.
#pragma once

#include <cstring>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// Some rows of a batch: rows[0..count), or 0..count-1 when `rows` is null.
struct RowSelection {
  const uint16_t* rows = nullptr;
  uint32_t count = 0;
};

// A flat result vector in the making.
struct ResultVector {
  Vector vector;
  uint64_t* validity = nullptr;

  void SetNull(uint32_t row, Arena& arena) {
    if (validity == nullptr) {
      validity = arena.AllocateArray<uint64_t>(kValidityWords);
      std::memset(validity, 0xff, kValidityWords * 8);
      vector.validity = validity;
    }
    validity[row / 64] &= ~(uint64_t{1} << (row % 64));
  }
};
template <typename T>
ResultVector MakeResult(PenumbraType type, uint32_t rows, Arena& arena, T** values) {
  ResultVector result;
  result.vector.type = type;
  *values = arena.AllocateArray<T>(rows);
  std::memset(static_cast<void*>(*values), 0, rows * sizeof(T));
  result.vector.data = *values;
  return result;
}

}  // namespace penumbra

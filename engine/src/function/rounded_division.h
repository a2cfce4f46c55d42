// Divisions of integers by a constant, rounded: what rounding to a scale and rounding a quotient have in common.
#pragma once

#include "numeric/numeric_rows.h"
#include "vector/vector.h"

namespace penumbra {

// value * factor / divisor, rounded, * back.
struct RoundedDivision {
  uint64_t factor = 1;
  uint64_t divisor = 1;
  uint64_t back = 1;
  Rounding rounding = Rounding::kTruncate;
  bool is_negated = false;  // before it is rounded

  // Whether no step exceeds 2^63, by the bounds of a kInt64 vector.
  bool Takes(const Vector& v) const;
  int128 ComputeOne(int128 value) const;
  // Of null rows, which may hold anything, something.
  void Compute(const int64_t* values, uint32_t rows, int64_t* out) const;
};

}  // namespace penumbra

// One vector from the values of several branches, each of which counts for a part of the rows.
#pragma once

#include <vector>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

struct Piece {
  Vector value;              // any form
  const uint16_t* selected;  // the rows that it counts for, ascending
  uint32_t count;
  bool is_dense;  // value has all of the batch's rows; else row selected[j] is at j
};

// Rows that no piece names are null. NUMERIC values keep their display scales, unless `hides_scale`: then
// they may get the greatest of them.
Vector MergePieces(PenumbraType type, const std::vector<Piece>& pieces, uint32_t rows, bool hides_scale, Arena& arena);

}  // namespace penumbra

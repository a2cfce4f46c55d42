// What a sort is asked to do.
#pragma once

#include <cstdint>
#include <vector>

#include "expression/expr.h"
#include "penumbra/engine.h"

namespace penumbra {

struct SortKeySpec {
  const Expr* expr = nullptr;
  bool descending = false;
  bool nulls_first = false;
  const Collation* collation = nullptr;  // of text; null: C
};
struct SortSpec {
  std::vector<SortKeySpec> keys;
  std::vector<PenumbraType> column_types;  // of the batches, all of which pass through
  int64_t limit = -1;                      // -1: all rows
  int64_t offset = 0;
};

}  // namespace penumbra

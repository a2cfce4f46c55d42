// What a recursion is asked to do.
#pragma once

#include <vector>

#include "penumbra/types.h"

namespace penumbra {

// WITH RECURSIVE: the rows of the first input, then what becomes of them in the recursive term, and what becomes of
// these, until nothing does.
struct RecursionSpec {
  std::vector<PenumbraType> types;
  bool is_distinct = false;    // UNION: a row that has been there before is dropped
  bool gives_late = false;     // no row before the last is computed, so that none is out when memory ends
  bool is_read_again = false;  // several pipelines read the rows
};

}  // namespace penumbra

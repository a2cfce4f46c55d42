// What unnesting is asked to do.
#pragma once

#include <algorithm>
#include <vector>

#include "penumbra/engine.h"

namespace penumbra {

// For each row of the input as many rows as its longest list has elements; without lists as many as the column `times`
// says. Output columns: the input's, then one of elements for each list, then the number of the element.
struct UnnestSpec {
  std::vector<PenumbraUnnestList> lists;
  int times = -1;  // without lists
  size_t input_columns = 0;
  bool keeps_empty = false;  // a row without elements comes out once, with nulls
  bool has_ordinality = false;
  std::vector<bool> needed;  // of the output

  // Whether the column is one of the input's, and read for nothing else.
  bool Passes(int column) const {
    return static_cast<size_t>(column) < input_columns && column != times &&
           std::none_of(
               lists.begin(), lists.end(), [column](const PenumbraUnnestList& list) { return list.column == column; });
  }
  bool CanBeUnsupported() const {
    return std::any_of(lists.begin(), lists.end(), [](const PenumbraUnnestList& list) { return list.may_be_refused; });
  }
};

}  // namespace penumbra

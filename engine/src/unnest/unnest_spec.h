// What unnesting is asked to do.
#pragma once

#include <vector>

#include "aggregate/aggregation_spec.h"
#include "penumbra/engine.h"

namespace penumbra {

// For each row of the input as many rows as its longest list has elements; without lists as many as the column `times`
// says. Unnested columns: the input's, then one of elements for each list, then the number of the element. They are the
// output, unless they are aggregated: then the rows are the input's, each with the aggregates of its elements.
struct UnnestSpec {
  std::vector<PenumbraUnnestList> lists;
  int times = -1;  // without lists
  size_t input_columns = 0;
  bool keeps_empty = false;  // a row without elements comes out once, with nulls
  bool has_ordinality = false;
  std::vector<AggregateSpec> aggregates;  // of the unnested columns; output columns after the input's
  bool is_aggregated = false;
  int single = -1;           // the aggregate that counts elements of which a row may have one; -1: none
  std::vector<bool> needed;  // of the output

  size_t unnested_columns() const { return input_columns + lists.size() + (has_ordinality ? 1 : 0); }
  // The unnested columns that the aggregates read.
  std::vector<int> AggregatedColumns() const;
  // Whether the column is one of the input's, and read for nothing else.
  bool Passes(int column) const;
  bool CanFail() const;
  bool CanBeUnsupported() const;
};

}  // namespace penumbra

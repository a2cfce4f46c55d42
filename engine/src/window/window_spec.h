// What a window is asked to do.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregate/aggregation_spec.h"
#include "penumbra/engine.h"
#include "sort/sort_spec.h"

namespace penumbra {

// Which of the window's order keys are of a function's own order: the first tell its partitions, too, and its peers
// differ in the last.
struct WindowOrder {
  size_t earlier_keys = 0;
  size_t later_keys = 0;
  bool operator==(const WindowOrder& other) const {
    return earlier_keys == other.earlier_keys && later_keys == other.later_keys;
  }
};

struct WindowFunctionSpec {
  PenumbraWindowFunction function = PENUMBRA_WINDOW_ROW_NUMBER;
  PenumbraType result = PENUMBRA_INT8;
  const Expr* value = nullptr;          // of LAG, LEAD and the ..._VALUE functions
  const Expr* default_value = nullptr;  // of LAG and LEAD; null: NULL
  int64_t count = 0;                    // of LAG, LEAD, NTH_VALUE: rows; of NTILE: buckets
  const Expr* count_value = nullptr;    // int4, in place of it
  bool ignores_nulls = false;           // of LAG to NTH_VALUE
  AggregateSpec aggregate = {};         // of AGGREGATE
  PenumbraFrameMode mode = PENUMBRA_FRAME_RANGE;
  PenumbraFrameExclusion exclusion = PENUMBRA_EXCLUDE_NO_OTHERS;
  PenumbraFrameBound start = {};  // without the edge
  PenumbraFrameBound end = {};
  const Expr* range_key = nullptr;  // of RANGE with an offset
  const Expr* start_edge = nullptr;
  const Expr* end_edge = nullptr;
  WindowOrder order;
};

// The expressions that the function reads of a row.
template <typename Visit>
void ForEachExpr(const WindowFunctionSpec& function, const Visit& visit) {
  for (const Expr* expr : {function.value, function.default_value, function.count_value, function.range_key,
                           function.start_edge, function.end_edge, function.aggregate.filter}) {
    if (expr != nullptr) visit(*expr);
  }
  for (const Expr* argument : function.aggregate.arguments) visit(*argument);
}

inline bool HasOffset(const PenumbraFrameBound& bound) {
  return bound.kind == PENUMBRA_FRAME_PRECEDING || bound.kind == PENUMBRA_FRAME_FOLLOWING;
}

// Rows that need not come out: those of which the rank exceeds `count`.
struct WindowLimit {
  PenumbraWindowFunction rank = PENUMBRA_WINDOW_ROW_NUMBER;  // or RANK, DENSE_RANK
  int64_t count = 0;                                         // 0: all come out
};

// The functions of one order, of which each may have a part for its own. Output columns: those of the batches, then the
// functions.
struct WindowSpec {
  bool any_partition_order = false;  // partitions may come in any order
  std::vector<const Expr*> partition_keys;
  std::vector<SortKeySpec> order_keys;
  std::vector<PenumbraType> column_types;
  std::vector<WindowFunctionSpec> functions;
  WindowLimit limit;         // some that exceed it may come out
  std::vector<bool> needed;  // of the output
};

}  // namespace penumbra

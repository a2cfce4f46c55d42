// The nodes of a plan's graph.
#pragma once

#include <deque>
#include <vector>

#include "aggregate/aggregation_spec.h"
#include "expression/expr.h"
#include "join/join_spec.h"
#include "penumbra/engine.h"
#include "recursion/recursion_spec.h"
#include "scan/scan_spec.h"
#include "sort/sort_spec.h"
#include "unnest/unnest_spec.h"
#include "window/window_spec.h"

namespace penumbra {

// A column of an operator's output.
struct OutputColumn {
  PenumbraType type;
  NumericTraits numeric = {};
};

// A node of the graph. Its inputs were made before it, so numbers ascend from the scans to the output.
struct Operator {
  // operator_kinds.h has what is known of each.
  enum class Kind : uint8_t {
    kScan,
    kFilter,
    kProjection,
    kUnion,
    kJoin,
    kAggregation,
    kSort,
    kWindow,
    kUnnest,
    kWorkingTable,
    kRecursion
  };

  Kind kind;
  std::vector<PenumbraOperator> inputs;
  std::vector<OutputColumn> output;
  ScanSpec scan;                   // kScan
  std::vector<const Expr*> exprs;  // kFilter: conjuncts; kProjection: the columns
  bool runs_in_scan = false;       // kFilter: the scan below evaluates it
  JoinSpec join;                   // kJoin: inputs are the probe and the build side
  AggregationSpec aggregation;     // kAggregation
  SortSpec sort;                   // kSort
  WindowSpec window;               // kWindow
  UnnestSpec unnest;               // kUnnest
  RecursionSpec recursion;         // kRecursion: inputs are the non-recursive and the recursive term
  std::vector<bool> needed;        // which columns of the output somebody reads
  int users = 0;                   // operators that have it as an input
  bool is_read_again = false;      // more than one pipeline reads it, see Plan::TakeInput

  std::vector<PenumbraType> output_types() const;
};

// Grows without moving what is in it, which is large.
using Operators = std::deque<Operator>;

}  // namespace penumbra

// What a scan is asked to do. The scan knows nothing else of the plan that it is in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/expr.h"
#include "operator/key_filter.h"
#include "scan/scan_predicate.h"
#include "segment/segment.h"

namespace penumbra {

// A conjunct that the scan evaluates itself, or a join's runtime filter.
struct ScanFilter {
  const Expr* expr = nullptr;                // null: a runtime filter
  std::unique_ptr<ScanPredicate> predicate;  // null: decode and evaluate
  std::vector<int> columns;                  // that it reads, each once
  const KeyFilter* keys = nullptr;           // of a runtime filter
  int join = -1;                             // its operator
  std::string remembered_key;                // see remembered_filter.h; empty: it is not remembered
  int remembered = -1;                       // its number among those of the scan that are

  bool can_fail() const { return expr != nullptr && expr->can_fail; }
};

// That a column is, all the way up, the key of a join, which knows when the scan begins which values match.
struct RuntimeFilter {
  int join;  // an operator of the plan
  int key;
  int column;
};

struct ScanSpec {
  std::vector<PenumbraType> types;  // of the columns
  std::vector<ScanFilter> filters;  // those that cannot fail first, the others in the order given
  int remembered_filters = 0;
  std::vector<bool> needed;  // columns to be decoded for the rows that pass
  std::vector<RuntimeFilter> runtime_filters;
  // The sink takes what metadata says of these columns in place of rows.
  bool takes_summaries = false;
  std::vector<SummaryColumn> summary_columns;
};

}  // namespace penumbra

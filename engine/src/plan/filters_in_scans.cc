// A filter right above a scan runs inside it, where zone maps and encodings answer it and what it drops is
// never decoded.
//
// Conjuncts that cannot fail run first, in any order: the same rows pass, and no error can tell. Those that
// can fail keep their order and see only the rows that all before them let through. For the same reason they
// never run on a dictionary, whose entries may belong to other rows.
//
// A filter above that one stays a step: an adapter separates conditions by filters when the upper ones must not
// see rows that the lower ones hide, not even by a zone map, since skipped chunks are counted and shown.
#include <algorithm>

#include "plan/passes.h"
#include "scan/remembered_filter.h"

namespace penumbra {
namespace {

// What threads keep of a chunk for each; more conditions of one query are evaluated each time.
constexpr int kRememberedFiltersMax = 8;

void CompileFilters(const std::vector<const Expr*>& conjuncts, std::vector<ScanFilter>* filters) {
  for (const Expr* conjunct : conjuncts) {
    ScanFilter& filter = filters->emplace_back();
    filter.expr = conjunct;
    CollectColumns(*conjunct, &filter.columns);
    if (filter.columns.size() == 1 && !conjunct->can_fail) filter.predicate = ScanPredicate::Compile(*conjunct);
  }
  std::stable_partition(filters->begin(), filters->end(),
                        [](const ScanFilter& filter) { return !filter.expr->can_fail; });
}

void NumberRemembered(ScanSpec* scan) {
  for (ScanFilter& filter : scan->filters) {
    if (filter.expr->can_fail || scan->remembered_filters == kRememberedFiltersMax) break;
    filter.remembered_key = RememberedKey(*filter.expr);
    if (!filter.remembered_key.empty()) filter.remembered = scan->remembered_filters++;
  }
}

}  // namespace

void RunFiltersInScans(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    Operator& filter = (*operators)[id];
    if (filter.kind != Operator::Kind::kFilter) continue;
    Operator& input = (*operators)[filter.inputs[0]];
    if (input.kind != Operator::Kind::kScan) continue;
    CompileFilters(filter.exprs, &input.scan.filters);
    NumberRemembered(&input.scan);
    filter.runs_in_scan = true;
  }
}

}  // namespace penumbra

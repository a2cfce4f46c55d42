// A filter on a filter is one filter with the conjuncts of both, the lower one's first.
//
// The same rows pass. The order in which conjuncts can raise errors is kept: those that can fail run in the
// order given, each on the rows that all before it let through, in a scan as in a step.
#include "plan/passes.h"

namespace penumbra {

void MergeFilters(std::vector<Operator>* operators, PenumbraOperator output) {
  // Inputs come first, so a chain of filters collapses from below; nobody reads the lower ones any more.
  for (PenumbraOperator id : OrderOperators(*operators, output)) {
    Operator& upper = (*operators)[id];
    if (upper.kind != Operator::Kind::kFilter) continue;
    const Operator& lower = (*operators)[upper.inputs[0]];
    if (lower.kind != Operator::Kind::kFilter) continue;
    upper.exprs.insert(upper.exprs.begin(), lower.exprs.begin(), lower.exprs.end());
    upper.inputs = lower.inputs;
  }
}

}  // namespace penumbra

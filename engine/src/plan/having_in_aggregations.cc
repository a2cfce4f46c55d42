// A filter right above an aggregation is told to it: groups that are complete early, and do not pass, need not be kept.
//
// The filter stays where it is, and sees each group that was not dropped. None of its conjuncts may fail, since which
// groups are dropped early depends on where the rows lie. Other users of the aggregation would miss the groups.
#include "plan/passes.h"

namespace penumbra {

void TellAggregationsHaving(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    const Operator& filter = (*operators)[id];
    if (filter.kind != Operator::Kind::kFilter) continue;
    Operator& input = (*operators)[filter.inputs[0]];
    if (input.kind != Operator::Kind::kAggregation || input.users > 1 || CanFail(filter.exprs)) continue;
    input.aggregation.having = filter.exprs;
  }
}

}  // namespace penumbra

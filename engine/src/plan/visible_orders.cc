// A window whose rows are the result in the order that it gives them keeps its partitions in order, whatever it may do:
// who asks for no order is used to the one that a sort by the partition keys leaves.
#include "plan/operator_kinds.h"
#include "plan/passes.h"

namespace penumbra {

void KeepVisibleOrders(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id = order.back();; id = (*operators)[id].inputs[0]) {
    Operator& op = (*operators)[id];
    op.window.any_partition_order = false;
    const PipelineRole role = KindOf(op).role;
    const bool is_limit = op.kind == Operator::Kind::kSort && op.sort.keys.empty();
    if (role != PipelineRole::kStep && role != PipelineRole::kMultiply && !is_limit) return;
  }
}

}  // namespace penumbra

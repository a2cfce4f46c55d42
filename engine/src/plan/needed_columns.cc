// From the output down, which columns of an operator somebody reads. The others are never decoded or computed;
// they travel as null constants, so that column numbers stay.
//
// The result is the same because nobody looks at them. What each kind reads is in its row of operator_kinds.cc.
#include "plan/operator_kinds.h"
#include "plan/passes.h"

namespace penumbra {

void FindNeededColumns(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) (*operators)[id].needed.assign((*operators)[id].output.size(), false);
  Operator& output = (*operators)[order.back()];
  output.needed.assign(output.output.size(), true);
  // Whoever reads an operator comes after it.
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    Operator& reader = (*operators)[*id];
    const OperatorKind& kind = KindOf(reader);
    if (kind.role == PipelineRole::kSource && reader.scan.needed.empty()) reader.scan.needed = reader.needed;
    if (kind.role == PipelineRole::kProbe) reader.join.needed = reader.needed;
    if (kind.role == PipelineRole::kMultiply) reader.unnest.needed = reader.needed;
    if (reader.kind == Operator::Kind::kWindow) reader.window.needed = reader.needed;
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      Operator& input = (*operators)[reader.inputs[i]];
      for (int column : kind.columns_read(reader, i)) input.needed[column] = true;
      // A scan that runs the filter decodes for its rows what comes after it.
      if (reader.runs_in_scan) input.scan.needed = reader.needed;
    }
  }
}

}  // namespace penumbra

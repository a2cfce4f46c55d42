// Building a recursion: what a plan checks of it.
#include <algorithm>

#include "plan/operator_kinds.h"
#include "plan/plan.h"

namespace penumbra {

// Of the scale of its numerics nothing is known: it may grow with each iteration.
PenumbraOperator Plan::AddWorkingTable(const PenumbraType* types, int count) {
  if (is_finished()) {
    reason_ = "an operator after the plan was finished";
    return -1;
  }
  Operator added{Operator::Kind::kWorkingTable};
  for (int i = 0; i < count; ++i) added.output.push_back({types[i]});
  operators_.push_back(std::move(added));
  return static_cast<PenumbraOperator>(operators_.size()) - 1;
}

bool Plan::IsRecursiveTerm(PenumbraOperator id, const std::vector<PenumbraType>& types) {
  for (;; id = operators_[id].inputs[0]) {
    const Operator& step = operators_[id];
    switch (KindOf(step).role) {
      case PipelineRole::kWorkingTable:
        if (step.output_types() == types) return true;
        reason_ = "a working table of other columns";
        return false;
      case PipelineRole::kStep:
      case PipelineRole::kMultiply: break;
      case PipelineRole::kProbe:
        if (!step.join.gives_build_rows()) break;
        [[fallthrough]];
      default: reason_ = "a recursive term whose rows do not come from one row each"; return false;
    }
  }
}

PenumbraOperator Plan::AddRecursion(PenumbraOperator first, PenumbraOperator term, bool is_distinct, bool gives_late) {
  if (!CheckInput(first) || !CheckInput(term)) return -1;
  const std::vector<PenumbraType> types = operators_[first].output_types();
  if (!IsRecursiveTerm(term, types)) return -1;
  if (is_distinct && std::find(types.begin(), types.end(), PENUMBRA_ARRAY) != types.end()) {
    reason_ = "arrays that are not only shown";
    return -1;
  }
  if (operators_[term].output_types() != types) {
    reason_ = "a recursion whose terms have other columns";
    return -1;
  }
  const PenumbraOperator id = Append(Operator::Kind::kRecursion, first);
  Operator& added = operators_[id];
  added.inputs.push_back(term);
  for (OutputColumn& column : added.output) column.numeric = {};
  added.recursion = {types, is_distinct, gives_late};
  TakeInput(term);
  return id;
}

}  // namespace penumbra

#include "execution/emptiness.h"

#include <algorithm>

#include "plan/operator_kinds.h"

namespace penumbra {
namespace {

// Building from fewer rows costs as little as a look.
constexpr uint64_t kBuildRowsMin = kVectorRows;

}  // namespace

Emptiness::Emptiness(const Plan& plan)
    : plan_(plan),
      users_(plan.operators().size()),
      known_(users_.size(), Answer::kUnknown),
      states_(users_.size()),
      emptying_inputs_(users_.size()),
      rows_(users_.size()) {
  for (PenumbraOperator id : plan.order()) {
    const Operator& op = plan.op(id);
    if (KindOf(op).emptying_inputs != nullptr) emptying_inputs_[id] = KindOf(op).emptying_inputs(op);
    for (PenumbraOperator input : op.inputs) users_[input].push_back(id);
    if (KindOf(op).role == PipelineRole::kWorkingTable) known_[id] = Answer::kMayHaveRows;
    states_[id] = Find(id);
  }
}

void Emptiness::Set(PenumbraOperator id, bool is_empty) {
  known_[id] = is_empty ? Answer::kEmpty : Answer::kMayHaveRows;
  Update(id);
}

void Emptiness::Update(PenumbraOperator id) {
  const State state = Find(id);
  if (state == states_[id]) return;
  states_[id] = state;
  for (PenumbraOperator user : users_[id]) Update(user);
}

// Nothing if one of them gives nothing.
Emptiness::State Emptiness::AnyOf(const State& a, const State& b) {
  if (a.answer == Answer::kEmpty || b.answer == Answer::kEmpty) return {Answer::kEmpty, -1};
  return a.answer == Answer::kUnknown ? a : b;
}

// Nothing if both give nothing.
Emptiness::State Emptiness::AllOf(const State& a, const State& b) {
  if (a.answer == Answer::kMayHaveRows || b.answer == Answer::kMayHaveRows) return {Answer::kMayHaveRows, -1};
  return a.answer == Answer::kUnknown ? a : b;
}

Emptiness::State Emptiness::Find(PenumbraOperator id) const {
  if (known_[id] != Answer::kUnknown) return {known_[id], -1};
  const std::vector<PenumbraOperator>& inputs = plan_.op(id).inputs;
  if (inputs.empty()) return {Answer::kUnknown, id};
  State any{Answer::kMayHaveRows, -1};
  for (const std::vector<size_t>& set : emptying_inputs_[id]) {
    State all{Answer::kEmpty, -1};
    for (size_t input : set) all = AllOf(all, states_[inputs[input]]);
    any = AnyOf(any, all);
  }
  return any;
}

// A join that gives no row without one of its probe side.
bool Emptiness::StartsFromProbeRows(PenumbraOperator id) const {
  const std::vector<std::vector<size_t>>& sets = emptying_inputs_[id];
  return KindOf(plan_.op(id)).role == PipelineRole::kProbe &&
         std::find(sets.begin(), sets.end(), std::vector<size_t>{0}) != sets.end();
}

// Beyond what is read again the ways to the output could be many: there only the next operators are looked at.
bool Emptiness::IsUnneeded(PenumbraOperator id) const {
  const auto is_empty = [this](PenumbraOperator op) { return states_[op].answer == Answer::kEmpty; };
  for (; users_[id].size() == 1; id = users_[id][0]) {
    if (is_empty(id)) return true;
  }
  return is_empty(id) || (!users_[id].empty() && std::all_of(users_[id].begin(), users_[id].end(), is_empty));
}

// What is read again is there, or wanted by others.
uint64_t Emptiness::RowsBelow(PenumbraOperator id) const {
  if (plan_.op(id).is_read_again) return 0;
  uint64_t rows = rows_[id];
  for (PenumbraOperator input : plan_.op(id).inputs) rows += RowsBelow(input);
  return rows;
}

Emptiness::Peek Emptiness::FindPeek(PenumbraOperator id) const {
  Peek found;
  for (; users_[id].size() == 1; id = users_[id][0]) {
    const PenumbraOperator user = users_[id][0];
    const std::vector<PenumbraOperator>& inputs = plan_.op(user).inputs;
    if (!StartsFromProbeRows(user) || inputs[1] != id) continue;
    const State& probe = states_[inputs[0]];
    if (probe.answer != Answer::kUnknown) continue;
    const uint64_t build_rows = RowsBelow(id);
    if (build_rows >= kBuildRowsMin) found = {probe.scan, build_rows};
  }
  return found;
}

}  // namespace penumbra

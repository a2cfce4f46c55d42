// Building joins: what the plan checks of one.
#include "join/join_range.h"
#include "plan/plan.h"

namespace penumbra {

PenumbraExpr Plan::PairColumn(PenumbraOperator probe, PenumbraOperator build, int column) {
  if (!IsOperator(probe) || !IsOperator(build)) {
    reason_ = "an input that does not exist";
    return -1;
  }
  const std::vector<OutputColumn>& left = operators_[probe].output;
  const std::vector<OutputColumn>& right = operators_[build].output;
  if (column < 0 || static_cast<size_t>(column) >= left.size() + right.size()) {
    reason_ = "a column that does not exist";
    return -1;
  }
  const auto place = static_cast<size_t>(column);
  return ColumnOf(place < left.size() ? left[place] : right[place - left.size()], column);
}

// What does not depend on the inputs.
bool Plan::CheckJoin(const PenumbraJoin& join) {
  if (join.kind < PENUMBRA_JOIN_INNER || join.kind > PENUMBRA_JOIN_RIGHT_ANTI) {
    reason_ = "a join of an unknown kind";
    return false;
  }
  const bool can_be_null_aware = join.kind == PENUMBRA_JOIN_ANTI || join.kind == PENUMBRA_JOIN_MARK;
  if (join.is_null_aware &&
      (!can_be_null_aware || join.key_count != 1 || join.condition_count != 0 || join.keys[0].nulls_are_equal)) {
    reason_ = "a null-aware join that is not of one key alone";
    return false;
  }
  return true;
}

// Keys are expressions over one side each and of one type; the conditions see the columns of the probe side, then those
// of the build side, whatever the join outputs.
PenumbraOperator Plan::AddJoin(PenumbraOperator probe, PenumbraOperator build, const PenumbraJoin& join) {
  if (!CheckInput(probe) || !CheckInput(build) || !CheckJoin(join)) return -1;
  if (probe == build) {
    reason_ = "an input that another operator has";
    return -1;
  }
  JoinSpec spec{join.kind, join.choice, join.is_null_aware, join.build_rows_max};
  for (int i = 0; i < join.key_count; ++i) {
    const PenumbraJoinKey& key = join.keys[i];
    if (!CheckExprs(&key.probe, 1) || !CheckExprs(&key.build, 1) || !CheckColumns(probe, &key.probe, 1) ||
        !CheckColumns(build, &key.build, 1)) {
      return -1;
    }
    if (exprs_[key.probe]->type != exprs_[key.build]->type) {
      reason_ = "a join key of two types";
      return -1;
    }
    spec.keys.push_back({exprs_[key.probe].get(), exprs_[key.build].get(), key.nulls_are_equal});
  }
  std::vector<OutputColumn> pairs = operators_[probe].output;
  pairs.insert(pairs.end(), operators_[build].output.begin(), operators_[build].output.end());
  if (!CheckExprs(join.conditions, join.condition_count) ||
      !CheckColumns(pairs, join.conditions, join.condition_count)) {
    return -1;
  }
  for (int i = 0; i < join.condition_count; ++i) {
    spec.conditions.push_back(exprs_[join.conditions[i]].get());
    if (spec.conditions.back()->type != PENUMBRA_BOOL) {
      reason_ = "a join's condition that is not boolean";
      return -1;
    }
  }
  for (int i = 0; i < join.key_count; ++i) {
    Use(join.keys[i].probe);
    Use(join.keys[i].build);
  }
  for (int i = 0; i < join.condition_count; ++i) Use(join.conditions[i]);
  spec.probe_types = operators_[probe].output_types();
  spec.build_types = operators_[build].output_types();
  if (spec.choice != PENUMBRA_JOIN_ALL && (JoinRange(spec).is_empty() || spec.conditions.size() != 1 ||
                                           (spec.kind != PENUMBRA_JOIN_INNER && spec.kind != PENUMBRA_JOIN_LEFT))) {
    reason_ = "a join that chooses rows without an order";
    return -1;
  }
  const PenumbraOperator id = Append(Operator::Kind::kJoin, probe);
  Operator& added = operators_[id];
  added.inputs.push_back(build);
  TakeInput(build);
  if (!spec.has_probe_columns()) {
    added.output = operators_[build].output;
  } else if (spec.has_build_columns()) {
    added.output = std::move(pairs);
  } else if (spec.kind == PENUMBRA_JOIN_MARK) {
    added.output.push_back({PENUMBRA_BOOL});
  }
  added.join = std::move(spec);
  return id;
}

}  // namespace penumbra

// Keys that follow from other keys, as in GROUP BY a, a - 1, lower(a): rows whose `a` is the same value have the same
// values of these. So an aggregation groups by the keys that are columns, and two projections above it give what was
// asked for:
//
//   columns   the input's columns as one row of each group has them, in their places; then the aggregates
//   output    all keys, those that follow computed from `columns`; then the aggregates
//
// Equal values have to be the same value, which those of some types are not (IsOfOneSpelling). An expression is
// evaluated for every group instead of every row, and fails for one just when it fails for the other.
#include <algorithm>

#include "aggregate/hash_aggregation.h"
#include "plan/plan.h"

namespace penumbra {
namespace {

bool Follows(const Expr& key, const std::vector<bool>& is_key) {
  if (key.kind != Expr::Kind::kCall || key.calls_host || key.can_be_unsupported) return false;
  std::vector<int> columns;
  CollectColumns(key, &columns);
  return !columns.empty() && std::all_of(columns.begin(), columns.end(), [&](int column) { return is_key[column]; });
}

}  // namespace

std::vector<PenumbraExpr> Plan::LeadingKeys(PenumbraOperator input, const std::vector<PenumbraExpr>& keys) const {
  std::vector<bool> is_key(operators_[input].output.size());
  for (PenumbraExpr id : keys) {
    const Expr& key = *exprs_[id];
    if (key.kind == Expr::Kind::kColumn && IsOfOneSpelling(key.type)) is_key[key.column] = true;
  }
  std::vector<PenumbraExpr> leading;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(leading),
               [&](PenumbraExpr key) { return !Follows(*exprs_[key], is_key); });
  return leading;
}

PenumbraOperator Plan::AddFollowingKeys(PenumbraOperator groups, PenumbraOperator input,
                                        const std::vector<PenumbraExpr>& leading, const PenumbraExpr* keys,
                                        int key_count) {
  const auto place = [&](PenumbraExpr key) {
    return static_cast<int>(std::find(leading.begin(), leading.end(), key) - leading.begin());
  };
  PenumbraValue null_value = {};
  null_value.is_null = true;
  std::vector<PenumbraExpr> columns;
  const size_t input_columns = operators_[input].output.size();
  for (size_t i = 0; i < input_columns; ++i) {
    const PenumbraType type = operators_[input].output[i].type;
    columns.push_back(type == PENUMBRA_ARRAY ? Constant(PENUMBRA_TEXT, null_value) : Constant(type, null_value));
  }
  const int aggregates_begin = static_cast<int>(leading.size());
  const int aggregates_end = static_cast<int>(operators_[groups].output.size());
  for (int k = 0; k < aggregates_begin; ++k) {
    const Expr& key = *exprs_[leading[k]];
    if (key.kind == Expr::Kind::kColumn) columns[key.column] = Column(groups, k);
  }
  for (int i = 0; i < aggregates_end; ++i) columns.push_back(Column(groups, i));
  const PenumbraOperator rows = AddProjection(groups, columns.data(), static_cast<int>(columns.size()));

  const auto at = [&](int i) { return Column(rows, static_cast<int>(input_columns) + i); };
  std::vector<PenumbraExpr> outputs;
  for (int k = 0; k < key_count; ++k) {
    const int kept = place(keys[k]);
    outputs.push_back(kept < aggregates_begin ? at(kept) : keys[k]);
  }
  for (int i = aggregates_begin; i < aggregates_end; ++i) outputs.push_back(at(i));
  return AddProjection(rows, outputs.data(), static_cast<int>(outputs.size()));
}

}  // namespace penumbra

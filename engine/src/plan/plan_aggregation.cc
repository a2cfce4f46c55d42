// Building aggregations: what the plan checks of one.
#include <algorithm>

#include "aggregate/aggregate_accumulator.h"
#include "plan/plan.h"

namespace penumbra {

bool Plan::CheckAggregateCall(PenumbraOperator input, const PenumbraAggregateCall& call, AggregateSpec* aggregate) {
  if (call.argument_count < 0 || call.argument_count > PENUMBRA_AGGREGATE_ARGUMENTS_MAX) {
    reason_ = "an aggregate with another number of arguments";
    return false;
  }
  if (!CheckExprs(call.arguments, call.argument_count) || !CheckColumns(input, call.arguments, call.argument_count)) {
    return false;
  }
  if (call.filter >= 0 && (!CheckExprs(&call.filter, 1) || !CheckColumns(input, &call.filter, 1))) return false;
  aggregate->function = call.function;
  aggregate->result = call.result;
  for (int a = 0; a < call.argument_count; ++a) aggregate->arguments.push_back(exprs_[call.arguments[a]].get());
  aggregate->filter = call.filter >= 0 ? exprs_[call.filter].get() : nullptr;
  aggregate->distinct = call.distinct;
  aggregate->descending = call.descending;
  if (call.has_fraction) aggregate->fraction = call.fraction;
  if (!FindCollation(call.collation, &aggregate->collation)) return false;
  if (aggregate->filter != nullptr && aggregate->filter->type != PENUMBRA_BOOL) {
    reason_ = "an aggregate's filter that is not boolean";
    return false;
  }
  if (call.has_fraction && !(call.fraction >= 0 && call.fraction <= 1)) {
    reason_ = "a percentile value that is not between 0 and 1";
    return false;
  }
  return CheckAggregate(*aggregate, &reason_);
}

void Plan::UseAggregateCall(const PenumbraAggregateCall& call) {
  for (int a = 0; a < call.argument_count; ++a) Use(call.arguments[a]);
  if (call.filter >= 0) Use(call.filter);
}

// Uses of expressions are counted after all checks: a refused aggregation leaves the plan as it was.
PenumbraOperator Plan::AddAggregationOperator(PenumbraOperator input, const PenumbraExpr* keys, int key_count,
                                              const PenumbraAggregateCall* calls, int call_count,
                                              const std::vector<uint64_t>& sets) {
  if (!CheckInput(input) || !CheckExprs(keys, key_count) || !CheckColumns(input, keys, key_count)) return -1;
  AggregationSpec spec;
  for (int i = 0; i < key_count; ++i) spec.keys.push_back(exprs_[keys[i]].get());
  spec.aggregates.resize(static_cast<size_t>(call_count));
  for (int i = 0; i < call_count; ++i) {
    if (!CheckAggregateCall(input, calls[i], &spec.aggregates[i])) return -1;
  }
  for (int i = 0; i < key_count; ++i) Use(keys[i]);
  for (int i = 0; i < call_count; ++i) UseAggregateCall(calls[i]);
  const PenumbraOperator id = Append(Operator::Kind::kAggregation, input);
  Operator& aggregation = operators_[id];
  aggregation.output.clear();
  for (const Expr* key : spec.keys) aggregation.output.push_back({key->type});
  spec.sets = sets;
  if (!spec.sets.empty()) aggregation.output.push_back({PENUMBRA_INT4});
  for (const AggregateSpec& aggregate : spec.aggregates) aggregation.output.push_back({aggregate.result});
  aggregation.aggregation = std::move(spec);
  return id;
}

PenumbraOperator Plan::AddGroupingSets(PenumbraOperator input, const PenumbraExpr* keys, int key_count,
                                       const std::vector<uint64_t>& sets, const PenumbraAggregateCall* calls,
                                       int call_count) {
  constexpr int kKeysMax = 64;
  const auto is_of_other_keys = [key_count](uint64_t set) { return key_count < kKeysMax && set >> key_count != 0; };
  if (key_count < 0 || key_count > kKeysMax || sets.empty() ||
      std::any_of(sets.begin(), sets.end(), is_of_other_keys)) {
    reason_ = "grouping sets of keys that do not exist";
    return -1;
  }
  return AddAggregation(input, keys, key_count, calls, call_count, sets);
}

}  // namespace penumbra

// Building aggregations: what the plan checks of one.
#include <algorithm>

#include "aggregate/aggregate_accumulator.h"
#include "plan/plan.h"

namespace penumbra {

namespace {

const char* const kShowsOrder = "an aggregate that shows the order of rows";

}  // namespace

bool Plan::CheckAggregateCall(PenumbraOperator input, const PenumbraAggregateCall& call, AggregateSpec* aggregate) {
  if (call.function < 0 || call.function >= PENUMBRA_AGG_COUNT_OF) {
    reason_ = "an unknown aggregate";
    return false;
  }
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
  if (InfoOf(call.function).needs == AggregateNeeds::kRows && !CheckCollectingCall(input, call, aggregate))
    return false;
  aggregate->filter = call.filter >= 0 ? exprs_[call.filter].get() : nullptr;
  aggregate->distinct = call.distinct;
  aggregate->descending = call.descending;
  aggregate->fractions.assign(call.fractions, call.fractions + call.fraction_count);
  aggregate->element_oid = call.element_oid;
  if (!FindCollation(call.collation, &aggregate->collation)) return false;
  if (aggregate->filter != nullptr && aggregate->filter->type != PENUMBRA_BOOL) {
    reason_ = "an aggregate's filter that is not boolean";
    return false;
  }
  if (call.fraction_count > static_cast<int>(kVectorRows)) {
    reason_ = "so many percentiles at once";
    return false;
  }
  const auto is_fraction = [](double fraction) { return fraction >= 0 && fraction <= 1; };
  if (!std::all_of(aggregate->fractions.begin(), aggregate->fractions.end(), is_fraction)) {
    reason_ = "a percentile value that is not between 0 and 1";
    return false;
  }
  return CheckAggregate(*aggregate, &reason_);
}

// Of string_agg and array_agg, whose function and arguments are there.
bool Plan::CheckCollectingCall(PenumbraOperator input, const PenumbraAggregateCall& call, AggregateSpec* aggregate) {
  std::vector<const Expr*>& arguments = aggregate->arguments;
  const bool joins_text = call.function == PENUMBRA_AGG_STRING_AGG;
  if (call.argument_count != (joins_text ? 2 : 1) || (joins_text && arguments[1]->type != PENUMBRA_TEXT)) {
    reason_ = "an aggregate of rows with other arguments";
    return false;
  }
  if (call.order_count == 0) {
    reason_ = kShowsOrder;
    return false;
  }
  if (joins_text && arguments[1]->kind == Expr::Kind::kConstant) {
    aggregate->delimiter = arguments[1];
    arguments.pop_back();
  }
  std::vector<SortKeySpec> keys;
  if (!CheckSortKeys(input, call.order, call.order_count, &keys)) return false;
  const size_t given = arguments.size();
  for (int k = 0; k < call.order_count; ++k) {
    const Expr* expr = exprs_[call.order[k].expr].get();
    if (expr == aggregate->delimiter) continue;
    const auto place = std::find(arguments.begin(), arguments.end(), expr);
    const int argument = static_cast<int>(place - arguments.begin());
    if (place == arguments.end()) arguments.push_back(expr);
    aggregate->order.push_back({argument, keys[k].descending, keys[k].nulls_first, keys[k].collation});
  }
  if (aggregate->order.empty()) {
    reason_ = kShowsOrder;
    return false;
  }
  if (!call.distinct || arguments.size() == given) return true;
  reason_ = "DISTINCT in another order than that of its arguments";
  return false;
}

void Plan::UseAggregateCall(const PenumbraAggregateCall& call) {
  for (int a = 0; a < call.argument_count; ++a) Use(call.arguments[a]);
  if (call.filter >= 0) Use(call.filter);
  for (int k = 0; k < call.order_count; ++k) Use(call.order[k].expr);
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

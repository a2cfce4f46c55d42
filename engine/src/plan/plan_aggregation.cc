// Building aggregations: what the plan checks of one.
#include <algorithm>

#include "aggregate/aggregate_accumulator.h"
#include "plan/plan.h"

namespace penumbra {

namespace {

const char* const kShowsOrder = "an aggregate that shows the order of rows";

}  // namespace

bool Plan::CheckAggregateCall(PenumbraOperator input, const PenumbraAggregateCall& call, bool of_window,
                              AggregateSpec* aggregate) {
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
  if (InfoOf(call.function).needs == AggregateNeeds::kRows && !CheckCollectingCall(input, call, of_window, aggregate))
    return false;
  aggregate->filter = call.filter >= 0 ? exprs_[call.filter].get() : nullptr;
  aggregate->distinct = call.distinct;
  aggregate->descending = call.descending;
  aggregate->fractions.assign(call.fractions, call.fractions + call.fraction_count);
  aggregate->label = call.label;
  aggregate->takes_away = call.takes_away;
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
  if (of_window && call.function == PENUMBRA_AGG_JSON_AGG) return true;  // the caller knows its type
  return CheckAggregate(*aggregate, &reason_);
}

// Of string_agg, array_agg and json_agg, whose function and arguments are there.
bool Plan::CheckCollectingCall(PenumbraOperator input, const PenumbraAggregateCall& call, bool of_window,
                               AggregateSpec* aggregate) {
  std::vector<const Expr*>& arguments = aggregate->arguments;
  const bool joins_text = call.function == PENUMBRA_AGG_STRING_AGG;
  const bool takes_any = call.function == PENUMBRA_AGG_JSON_AGG;
  if ((!takes_any && call.argument_count != (joins_text ? 2 : 1)) ||
      (joins_text && arguments[1]->type != PENUMBRA_TEXT)) {
    reason_ = "an aggregate of rows with other arguments";
    return false;
  }
  if (call.function == PENUMBRA_AGG_FIRST && of_window) {
    reason_ = "the first row of a frame";
    return false;
  }
  if (call.order_count == 0 && !of_window) {
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
  aggregate->shown_arguments = static_cast<int>(given);
  for (int k = 0; k < call.order_count; ++k) {
    const Expr* expr = exprs_[call.order[k].expr].get();
    if (expr == aggregate->delimiter) continue;
    const auto place = std::find(arguments.begin(), arguments.end(), expr);
    const int argument = static_cast<int>(place - arguments.begin());
    if (place == arguments.end()) arguments.push_back(expr);
    aggregate->order.push_back({argument, keys[k].descending, keys[k].nulls_first, keys[k].collation});
  }
  if (aggregate->order.empty() && !of_window) {
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

// Keys that follow from others, and calls that others compute, are projected above the groups.
PenumbraOperator Plan::AddAggregation(PenumbraOperator input, const PenumbraExpr* keys, int key_count,
                                      const PenumbraAggregateCall* calls, int call_count,
                                      const std::vector<uint64_t>& sets) {
  if (!CheckInput(input) || !CheckExprs(keys, key_count) || !CheckColumns(input, keys, key_count)) return -1;
  std::vector<PenumbraExpr> leading(keys, keys + key_count);
  if (sets.empty()) leading = LeadingKeys(input, leading);
  std::vector<PenumbraAggregateCall> all(calls, calls + call_count);
  std::vector<FinishCall> finishes(all.size());
  for (size_t i = 0; i < finishes.size(); ++i) {
    finishes[i] = RewriteSumOfCase(i, &all);
    if (!finishes[i]) finishes[i] = RewriteVaryingScale(i, &all);
  }
  RewriteSumsOfShifts(&all, &finishes);
  PenumbraOperator groups = AddAggregationOperator(input, leading, all, sets);
  if (groups >= 0 && static_cast<int>(leading.size()) < key_count) {
    groups = AddFollowingKeys(groups, input, leading, keys, key_count);
  }
  if (groups < 0 || all.size() == finishes.size()) return groups;

  if (!sets.empty()) ++key_count;  // the set's number
  std::vector<PenumbraExpr> outputs;
  for (int i = 0; i < key_count; ++i) outputs.push_back(Column(groups, i));
  std::vector<PenumbraExpr> values;
  for (size_t i = 0; i < all.size(); ++i) values.push_back(Column(groups, key_count + static_cast<int>(i)));
  for (size_t i = 0; i < finishes.size(); ++i) outputs.push_back(finishes[i] ? finishes[i](values) : values[i]);
  return AddProjection(groups, outputs.data(), static_cast<int>(outputs.size()));
}

// The input and the keys are checked. Uses of expressions are counted after all checks: a refused aggregation leaves
// the plan as it was.
PenumbraOperator Plan::AddAggregationOperator(PenumbraOperator input, const std::vector<PenumbraExpr>& keys,
                                              const std::vector<PenumbraAggregateCall>& calls,
                                              const std::vector<uint64_t>& sets) {
  AggregationSpec spec;
  for (PenumbraExpr key : keys) spec.keys.push_back(exprs_[key].get());
  spec.aggregates.resize(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!CheckAggregateCall(input, calls[i], false, &spec.aggregates[i])) return -1;
  }
  for (PenumbraExpr key : keys) Use(key);
  for (const PenumbraAggregateCall& call : calls) UseAggregateCall(call);
  const PenumbraOperator id = Append(Operator::Kind::kAggregation, input);
  Operator& aggregation = operators_[id];
  aggregation.output.clear();
  for (const Expr* key : spec.keys) aggregation.output.push_back({key->type, key->numeric});
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

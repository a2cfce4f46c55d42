// Building unnesting: what the plan checks of it.
#include <algorithm>
#include <utility>

#include "plan/plan.h"

namespace penumbra {

PenumbraOperator Plan::AddUnnest(PenumbraOperator input, const PenumbraUnnest& unnest) {
  if (!CheckInput(input)) return -1;
  const std::vector<OutputColumn>& columns = operators_[input].output;
  const bool is_in_input = unnest.times >= 0 && static_cast<size_t>(unnest.times) < columns.size();
  if (unnest.list_count < 0 ||
      (unnest.list_count == 0 && (!is_in_input || columns[unnest.times].type != PENUMBRA_INT8))) {
    reason_ = "unnesting of nothing";
    return -1;
  }
  for (int i = 0; i < unnest.list_count; ++i) {
    const PenumbraUnnestList& list = unnest.lists[i];
    const bool exists = list.column >= 0 && static_cast<size_t>(list.column) < columns.size();
    if (!exists || columns[list.column].type != PENUMBRA_TEXT || list.element == PENUMBRA_ARRAY) {
      reason_ = "unnesting of what are no lists";
      return -1;
    }
  }
  const PenumbraOperator id = Append(Operator::Kind::kUnnest, input);
  Operator& added = operators_[id];
  added.unnest.lists.assign(unnest.lists, unnest.lists + unnest.list_count);
  if (unnest.list_count == 0) added.unnest.times = unnest.times;
  added.unnest.input_columns = added.output.size();
  added.unnest.keeps_empty = unnest.keeps_empty;
  added.unnest.has_ordinality = unnest.has_ordinality;
  for (const PenumbraUnnestList& list : added.unnest.lists) added.output.push_back({list.element});
  if (unnest.has_ordinality) added.output.push_back({PENUMBRA_INT8});
  return id;
}

bool Plan::AggregateLists(PenumbraOperator unnest, const PenumbraAggregateCall* calls, int call_count, int single) {
  if (!CheckInput(unnest)) return false;
  std::vector<AggregateSpec> aggregates(std::max(call_count, 0));
  for (int i = 0; i < call_count; ++i) {
    if (!CheckAggregateCall(unnest, calls[i], false, &aggregates[i])) return false;
  }
  Operator& op = operators_[unnest];
  const bool is_counted = single < call_count && (single < 0 || calls[single].function == PENUMBRA_AGG_COUNT_STAR);
  if (op.kind != Operator::Kind::kUnnest || op.unnest.is_aggregated || op.unnest.keeps_empty || !is_counted) {
    reason_ = "aggregation of what are no elements";
    return false;
  }
  for (int i = 0; i < call_count; ++i) UseAggregateCall(calls[i]);
  op.output.resize(op.unnest.input_columns);
  for (const AggregateSpec& aggregate : aggregates) op.output.push_back({aggregate.result});
  op.unnest.aggregates = std::move(aggregates);
  op.unnest.is_aggregated = true;
  op.unnest.single = single;
  return true;
}

}  // namespace penumbra

// Building unnesting: what the plan checks of it.
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

}  // namespace penumbra

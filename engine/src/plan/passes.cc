#include "plan/passes.h"

namespace penumbra {
namespace {

void Visit(const Operators& operators, PenumbraOperator id, std::vector<bool>* is_visited,
           std::vector<PenumbraOperator>* order) {
  if ((*is_visited)[id]) return;
  (*is_visited)[id] = true;
  for (PenumbraOperator input : operators[id].inputs) Visit(operators, input, is_visited, order);
  order->push_back(id);
}

}  // namespace

void RunPasses(Operators* operators, const std::vector<PenumbraOperator>& order) {
  // A top-N becomes the neighbour of a scan only below projections.
  MoveTopNBelowProjections(operators, order);
  RunFiltersInScans(operators, order);
  AddRuntimeFilters(operators, order);
  // What a scan decodes depends on which filters it runs.
  FindNeededColumns(operators, order);
  AnswerFromMetadata(operators, order);
  TellAggregationsHaving(operators, order);
  // A window with a limit does not sort all rows.
  TellWindowsLimits(operators, order);
  ShareSortsOfWindows(operators, order);
  KeepVisibleOrders(operators, order);
}

std::vector<PenumbraOperator> OrderOperators(const Operators& operators, PenumbraOperator output) {
  std::vector<PenumbraOperator> order;
  std::vector<bool> is_visited(operators.size());
  Visit(operators, output, &is_visited, &order);
  return order;
}

}  // namespace penumbra

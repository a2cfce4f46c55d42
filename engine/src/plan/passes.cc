#include "plan/passes.h"

namespace penumbra {
namespace {

void Visit(const std::vector<Operator>& operators, PenumbraOperator id, std::vector<PenumbraOperator>* order) {
  for (PenumbraOperator input : operators[id].inputs) Visit(operators, input, order);
  order->push_back(id);
}

}  // namespace

void RunPasses(std::vector<Operator>* operators, const std::vector<PenumbraOperator>& order) {
  // A top-N becomes the neighbour of a scan only below projections.
  MoveTopNBelowProjections(operators, order);
  RunFiltersInScans(operators, order);
  AddRuntimeFilters(operators, order);
  // What a scan decodes depends on which filters it runs.
  FindNeededColumns(operators, order);
  AnswerFromMetadata(operators, order);
  TellAggregationsHaving(operators, order);
  TellWindowsLimits(operators, order);
  KeepVisibleOrders(operators, order);
}

std::vector<PenumbraOperator> OrderOperators(const std::vector<Operator>& operators, PenumbraOperator output) {
  std::vector<PenumbraOperator> order;
  Visit(operators, output, &order);
  return order;
}

}  // namespace penumbra

#include "plan/passes.h"

#include <algorithm>

namespace penumbra {
namespace {

void Visit(const std::vector<Operator>& operators, PenumbraOperator id, std::vector<PenumbraOperator>* order) {
  for (PenumbraOperator input : operators[id].inputs) Visit(operators, input, order);
  order->push_back(id);
}

}  // namespace

void RunPasses(std::vector<Operator>* operators, PenumbraOperator output) {
  // A top-N becomes the neighbour of a scan only below projections.
  MoveTopNBelowProjections(operators, output);
  RunFiltersInScans(operators, output);
  // What a scan decodes depends on which filters it runs.
  FindNeededColumns(operators, output);
  AnswerFromMetadata(operators, output);
}

std::vector<PenumbraOperator> OrderOperators(const std::vector<Operator>& operators, PenumbraOperator output) {
  std::vector<PenumbraOperator> order;
  Visit(operators, output, &order);
  return order;
}

}  // namespace penumbra

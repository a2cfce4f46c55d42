// Rewrites of a plan's graph, all invisible in its result. Each stands in a file of its own, with its rule
// and why the result is the same; passes.cc has their order and what an order depends on.
//
// A pass may change operators and exchange neighbours, but a scan keeps its number: the adapter knows it.
#pragma once

#include <vector>

#include "plan/graph.h"

namespace penumbra {

void RunPasses(std::vector<Operator>* operators, PenumbraOperator output);

// Those that `output` depends on, inputs first.
std::vector<PenumbraOperator> OrderOperators(const std::vector<Operator>& operators, PenumbraOperator output);

void MoveTopNBelowProjections(std::vector<Operator>* operators, PenumbraOperator output);
void RunFiltersInScans(std::vector<Operator>* operators, PenumbraOperator output);
void FindNeededColumns(std::vector<Operator>* operators, PenumbraOperator output);
void AnswerFromMetadata(std::vector<Operator>* operators, PenumbraOperator output);

}  // namespace penumbra

// Rewrites of a plan's graph, all invisible in its result. Each stands in a file of its own, with its rule
// and why the result is the same; passes.cc has their order and what an order depends on.
//
// `order` has the operators that the output depends on, inputs first. A pass may change operators, exchange what
// neighbours are and leave one out, but the numbers keep their places: the adapter knows those of scans.
#pragma once

#include <vector>

#include "plan/graph.h"

namespace penumbra {

void RunPasses(Operators* operators, const std::vector<PenumbraOperator>& order);

// Those that `output` depends on, inputs first.
std::vector<PenumbraOperator> OrderOperators(const Operators& operators, PenumbraOperator output);

void MoveTopNBelowProjections(Operators* operators, const std::vector<PenumbraOperator>& order);
void RunFiltersInScans(Operators* operators, const std::vector<PenumbraOperator>& order);
void AddRuntimeFilters(Operators* operators, const std::vector<PenumbraOperator>& order);
void FindNeededColumns(Operators* operators, const std::vector<PenumbraOperator>& order);
void TellAggregationsHaving(Operators* operators, const std::vector<PenumbraOperator>& order);
void KeepVisibleOrders(Operators* operators, const std::vector<PenumbraOperator>& order);
void TellWindowsLimits(Operators* operators, const std::vector<PenumbraOperator>& order);
void ShareSortsOfWindows(Operators* operators, const std::vector<PenumbraOperator>& order);
void AnswerFromMetadata(Operators* operators, const std::vector<PenumbraOperator>& order);

}  // namespace penumbra

// A top-N above a projection becomes a projection above a top-N: only the rows that are left are projected,
// and a top-N right above the scan can tell it which rows to decode.
//
// The keys must be the projection's columns (or constants), so that the top-N below finds the same order. An
// expression that can fail has to be evaluated for all rows, so such a projection stays where it is.
#include <algorithm>
#include <utility>

#include "plan/passes.h"

namespace penumbra {
namespace {

bool CanExchange(const Operator& top_n, const Operator& projection) {
  if (projection.kind != Operator::Kind::kProjection || top_n.users > 1 || projection.users > 1) return false;
  return !CanFail(projection.exprs) &&
         std::none_of(top_n.sort.keys.begin(), top_n.sort.keys.end(),
                      [](const SortKeySpec& key) { return key.expr->kind == Expr::Kind::kCall; });
}

// The two exchange their places in the graph, so that whoever reads the top-N reads the projection now.
void Exchange(Operator* top_n, Operator* projection, const Operator& input) {
  for (SortKeySpec& key : top_n->sort.keys) {
    if (key.expr->kind == Expr::Kind::kColumn) key.expr = projection->exprs[key.expr->column];
  }
  top_n->sort.column_types = input.output_types();
  top_n->output = input.output;
  std::swap(*top_n, *projection);
  std::swap(top_n->inputs, projection->inputs);
}

}  // namespace

void MoveTopNBelowProjections(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    while ((*operators)[id].kind == Operator::Kind::kSort && (*operators)[id].sort.limit >= 0) {
      const PenumbraOperator below = (*operators)[id].inputs[0];
      if (!CanExchange((*operators)[id], (*operators)[below])) break;
      Exchange(&(*operators)[id], &(*operators)[below], (*operators)[(*operators)[below].inputs[0]]);
      id = below;
    }
  }
}

}  // namespace penumbra

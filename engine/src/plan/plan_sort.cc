// Building sorts: what the plan checks of one.
#include <algorithm>

#include "plan/plan.h"

namespace penumbra {

bool Plan::CheckSortKeys(PenumbraOperator input, const PenumbraSortKey* keys, int count,
                         std::vector<SortKeySpec>* specs) {
  for (int i = 0; i < count; ++i) {
    const Collation* collation;
    if (!CheckExprs(&keys[i].expr, 1) || !CheckColumns(input, &keys[i].expr, 1) ||
        !FindCollation(keys[i].collation, &collation)) {
      return false;
    }
    specs->push_back({nullptr, keys[i].descending, keys[i].nulls_first, collation});
  }
  return true;
}

// Uses of expressions are counted, and the keys' Exprs set, after all checks: a refused sort leaves the plan as it was.
PenumbraOperator Plan::AddSort(PenumbraOperator input, const PenumbraSortKey* keys, int count, int64_t limit,
                               int64_t offset) {
  SortSpec spec;
  if (!CheckInput(input) || !CheckSortKeys(input, keys, count, &spec.keys)) return -1;
  for (int i = 0; i < count; ++i) spec.keys[i].expr = Use(keys[i].expr);
  spec.column_types = operators_[input].output_types();
  spec.limit = std::max<int64_t>(limit, -1);
  spec.offset = std::max<int64_t>(offset, 0);
  const PenumbraOperator id = Append(Operator::Kind::kSort, input);
  operators_[id].sort = std::move(spec);
  return id;
}

}  // namespace penumbra

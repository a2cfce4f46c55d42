// Building sorts: what the plan checks of one.
#include <algorithm>

#include "plan/plan.h"

namespace penumbra {

// Uses of expressions are counted, and the keys' Exprs set, after all checks: a refused sort leaves the plan as it was.
PenumbraOperator Plan::AddSort(PenumbraOperator input, const PenumbraSortKey* keys, int count, int64_t limit,
                               int64_t offset) {
  if (!CheckInput(input)) return -1;
  SortSpec spec;
  for (int i = 0; i < count; ++i) {
    const Collation* collation;
    if (!CheckExprs(&keys[i].expr, 1) || !CheckColumns(input, &keys[i].expr, 1) ||
        !FindCollation(keys[i].collation, &collation)) {
      return -1;
    }
    spec.keys.push_back({nullptr, keys[i].descending, keys[i].nulls_first, collation});
  }
  for (int i = 0; i < count; ++i) spec.keys[i].expr = Use(keys[i].expr);
  spec.column_types = operators_[input].output_types();
  spec.limit = std::max<int64_t>(limit, -1);
  spec.offset = std::max<int64_t>(offset, 0);
  const PenumbraOperator id = Append(Operator::Kind::kSort, input);
  operators_[id].sort = std::move(spec);
  return id;
}

}  // namespace penumbra

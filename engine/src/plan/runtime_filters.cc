// A join's build side is complete before its probe side is read, so a scan below the probe side can drop the rows whose
// key has no match (KeyFilter), by zone maps and codes, before anything else of them is decoded.
//
// The result is the same if a row that is dropped would not have reached the join, or is dropped by it, and if no
// other row's way changes. So:
//
// * The join drops probe rows without a match: INNER, SEMI, RIGHT, RIGHT_SEMI. The others give them (LEFT, MARK,
//   SINGLE, FULL) or just them (ANTI). A null is dropped too, so the key is not nulls_are_equal.
// * The key is a column that comes up from the scan unchanged: a filter drops rows by themselves, a projection of the
//   column renames it, a union takes it from all inputs.
// * Another join between passes its probe rows on or drops them one by one, so its probe side may lose some; but of
//   RIGHT and FULL, where a lost row makes a build row one without a match. The build side may lose rows only if those
//   are never missed: INNER, and then its own build runs after this one's, since builds of joins above run first.
// * An aggregation's key: the rows of a group have equal keys, and are dropped together.
// * Never through a sort with limit or offset: other rows would take the places.
// * Never into what has other users, which may want the rows.
//
// Which inputs a kind of operator passes a filter on to is in its row of operator_kinds.cc.
//
// An error that a row dropped early would have raised in between is not raised, as if the filter stood below it.
#include "plan/operator_kinds.h"
#include "plan/passes.h"

namespace penumbra {
namespace {

// Returns whether a scan asks for the filter now.
bool PassDown(Operators* operators, PenumbraOperator id, const RuntimeFilter& filter) {
  Operator& current = (*operators)[id];
  const OperatorKind& kind = KindOf(current);
  if (kind.role == PipelineRole::kSource) {
    current.scan.runtime_filters.push_back(filter);
    return true;
  }
  bool is_asked_for = false;
  if (kind.filtered_inputs == nullptr || current.users > 1) return is_asked_for;
  for (const InputColumn& from : kind.filtered_inputs(current, filter.column)) {
    is_asked_for |= PassDown(operators, current.inputs[from.input], {filter.join, filter.key, from.column});
  }
  return is_asked_for;
}

}  // namespace

void AddRuntimeFilters(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    Operator& join = (*operators)[id];
    if (KindOf(join).role != PipelineRole::kProbe || !join.join.DropsProbeRows()) continue;
    for (size_t k = 0; k < join.join.keys.size(); ++k) {
      JoinKeySpec& key = join.join.keys[k];
      if (key.nulls_are_equal || key.probe->kind != Expr::Kind::kColumn) continue;
      key.is_filter = PassDown(operators, join.inputs[0], {id, static_cast<int>(k), key.probe->column});
    }
  }
}

}  // namespace penumbra

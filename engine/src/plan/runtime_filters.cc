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
//
// An error that a row dropped early would have raised in between is not raised, as if the filter stood below it.
#include "plan/passes.h"

namespace penumbra {
namespace {

bool DropsProbeRows(PenumbraJoinKind kind) {
  return kind == PENUMBRA_JOIN_INNER || kind == PENUMBRA_JOIN_SEMI || kind == PENUMBRA_JOIN_RIGHT ||
         kind == PENUMBRA_JOIN_RIGHT_SEMI;
}

bool CanLoseProbeRows(PenumbraJoinKind kind) {
  switch (kind) {
    case PENUMBRA_JOIN_INNER:
    case PENUMBRA_JOIN_LEFT:
    case PENUMBRA_JOIN_SEMI:
    case PENUMBRA_JOIN_ANTI:
    case PENUMBRA_JOIN_MARK:
    case PENUMBRA_JOIN_SINGLE: return true;
    case PENUMBRA_JOIN_RIGHT:
    case PENUMBRA_JOIN_FULL:
    case PENUMBRA_JOIN_RIGHT_SEMI:
    case PENUMBRA_JOIN_RIGHT_ANTI: return false;
  }
  return false;
}

// Where the column of the operator comes from: a column of an input; false: it does not come unchanged, or rows that
// lack there would be missed.
bool FindOrigin(const Operator& from, int column, size_t* input, int* origin) {
  *input = 0;
  *origin = column;
  const std::vector<const Expr*>& exprs =
      from.kind == Operator::Kind::kAggregation ? from.aggregation.keys : from.exprs;
  switch (from.kind) {
    case Operator::Kind::kFilter: return true;
    case Operator::Kind::kProjection:
    case Operator::Kind::kAggregation:
      if (static_cast<size_t>(column) >= exprs.size() || exprs[column]->kind != Expr::Kind::kColumn) return false;
      *origin = exprs[column]->column;
      return from.aggregation.sets.empty();
    case Operator::Kind::kSort: return from.sort.limit < 0 && from.sort.offset == 0;
    case Operator::Kind::kJoin: {
      const auto probe_width = static_cast<int>(from.join.probe_types.size());
      if (column < probe_width) return CanLoseProbeRows(from.join.kind);
      *input = 1;
      *origin = column - probe_width;
      return from.join.kind == PENUMBRA_JOIN_INNER;
    }
    case Operator::Kind::kScan:
    case Operator::Kind::kUnion: return false;
  }
  return false;
}

// Returns whether a scan asks for the filter now.
bool PassDown(std::vector<Operator>* operators, PenumbraOperator id, const RuntimeFilter& filter) {
  Operator& current = (*operators)[id];
  if (current.kind == Operator::Kind::kScan) {
    current.scan.runtime_filters.push_back(filter);
    return true;
  }
  if (current.kind == Operator::Kind::kUnion) {
    bool is_asked_for = false;
    for (PenumbraOperator input : current.inputs) is_asked_for |= PassDown(operators, input, filter);
    return is_asked_for;
  }
  size_t input;
  RuntimeFilter below = filter;
  return FindOrigin(current, filter.column, &input, &below.column) && PassDown(operators, current.inputs[input], below);
}

}  // namespace

void AddRuntimeFilters(std::vector<Operator>* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    Operator& join = (*operators)[id];
    if (join.kind != Operator::Kind::kJoin || !DropsProbeRows(join.join.kind)) continue;
    for (size_t k = 0; k < join.join.keys.size(); ++k) {
      JoinKeySpec& key = join.join.keys[k];
      if (key.nulls_are_equal || key.probe->kind != Expr::Kind::kColumn) continue;
      key.is_filter = PassDown(operators, join.inputs[0], {id, static_cast<int>(k), key.probe->column});
    }
  }
}

}  // namespace penumbra

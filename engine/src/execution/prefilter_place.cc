#include "execution/prefilter_place.h"

#include <algorithm>

#include "plan/operator_kinds.h"

namespace penumbra {
namespace {

bool CanFail(const JoinSpec& join) {
  return CanFail(join.conditions) ||
         std::any_of(join.keys.begin(), join.keys.end(), [](const JoinKeySpec& key) { return key.probe->can_fail; });
}

// Whether rows of the probe side may be dropped, and all that come out of a row have its columns. The second match of a
// SINGLE join is an error.
bool PassesProbeRows(const JoinSpec& join, const std::vector<int>& columns) {
  return join.has_probe_columns() && !join.gives_build_rows() && join.kind != PENUMBRA_JOIN_SINGLE && !CanFail(join) &&
         std::all_of(columns.begin(), columns.end(),
                     [&](int column) { return static_cast<size_t>(column) < join.probe_types.size(); });
}

// What the columns are below the projection; false if one is computed.
bool FindBelow(const Operator& projection, std::vector<int>* columns) {
  for (int& column : *columns) {
    const Expr& expr = *projection.exprs[column];
    if (expr.kind != Expr::Kind::kColumn) return false;
    column = expr.column;
  }
  return true;
}

}  // namespace

PrefilterPlace FindPrefilterPlace(const std::vector<const Operator*>& steps, bool has_scan,
                                  const Sink::PrefilterNeeds& needs) {
  PrefilterPlace found;  // the lowest place so far; `place` moves on from the sink down
  if (needs.columns.empty() || (needs.can_fail && !steps.empty())) return found;
  PrefilterPlace place{.columns = needs.columns};
  for (size_t i = steps.size(); i-- > 0;) {
    const Operator& step = *steps[i];
    if (KindOf(step).role == PipelineRole::kProbe) {
      if (step.join.has_probe_columns() && step.join.has_build_columns()) {
        place.kind = PrefilterPlace::Kind::kJoin;
        place.step = i;
        found = place;
      }
      if (!PassesProbeRows(step.join, place.columns)) return found;
    } else if (step.kind == Operator::Kind::kUnnest) {
      if (step.unnest.CanFail() || std::any_of(place.columns.begin(), place.columns.end(), [&](int column) {
            return static_cast<size_t>(column) >= step.unnest.input_columns;
          })) {
        return found;
      }
    } else if (CanFail(step.exprs) || (step.kind == Operator::Kind::kProjection && !FindBelow(step, &place.columns))) {
      return found;
    }
    place.all_come &= step.kind == Operator::Kind::kProjection;
  }
  if (!has_scan) return found;
  place.kind = PrefilterPlace::Kind::kScan;
  return place;
}

}  // namespace penumbra

// Conditions on ranges with a constant, by the bounds of the ranges: operators of ranges, and comparisons of lower()
// and upper().
#pragma once

#include <memory>

#include "scan/scan_predicate_bound.h"

namespace penumbra {

class RangeCondition {
 public:
  // Null: `expr`, which lives longer than the result, is none.
  static std::unique_ptr<const RangeCondition> Find(const Expr& expr);
  virtual ~RangeCondition() = default;
  // Of the rows that the zone speaks of, and of nulls.
  virtual Verdict Check(const RangeZone& zone, bool has_nulls) const = 0;
  // On plain strings. Null: their zones, if any, say nothing of such ranges.
  virtual BoundPredicate Bind(const SegmentView& segment, const ColumnExpr& expr) const = 0;
  // The bound, which may be null, with the verdicts of the segment's zones.
  BoundPredicate WithZones(const SegmentView& segment, BoundPredicate bound) const;
};

}  // namespace penumbra

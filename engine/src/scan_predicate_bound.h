// The forms that a predicate takes on one segment.
#pragma once

#include <memory>
#include <vector>

#include "scan_predicate_ranges.h"
#include "segment.h"
#include "segment_format.h"

namespace penumbra {

using BoundPredicate = std::unique_ptr<ScanPredicate::Bound>;

// Every row of the segment passes or none does.
BoundPredicate BindVerdict(Verdict verdict);
// IS NULL, IS NOT NULL.
BoundPredicate BindNullTest(const SegmentView& segment, bool nulls_pass);
// Integers, or floats stored plain: values in `set`, in keys. Null if the set has too many ranges.
BoundPredicate BindRanges(const SegmentView& segment, const RangeSet& set);
// By code of a dictionary or frame: truth[code] is 0 or 1.
BoundPredicate BindTable(const SegmentView& segment, std::vector<uint8_t> truth, bool nulls_pass);
// Plain strings equal to `wanted` (or, negated, not equal), by length first.
BoundPredicate BindStringEquality(const SegmentView& segment, std::string_view wanted,
                                  bool is_negated);

}  // namespace penumbra

// What a segment says of the bounds of ranges; see RangeZone in segment_format.h.
#pragma once

#include <vector>

#include "segment/rows.h"
#include "segment/segment_format.h"

namespace penumbra {

// Of a flat vector of strings. False: a valid row is no range or multirange of the form.
bool FindRangeZone(uint8_t form, const Vector& ranges, uint32_t rows, RangeZone* zone);

// One for each vector of the column; none if it has other values than ranges, or if its first vector has none that is
// not empty.
std::vector<RangeZone> FindRangeZones(const RowsColumn& column, uint32_t rows);

// Of all rows of the segment.
RangeZone UniteRangeZones(const SegmentView& segment);

}  // namespace penumbra

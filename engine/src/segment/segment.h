// Segments: one column of a chunk, encoded; read access for scans. The byte layout is in
// segment_format.h, the choice of encoding in segment_encode.cc.
#pragma once

#include <cstdint>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

class Rows;

// Encodes one column; see penumbra_segment_encode().
void* EncodeSegment(const Rows& rows, int column, size_t* segment_bytes);
// Throws PENUMBRA_CORRUPT unless every invariant of segment_format.h holds.
void CheckSegment(const void* segment, size_t segment_bytes);
const char* EncodingName(const void* segment);
// See penumbra_segment_compare().
int64_t CompareSegment(const void* segment, uint32_t segment_begin, const Rows& rows, int column);

// The bounds that somebody asks for.
struct BoundsNeeded {
  bool least = false;
  bool greatest = false;
  bool any() const { return least || greatest; }
};

struct SummaryColumn {
  int column;
  BoundsNeeded bounds;
};

// What is known of a range of rows of one column without decoding it.
struct ColumnSummary {
  uint32_t valid_rows = 0;
  // Flat: row 0 is the least valid value, row 1 the greatest. Set if they were asked for and there is
  // a valid row; what was not asked for may be anything.
  Vector bounds;
};

// Reads one segment. Cheap to create. The segment was checked when it entered the cache.
//
// `arena`, if given, lives as long as the reader and takes what is built once for all vectors: the
// entries of a dictionary of longer strings. Without it such a dictionary is decoded flat when it
// has more entries than the vector rows. A reader with an arena belongs to one thread.
class SegmentReader {
 public:
  explicit SegmentReader(const void* segment, Arena* arena = nullptr);

  PenumbraType type() const;
  uint32_t rows() const;
  uint32_t null_count() const;
  // Of the whole segment.
  PenumbraZoneMap zone_map() const;

  // Rows [begin, begin + count), count <= kVectorRows, as a vector. Integers come flat in the
  // type's width, a constant segment as kConstant, a dictionary as kDictionary (codes pointing into
  // the segment), NUMERIC with bounds and scale. No copy where the segment's bytes already are the
  // vector.
  Vector Decode(uint32_t begin, uint32_t count, Arena& arena) const;
  // The rows begin + selected[i], i < selected_count, selected ascending; for few selected rows
  // cheaper than Decode and Gather.
  Vector DecodeSelected(uint32_t begin, uint32_t count, const uint16_t* selected, uint32_t selected_count,
                        Arena& arena) const;
  // Of all rows (begin 0), or of one vector's (begin a multiple of kVectorRows). False: this has to be
  // decoded. Equal values whose output differs (zeros, NaNs) are never told.
  bool Summarize(uint32_t begin, uint32_t count, BoundsNeeded needed, Arena& arena, ColumnSummary* summary) const;
  // Of a dictionary segment: its entries, flat (in `arena` unless built before). Null for the
  // others.
  const Vector* Dictionary(Arena& arena) const;
  const void* segment() const { return segment_; }

 private:
  // Rows begin + i or, with `selected`, begin + selected[i].
  Vector DecodeRows(uint32_t begin, const uint16_t* selected, uint32_t count, Arena& arena) const;
  // Attaches the codes of a narrow frame to the decoded values.
  void AttachDomain(const void* codes, Vector* v) const;

  const void* segment_;
  Arena* arena_;
  mutable const Vector* dictionary_ = nullptr;  // in arena_
  mutable CodeDomain* domain_ = nullptr;        // in arena_
  mutable uint64_t dictionary_id_ = 0;
};

}  // namespace penumbra

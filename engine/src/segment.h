// Segments: one column of a chunk, encoded; read access for scans. The byte layout is in
// segment_format.h, the choice of encoding in segment_encode.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "arena.h"
#include "expr.h"
#include "vector.h"

namespace penumbra {

// What a zone map or an encoded predicate says of a range of rows.
enum class Verdict : uint8_t { kNone, kSome, kAll };

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

  // Rows [begin, begin + count), count <= kVectorRows, as a vector. Integers come flat in the
  // type's width, a constant segment as kConstant, a dictionary as kDictionary (codes pointing into
  // the segment), NUMERIC with bounds and scale. No copy where the segment's bytes already are the
  // vector.
  Vector Decode(uint32_t begin, uint32_t count, Arena& arena) const;
  // The rows begin + selected[i], i < selected_count, selected ascending; for few selected rows
  // cheaper than Decode and Gather.
  Vector DecodeSelected(uint32_t begin, uint32_t count, const uint16_t* selected,
                        uint32_t selected_count, Arena& arena) const;
  // Of all rows (begin 0), or of one vector's (begin a multiple of kVectorRows). False: this has to be
  // decoded. Equal values whose output differs (zeros, NaNs) are never told.
  bool Summarize(uint32_t begin, uint32_t count, BoundsNeeded needed, Arena& arena,
                 ColumnSummary* summary) const;
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

// A conjunct over one column that a scan evaluates on encoded data: compiled once per plan.
// Any boolean expression over one column qualifies (its dictionary form); comparisons, IN and
// IS [NOT] NULL with constants also use zone maps and run on frame-of-reference codes.
class ScanPredicate {
 public:
  // `expr` reads exactly one batch column. Null when nothing is to be gained over Evaluate.
  static std::unique_ptr<ScanPredicate> Compile(const Expr& expr);
  virtual ~ScanPredicate() = default;
  virtual int column() const = 0;
  // From the zone map of the whole segment: kAll means that every row passes (no nulls among them).
  virtual Verdict Check(const SegmentReader& segment) const = 0;

  // Prepared for one segment by one thread (codes of constants, the dictionary's truth table).
  class Bound {
   public:
    virtual ~Bound() = default;
    // From per-vector zone maps, if any.
    virtual Verdict Check(uint32_t begin, uint32_t count) const = 0;
    // Clears in bits (count of them, from bit 0) the rows of [begin, begin + count) that do not
    // pass.
    virtual void Apply(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context) = 0;
  };
  // Null when this segment's encoding gives no advantage: the caller decodes and evaluates.
  virtual std::unique_ptr<Bound> Bind(const SegmentReader& segment, EvalContext& context) const = 0;
};

}  // namespace penumbra

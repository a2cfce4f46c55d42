// The forms that a predicate takes on one segment.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "scan/scan_predicate.h"
#include "scan/scan_predicate_ranges.h"
#include "scan/text_search.h"
#include "segment/segment.h"
#include "segment/segment_format.h"

namespace penumbra {

using BoundPredicate = std::unique_ptr<ScanPredicate::Bound>;

// An expression over one column of a batch.
struct ColumnExpr {
  const Expr& expr;
  int column;
};
// Its truth of `rows` values.
void EvaluateOnColumn(const ColumnExpr& expr, const Vector& values, uint32_t rows, EvalContext& context, Truth* truth);

// What most of them share: the truth of values, then that of nulls.
class ValueBound : public ScanPredicate::Bound {
 public:
  ValueBound(const SegmentView& segment, bool nulls_pass) : segment_(segment), nulls_pass_(nulls_pass) {}

  Verdict Check(uint32_t, uint32_t) const override { return Verdict::kSome; }
  void Apply(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context) final;

 protected:
  // For null rows anything. Rows whose bit is not set in `wanted` do not matter.
  virtual void FindTruth(uint32_t begin, uint32_t count, const uint64_t* wanted, EvalContext& context,
                         uint64_t* truth) = 0;
  const SegmentView segment_;

 private:
  const bool nulls_pass_;
};

// Every row of the segment passes or none does.
BoundPredicate BindVerdict(Verdict verdict);
// IS NULL, IS NOT NULL.
BoundPredicate BindNullTest(const SegmentView& segment, bool nulls_pass);
// Integers, or floats stored plain: values in `set`, in keys. Null if the set has too many ranges.
BoundPredicate BindRanges(const SegmentView& segment, const RangeSet& set);
// By code of a dictionary or frame: truth[code] is 0 or 1.
BoundPredicate BindTable(const SegmentView& segment, std::vector<uint8_t> truth, bool nulls_pass);

// scan_predicate_strings.cc: plain or compressed strings, decoded only where it takes their bytes.
//
// Equal to `wanted` (or, negated, not equal), by length first.
BoundPredicate BindStringEquality(const SegmentView& segment, std::string_view wanted, bool is_negated);
// Matching a pattern, which outlives the result.
BoundPredicate BindSearch(const SegmentView& segment, const TextSearch& search, bool is_negated);
// The truth of each entry of a dictionary whose entries lie back to back.
std::vector<uint8_t> FindEntries(const SegmentView& segment, const TextSearch& search, bool is_negated,
                                 EvalContext& context);

}  // namespace penumbra

// Conditions of a scan on encoded data.
#pragma once

#include <cstdint>
#include <memory>

#include "expression/expr.h"
#include "operator/key_filter.h"
#include "segment/segment.h"

namespace penumbra {

// A conjunct over one column that a scan evaluates on encoded data: compiled once per plan.
// Any boolean expression over one column qualifies (its dictionary form); comparisons, IN and
// IS [NOT] NULL with constants also use zone maps and run on frame-of-reference codes.
class ScanPredicate {
 public:
  // `expr` reads exactly one batch column. Null when nothing is to be gained over Evaluate.
  static std::unique_ptr<ScanPredicate> Compile(const Expr& expr);
  // A runtime filter as one.
  static std::unique_ptr<ScanPredicate> OfKeys(const KeyFilter& keys, int column);
  virtual ~ScanPredicate() = default;
  virtual int column() const = 0;
  // From the zone map of a whole segment: kAll means that every row passes (no nulls among them).
  virtual Verdict Check(const PenumbraZoneMap& zone_map) const = 0;

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

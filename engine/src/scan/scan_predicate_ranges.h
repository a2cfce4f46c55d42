// A condition on one column as the set of values that pass: disjoint ranges of int64 keys.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expression/expr.h"
#include "segment/segment_format.h"

namespace penumbra {

// What the keys are. With kPrefix they are only the beginning of the values, and the set holds at
// least the keys of all values that pass; otherwise a value passes iff its key is in the set.
enum class KeyKind : uint8_t { kInteger, kFloat, kNumeric, kPrefix };

struct KeyDomain {
  KeyKind kind;
  PenumbraType type;  // of the column
  int scale = 0;      // kNumeric: keys are the values times 10^scale
};

// Ascending, disjoint and not adjacent.
class RangeSet {
 public:
  struct Range {
    int64_t low;
    int64_t high;  // inclusive
  };

  static RangeSet All() { return Of(INT64_MIN, INT64_MAX); }
  static RangeSet None() { return {}; }
  // Clipped to int64; empty if low > high.
  static RangeSet Of(int128 low, int128 high);

  const std::vector<Range>& ranges() const { return ranges_; }
  bool is_empty() const { return ranges_.empty(); }
  bool Contains(int64_t low, int64_t high) const;  // every key of it
  bool Overlaps(int64_t low, int64_t high) const;
  RangeSet Complement() const;
  RangeSet Intersect(const RangeSet& other) const;
  static RangeSet Union(std::vector<RangeSet> sets);
  static RangeSet OfKeys(std::vector<int64_t> keys);
  // What lies within [low, high].
  RangeSet Clip(int64_t low, int64_t high) const;

 private:
  std::vector<Range> ranges_;
};

// The comparison with its sides swapped.
PenumbraFunction Mirror(PenumbraFunction function);

// The set of non-null values for which `expr` is true, if it is made of comparisons of its column
// with constants, IN, AND, OR, NOT. Such an expression is never true for a null.
std::optional<RangeSet> CompileRanges(const Expr& expr, const KeyDomain& domain);

}  // namespace penumbra

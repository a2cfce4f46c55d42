// Joins whose conditions compare the sides by their order: a value within two bounds, a date within a period, a < b.
//
// Build rows lie sorted by one of the compared values. What a probe row asks of it is a run of rows, found by two
// binary searches. A second value of the build rows, as the end of a period that begins early enough, is tested in the
// run: a tree of maxima skips rows that do not reach the bound, so that a probe row costs O((matches + 1) log(build
// rows)).
//
// Beside keys the rows of a key are such rows, where they are many: pairs that the range leaves are fewer, and are
// tested by all conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "join/join_spec.h"
#include "vector/arena.h"

namespace penumbra {

// What the conditions ask of a build row's values. Expressions are over the pairs' columns, and read those of one side.
struct JoinRange {
  struct Bound {
    const Expr* probe = nullptr;  // null: there is no bound
    bool is_strict = false;
  };

  // is_empty(): rows are not searched so. Beside keys one bound leaves about as many pairs as there are matches, so
  // it takes two.
  explicit JoinRange(const JoinSpec& spec);
  bool is_empty() const { return sorted == nullptr; }

  const Expr* sorted = nullptr;  // at least, at most so much
  Bound least;
  Bound greatest;
  const Expr* other = nullptr;  // at least so much or, if it is reversed, at most; null: nothing
  Bound other_bound;
  bool is_other_reversed = false;
  std::vector<const Expr*> rest;  // the conditions that are not in it, in their order
};

// Whether a condition, if each argument reads one side, can be one of a range's.
bool IsRangeComparison(const Expr& condition);

// The values of one of a range's expressions as flat int8 in their order; equal where they are. nullopt: they cannot be
// computed. Not each row is asked for them in SQL, so errors are not raised.
std::optional<Vector> OrderedValues(const Expr& expr, const Batch& pairs, EvalContext& context);

// The values of build rows in the table's order.
class RangeIndex {
 public:
  // `others` may be null, and `sorted` where RowsBelow() is not asked. Both are the arena's.
  void Build(const int64_t* sorted, const int64_t* others, uint64_t rows, Arena* arena);

  // The rows before the first whose value is at least (or, if it is strict, more than) the bound.
  uint64_t RowsBelow(int64_t bound, bool is_strict) const;
  // The first row of [row, end) whose other value is at least the bound; `end` if there is none.
  uint64_t Next(uint64_t row, uint64_t end, int64_t bound) const;
  uint64_t rows() const { return rows_; }

 private:
  static constexpr int kFanOutBits = 4;
  static constexpr uint64_t kFanOut = uint64_t{1} << kFanOutBits;

  const int64_t* sorted_ = nullptr;
  uint64_t rows_ = 0;
  // maxima_[0] are the other values, maxima_[i + 1][j] the greatest of the kFanOut from maxima_[i][j * kFanOut] on.
  std::vector<const int64_t*> maxima_;
};

}  // namespace penumbra

// Random relations, and joins of them by a nested loop over their cells.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "support/query.h"

namespace penumbra::test {

// A cell, how a result shows it, and what it is equal to: cells of one class are equal. Of columns that are compared by
// their order the classes have that order.
struct Value {
  Cell cell;
  std::string shown = "NULL";
  std::string equality_class;

  bool is_null() const { return !cell.has_value(); }
};

struct Relation {
  std::vector<PenumbraType> types;
  std::vector<std::vector<Value>> rows;
};

// Values of the type that a key may have: several ways to write one and the same.
Value KeyValue(PenumbraType type, uint32_t n);

// Two keys, then a number of one digit, which may be null, and a text that names the row.
Relation RandomRelation(std::mt19937& random, PenumbraType first_key, PenumbraType second_key, uint32_t rows,
                        uint32_t distinct, uint32_t null_percent);

// As rows of a result, sorted.
std::vector<Row> Shown(const Relation& relation);

// A relation as chunks, pushed rows, or both.
class Loaded {
 public:
  Loaded(const Relation& relation, bool has_chunks, bool has_pushed);
  ScanInput Input(PenumbraOperator scan) const;

 private:
  std::vector<Table> tables_;
  std::vector<Chunk> chunks_;
  std::vector<Table> pushed_;
};

struct Key {
  int probe;
  int build;
  bool nulls_are_equal = false;
};

// A condition over columns of the pair.
struct Comparison {
  int left;
  int right;
  PenumbraFunction function = PENUMBRA_FN_LT;
};

struct NaiveJoin {
  PenumbraJoinKind kind = PENUMBRA_JOIN_INNER;
  bool is_null_aware = false;
  std::vector<Key> keys;
  std::vector<Comparison> conditions;
  PenumbraJoinChoice choice = PENUMBRA_JOIN_ALL;  // by the build side's column of the only condition

  bool IsMatch(const std::vector<Value>& probe, const std::vector<Value>& build) const;
  // Build rows.
  std::vector<size_t> MatchesOf(const std::vector<Value>& probe, const Relation& build) const;
  // False: an error.
  bool Run(const Relation& probe, const Relation& build, Relation* output) const;
};

// Adds the join to the plan.
PenumbraOperator AddJoin(PlanBuilder& plan, PenumbraOperator probe, PenumbraOperator build, const NaiveJoin& join);

inline constexpr PenumbraJoinKind kJoinKinds[] = {
    PENUMBRA_JOIN_INNER,  PENUMBRA_JOIN_LEFT,  PENUMBRA_JOIN_SEMI, PENUMBRA_JOIN_ANTI,       PENUMBRA_JOIN_MARK,
    PENUMBRA_JOIN_SINGLE, PENUMBRA_JOIN_RIGHT, PENUMBRA_JOIN_FULL, PENUMBRA_JOIN_RIGHT_SEMI, PENUMBRA_JOIN_RIGHT_ANTI};

inline constexpr size_t kEnoughMemory = size_t{256} << 20;
inline constexpr size_t kNoMemory = 1000;  // everything is spilled

}  // namespace penumbra::test

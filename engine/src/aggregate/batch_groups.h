// The groups of one batch, numbered without hashing, and their states: what an aggregation needs where a batch has all
// rows of some groups.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/hash_aggregation_groups.h"
#include "aggregate/hash_aggregation_memo.h"

namespace penumbra {

class BatchGroups {
 public:
  // `aggregation`: whose states the groups have.
  BatchGroups(const GroupAggregation& aggregation, ExecutionEnvironment& environment)
      : aggregation_(aggregation), environment_(environment) {}

  // Of rows in the order of their one key, else of keys with few possible values in the batch, each of which has one
  // code. False: neither.
  bool Number(const Vector* keys, int key_count, uint32_t rows);
  uint32_t count() const { return static_cast<uint32_t>(first_rows_.size()); }
  // A row of each group, by number.
  const std::vector<uint16_t>& first_rows() const { return first_rows_; }
  // The groups as rows of the layout, of which only the states are there, by number. They live until the next batch.
  char* const* AddStates(const std::vector<StateUpdate>& updates);

 private:
  const GroupAggregation& aggregation_;
  ExecutionEnvironment& environment_;
  uint32_t rows_ = 0;
  CodeMemo memo_;
  const uint16_t* numbers_ = nullptr;  // by row; null: each group is the rows from its first to the next one's
  std::vector<uint16_t> first_rows_;
  std::vector<char> states_;
  std::unique_ptr<StateStore> store_;
  char* groups_[kVectorRows];
  char* row_groups_[kVectorRows];
};

}  // namespace penumbra

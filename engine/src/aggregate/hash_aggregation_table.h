// Grouping without hashing where the keys have many possible values, but a known range: a table with
// a place for each combination of values, which is a bit (the group exists) where groups have no
// states, and else a pointer to the group's row.
//
// Places are few against the rows seen, so that a table costs less than what it saves; rows that are
// mostly of groups not seen before turn it off for a while.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/hash_aggregation_codes.h"
#include "operator/execution_environment.h"
#include "vector/arena.h"

namespace penumbra {

class GroupTable {
 public:
  // has_states: groups have states, so that somebody asks for their rows.
  GroupTable(bool has_states, ExecutionEnvironment& environment);

  // False: these keys are not for the table. All it knows stays valid.
  bool Encode(const Vector* keys, int key_count, uint32_t rows);
  // One row of each combination without a group, appended to *new_rows; if groups have states,
  // Enter() has to follow.
  void FindNew(uint32_t rows, std::vector<uint16_t>* new_rows);
  void Enter(const std::vector<uint16_t>& new_rows, char* const* groups);
  // groups[i] becomes the group of row i.
  void Lookup(uint32_t rows, char** groups) const;
  // The groups' rows are dead, or the codes mean something else.
  void Forget() { is_empty_ = true; }

 private:
  bool UpdateDimension(const Vector& key, uint32_t rows, uint64_t max_places, KeyDimension* dimension);
  bool UpdateRange(const Vector& key, uint32_t rows, uint64_t max_places, KeyDimension* dimension);
  uint64_t MaxPlaces() const;
  void Clear(uint64_t places);
  void Observe(uint32_t rows, size_t new_rows);

  const bool has_states_;
  MemoryBudget* const budget_;
  uint64_t memory_places_;  // never more
  std::vector<KeyDimension> dimensions_;
  std::unique_ptr<Arena> memory_;
  size_t capacity_bytes_ = 0;
  uint64_t* bits_ = nullptr;  // one of both
  char** groups_ = nullptr;
  uint64_t places_ = 0;
  bool is_empty_ = true;  // to be cleared before the next use
  uint64_t rows_seen_ = 0;
  uint64_t zeroed_places_ = 0;
  uint64_t window_rows_ = 0;
  uint64_t window_new_rows_ = 0;
  uint64_t resting_rows_ = 0;
  uint32_t codes_[kVectorRows];
};

}  // namespace penumbra

// One thread's groups: a hash table over rows in radix partitions.
//
// The directory holds only as many groups as the caches can: when it is full it is emptied and
// filled anew, while the rows stay in their partitions, to be merged with their equals at the end.
// A thread whose rows hardly repeat stops looking for equals for a while.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/hash_aggregation_rows.h"
#include "aggregate/hash_aggregation_spill.h"
#include "aggregate/hash_aggregation_table.h"
#include "operator/execution_environment.h"

namespace penumbra {

class LocalGroups {
 public:
  LocalGroups(const GroupLayout& layout, ExecutionEnvironment& environment);

  // groups[i] becomes the row of the i-th selected row's group. Rows of one group may be several.
  void FindOrInsert(const Vector* keys, RowSelection selection, Arena& arena, char** groups);
  // The same for all rows, with the help of a table where it can; without states nobody needs to know the groups, and
  // they may stay unset.
  void FindOrInsertByTable(const Vector* keys, uint32_t rows, Arena& arena, char** groups);

  StateStore& store() { return *store_; }
  // Whether the execution is over its budget and this thread holds a share worth writing.
  bool ShouldSpill() const;
  // Writes all rows to disk and frees them: pointers to groups are dead.
  void Spill();

  // For the merge.
  bool may_repeat() const { return may_repeat_; }
  RowPages& rows(int partition) { return rows_[partition]; }
  SpilledRows& spilled(int partition) { return spilled_[partition]; }
  std::unique_ptr<StateStore> TakeStore() { return std::move(store_); }
  std::unique_ptr<Arena> TakeRowMemory() { return std::move(row_memory_); }

 private:
  char* NewRow(const char* image);
  void OwnStrings(char* row);
  void MakeRoom();
  void StartRows();

  const GroupLayout& layout_;
  ExecutionEnvironment& environment_;

  std::unique_ptr<StateStore> store_;
  std::unique_ptr<Arena> row_memory_;
  GroupDirectory directory_;
  GroupTable table_;
  std::vector<uint16_t> new_rows_;
  std::vector<char> images_;
  // Of keys that are few strings rows share copies: here are those of late, at places by their bytes.
  static constexpr uint32_t kSharedStrings = 64;
  StringRef shared_[kSharedStrings];
  uint64_t sharing_slots_ = 0;  // of the batch in hand: KeyLayout::SlotsOfFewStrings()
  std::vector<RowPages> rows_;
  std::vector<SpilledRows> spilled_;
  std::shared_ptr<SpillFile> file_;
  uint64_t probed_rows_ = 0;  // since the directory was emptied
  uint64_t unprobed_rows_left_ = 0;
  bool may_repeat_ = false;  // several rows may have equal keys
};

}  // namespace penumbra

// Grouping by keys with shared accumulators, without expressions: what an aggregation runs once for
// its plain aggregates, and once more for each DISTINCT argument (with the argument as a further
// key).
//
// Threads fill their own LocalGroups; Combine() hands their rows over by partition; merge tasks
// unite equal rows of a partition in place; readers return the rows that are left. Partitions of
// which rows were spilled are merged by their reader instead, so that only as many are in memory as
// there are readers; one that is too large by itself is first split on disk by the next bits of the
// hash.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "aggregate/hash_aggregation_local.h"
#include "aggregate/hash_aggregation_memo.h"
#include "operator/execution_environment.h"

namespace penumbra {

class GroupAggregation {
 public:
  GroupAggregation(const std::vector<PenumbraType>& key_types, ExecutionEnvironment& environment)
      : layout_(key_types), environment_(environment), partitions_(kPartitions) {
    for (Partition& partition : partitions_) partition.rows.reserve(4);
  }
  GroupLayout& layout() { return layout_; }
  const GroupLayout& layout() const { return layout_; }

  class Local {
   public:
    Local(const GroupLayout& layout, ExecutionEnvironment& environment) : groups(layout, environment) {}

   private:
    friend class GroupAggregation;
    LocalGroups groups;
    CodeMemo memo;
    RowsByNumber by_number;
    std::vector<uint16_t> new_rows;
    char* row_groups[kVectorRows];
  };
  std::unique_ptr<Local> CreateLocal() { return std::make_unique<Local>(layout_, environment_); }
  void Consume(Local& local, const Vector* keys, uint32_t rows, const std::vector<StateUpdate>& updates, Arena& arena);
  // The same where each row stands for a group of another aggregation, whose layout has these accumulators too and
  // whose states are `states_shift` bytes further than in rows of this one. The states are copied.
  void ConsumeGroups(Local& local, const Vector* keys, char* const* groups, uint32_t count, int64_t states_shift,
                     Arena& arena);
  // Adds the one group of an aggregation without keys if there is none.
  void AddEmptyGroup();
  void Combine(Local& local);

  int PrepareMerge();  // returns the number of tasks
  void RunMergeTask(int task);
  int PartitionCount() const { return task_count_; }

  // The groups of one or more partitions, in batches of pointers to their rows.
  class Reader {
   public:
    virtual ~Reader() = default;
    // Up to kVectorRows rows, valid until the next call; 0 at the end.
    virtual uint32_t Next(char** rows) = 0;
  };
  std::unique_ptr<Reader> Open(int task);
  // The same; the groups can be read again. After KeepGroups(), or if nothing was spilled.
  std::unique_ptr<Reader> OpenKept(int task);
  // Before the first merge: no reader takes the groups away.
  void KeepGroups() { keeps_groups_ = true; }
  std::unique_ptr<Reader> OpenResult(int task) { return keeps_groups_ ? OpenKept(task) : Open(task); }

  uint64_t row_count() const;  // of all partitions, not merged
  uint64_t group_count() const { return group_count_; }
  uint64_t spilled_bytes() const { return spilled_bytes_; }
  uint64_t split_count() const { return split_count_; }

 private:
  struct Partition {
    std::vector<RowPages> rows;
    SpilledRows spilled;
    bool may_repeat = false;
    bool is_counted = false;  // in group_count_
    int level = 0;

    uint64_t row_count() const;
    size_t estimated_bytes() const;
  };
  class PartitionReader;
  class KeptReader;

  static void SpillIfFull(Local& local);
  void UpdateByNumber(Local& local, const uint16_t* numbers, uint32_t rows, const std::vector<StateUpdate>& updates);
  char* CopyStates(const char* group, int64_t states_shift, StateStore& store, Arena& arena) const;
  void MergePartition(Partition* partition, StateStore& store);
  void SpillRows(Partition* partition);
  std::vector<Partition> SplitPartition(Partition&& partition);
  StateStore& AddStore();

  GroupLayout layout_;
  ExecutionEnvironment& environment_;
  std::mutex mutex_;  // guards partitions_ during Combine, stores_ and row_memory_
  std::vector<Partition> partitions_;
  std::vector<std::unique_ptr<StateStore>> stores_;
  std::vector<std::unique_ptr<Arena>> row_memory_;
  bool keeps_groups_ = false;
  int task_count_ = 0;
  int partitions_per_task_ = 1;
  std::atomic<uint64_t> group_count_{0};
  std::atomic<uint64_t> spilled_bytes_{0};
  std::atomic<uint64_t> split_count_{0};
};

}  // namespace penumbra

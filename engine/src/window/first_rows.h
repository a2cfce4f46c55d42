// The rows of each partition that WindowSpec::limit lets out, without sorting the others.
//
// Each thread finds the partition of a row by hashing, and keeps the rows that may be among the partition's first. The
// last one that is wanted bounds what comes. Few rows by number are kept in their order, and one that is dropped gives
// its place to the next. Otherwise the others go when there are twice as many as wanted. A partition may be entered
// twice, as in aggregate/hash_aggregation_local.h; then more rows are kept than need be.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/hash_aggregation_local.h"
#include "sort/sort_input.h"
#include "window/window_input.h"

namespace penumbra {

class FirstRows {
 public:
  // `rows`: how the sort that the rows go to keeps them.
  FirstRows(const WindowInput& input, const SortInput& rows, ExecutionEnvironment& environment);
  FirstRows(const FirstRows&) = delete;

 private:
  // Rows of a partition, of which the bound, once it is known, is the last one wanted.
  struct Partition {
    SortEntry first;     // in place of an array, while there is no other row
    SortEntry* entries;  // null: none yet
    uint32_t count;
    uint32_t capacity;
    SortEntry bound;
    uint64_t is_bounded;
  };

 public:
  // One thread's.
  class Local {
   public:
    explicit Local(const FirstRows& of);

    // `batch`: with the columns that WindowInput adds.
    void Add(const Batch& batch, EvalContext& context);
    // Whether the rows must go: they take too much memory.
    bool ShouldSpill() const;
    // There are so many partitions that most rows will be kept, so that it is not worth it.
    bool IsUseless();
    // Calls visit(batch) for the rows that are left, in no order, and forgets them.
    template <typename Visit>
    void Take(const Visit& visit);

   private:
    Partition& PartitionAt(char* group) const;
    char* NewRow();
    void Insert(Partition& partition, const SortEntry& entry);
    void InsertSorted(Partition& partition, const SortEntry& entry);
    void Grow(Partition& partition, uint32_t capacity);
    void Cut(Partition& partition);
    uint32_t CutDense(Partition& partition);
    void Compact();

    const FirstRows& of_;
    std::unique_ptr<LocalGroups> partitions_;
    std::unique_ptr<Arena> arena_;  // rows and entries, also dropped ones
    size_t compact_bytes_;
    uint64_t seen_rows_ = 0;
    uint64_t judged_rows_;      // when so many are seen
    uint64_t stored_rows_ = 0;  // in arena_
    std::vector<char*> free_rows_;
    std::vector<SortPrefix> prefixes_;
    std::vector<Vector> columns_;
    char* groups_[kVectorRows];
    char* rows_[kVectorRows];
    uint16_t selected_[kVectorRows];
  };

 private:
  const WindowLimit limit_;
  const std::vector<int> partition_columns_;
  const std::vector<int> order_columns_;
  const SortInput& rows_;
  const SortKeys order_;
  const bool keeps_order_;  // of the rows of a partition
  ExecutionEnvironment& environment_;
  GroupLayout layout_;  // the state is a Partition
};

template <typename Visit>
void FirstRows::Local::Take(const Visit& visit) {
  char* rows[kVectorRows];
  uint32_t count = 0;
  Arena arena;
  const auto flush = [&] {
    if (count == 0) return;
    arena.Reset();
    std::vector<Vector> columns;
    for (int c = 0; c < of_.rows_.column_count(); ++c) {
      columns.push_back(of_.rows_.layout().Read(c, rows, count, arena));
    }
    visit(Batch{count, static_cast<uint32_t>(columns.size()), columns.data()});
    count = 0;
  };
  for (int p = 0; p < kPartitions; ++p) {
    partitions_->rows(p).ForEach(of_.environment_, [&](char* group) {
      Partition& partition = PartitionAt(group);
      Cut(partition);
      for (uint32_t i = 0; i < partition.count; ++i) {
        rows[count] = partition.entries[i].row;
        if (++count == kVectorRows) flush();
      }
    });
  }
  flush();
  partitions_ = std::make_unique<LocalGroups>(of_.layout_, of_.environment_);
  arena_ = std::make_unique<Arena>(&of_.environment_.budget);
  free_rows_.clear();
  stored_rows_ = 0;
}

}  // namespace penumbra

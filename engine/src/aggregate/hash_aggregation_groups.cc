#include "aggregate/hash_aggregation_groups.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace penumbra {
namespace {

// Fewer rows are merged and read as one.
constexpr uint64_t kParallelMergeRows = 16384;
constexpr uint32_t kMergeBlockRows = 256;

}  // namespace

// ---------------------------------------------------------------- consuming

// Before a batch, whose rows are not yet anywhere: the memo and row_groups point to what Spill() frees.
void GroupAggregation::SpillIfFull(Local& local) {
  if (!local.groups.ShouldSpill()) return;
  local.groups.Spill();
  local.memo.Forget();
}

// Three ways to a row's group, the fastest first: numbers of combinations of codes, words of encoded keys, images. In
// the first two only new combinations are looked up by images.
void GroupAggregation::Consume(Local& local, const Vector* keys, uint32_t rows, const std::vector<StateUpdate>& updates,
                               Arena& arena) {
  SpillIfFull(local);
  if (local.memo.Encode(keys, layout_.keys.count(), rows)) {
    local.new_rows.clear();
    const uint16_t* numbers = local.memo.NumberGroups(rows, &local.new_rows);
    if (!local.new_rows.empty()) {
      const auto new_count = static_cast<uint32_t>(local.new_rows.size());
      local.groups.FindOrInsert(keys, {local.new_rows.data(), new_count}, arena, local.row_groups);
      local.memo.groups().insert(local.memo.groups().end(), local.row_groups, local.row_groups + new_count);
    }
    if (local.memo.groups().size() <= RowsByNumber::kMaxNumbers) {
      UpdateByNumber(local, numbers, rows, updates);
      return;
    }
    if (updates.empty()) return;
    for (uint32_t i = 0; i < rows; ++i) local.row_groups[i] = local.memo.groups()[numbers[i]];
  } else {
    local.groups.FindOrInsertByTable(keys, rows, arena, local.row_groups);
  }
  AddScattered(layout_, local.row_groups, updates, local.groups.store());
}

// As if it were a row of this layout, of which only the states are there.
char* GroupAggregation::CopyStates(const char* group, int64_t states_shift, StateStore& store, Arena& arena) const {
  const uint32_t begin = layout_.keys.image_bytes();
  char* copy = static_cast<char*>(arena.Allocate(layout_.row_bytes));
  std::memcpy(copy + begin, group + begin + states_shift, layout_.row_bytes - begin);
  std::vector<char> bytes;
  for (const AccumulatorSlot& slot : layout_.accumulators) {
    if (!slot.accumulator->has_variable_part()) continue;
    bytes.clear();
    slot.accumulator->Save(copy + slot.offset, &bytes);
    slot.accumulator->Load(copy + slot.offset, bytes.data(), store);
  }
  return copy;
}

void GroupAggregation::ConsumeGroups(Local& local, const Vector* keys, char* const* groups, uint32_t count,
                                     int64_t states_shift, Arena& arena) {
  SpillIfFull(local);
  StateStore& store = local.groups.store();
  char* states[kVectorRows];
  for (uint32_t i = 0; i < count; ++i) states[i] = CopyStates(groups[i], states_shift, store, arena);
  local.groups.FindOrInsert(keys, {nullptr, count}, arena, local.row_groups);
  for (const AccumulatorSlot& slot : layout_.accumulators) {
    slot.accumulator->Combine(local.row_groups, states, slot.offset, count, store);
  }
}

void GroupAggregation::UpdateByNumber(Local& local, const uint16_t* numbers, uint32_t rows,
                                      const std::vector<StateUpdate>& updates) {
  const std::vector<char*>& groups = local.memo.groups();
  const uint32_t group_count = static_cast<uint32_t>(groups.size());
  StateStore& store = local.groups.store();
  bool is_counted = false, is_sorted = false;
  RowSelection counted;
  for (const StateUpdate& update : updates) {
    const AccumulatorSlot& slot = layout_.accumulators[update.accumulator];
    if (group_count == 1) {
      slot.accumulator->AddRun(groups[0] + slot.offset, update.arguments, update.selection, store);
      continue;
    }
    const RowSelection& selection = update.selection;
    if (!is_counted || counted.rows != selection.rows || counted.count != selection.count) {
      local.by_number.Count(numbers, group_count, selection.rows, selection.count);
      counted = selection;
      is_counted = true;
      is_sorted = false;
    }
    const bool only_counts = slot.accumulator->only_counts() && update.arguments->validity == nullptr;
    if (!only_counts && !is_sorted) {
      local.by_number.Sort(numbers, selection.rows, selection.count);
      is_sorted = true;
    }
    for (uint32_t n = 0; n < group_count; ++n) {
      const uint32_t begin = local.by_number.begin(n), end = local.by_number.begin(n + 1);
      if (begin == end) continue;
      // All rows in order, or any: as good as no selection.
      const bool is_dense = end - begin == rows || only_counts;
      RowSelection run{is_dense ? nullptr : local.by_number.rows() + begin, end - begin};
      slot.accumulator->AddRun(groups[n] + slot.offset, update.arguments, run, store);
    }
  }
}

void GroupAggregation::AddEmptyGroup() {
  for (const Partition& partition : partitions_) {
    if (partition.row_count() != 0) return;
  }
  std::unique_ptr<Local> local = CreateLocal();
  Arena arena;
  local->groups.FindOrInsert(nullptr, {nullptr, 1}, arena, local->row_groups);
  Combine(*local);
}

void GroupAggregation::Combine(Local& local) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (int p = 0; p < kPartitions; ++p) {
    Partition& partition = partitions_[p];
    RowPages& rows = local.groups.rows(p);
    SpilledRows& spilled = local.groups.spilled(p);
    if (rows.row_count() == 0 && spilled.row_count == 0) continue;
    partition.may_repeat |= local.groups.may_repeat() || partition.row_count() != 0;
    spilled_bytes_ += spilled.bytes;
    partition.spilled.Take(std::move(spilled));
    if (rows.row_count() != 0) partition.rows.push_back(std::move(rows));
  }
  stores_.push_back(local.groups.TakeStore());
  row_memory_.push_back(local.groups.TakeRowMemory());
}

// ---------------------------------------------------------------- merging

uint64_t GroupAggregation::Partition::row_count() const {
  uint64_t count = spilled.row_count;
  for (const RowPages& part : rows) count += part.row_count();
  return count;
}

size_t GroupAggregation::Partition::estimated_bytes() const {
  size_t bytes = spilled.bytes + 16 * row_count();  // with the directory
  for (const RowPages& part : rows) bytes += part.bytes();
  return bytes;
}

StateStore& GroupAggregation::AddStore() {
  std::lock_guard<std::mutex> lock(mutex_);
  return *stores_.emplace_back(std::make_unique<StateStore>(&environment_.budget));
}

uint64_t GroupAggregation::row_count() const {
  uint64_t rows = 0;
  for (const Partition& partition : partitions_) rows += partition.row_count();
  return rows;
}

int GroupAggregation::PrepareMerge() {
  const bool is_spilled = std::any_of(partitions_.begin(), partitions_.end(),
                                      [](const Partition& partition) { return partition.spilled.row_count != 0; });
  partitions_per_task_ = row_count() <= kParallelMergeRows && !is_spilled ? kPartitions : 1;
  task_count_ = kPartitions / partitions_per_task_;
  return task_count_;
}

void GroupAggregation::RunMergeTask(int task) {
  StateStore& store = AddStore();
  for (int p = task * partitions_per_task_; p < (task + 1) * partitions_per_task_; ++p) {
    Partition& partition = partitions_[p];
    if (partition.spilled.row_count == 0) {
      MergePartition(&partition, store);
    } else if (keeps_groups_) {
      SpillRows(&partition);
    }
  }
}

// What is on disk does not change when it is merged, as rows in memory do.
void GroupAggregation::SpillRows(Partition* partition) {
  RowSpiller spiller(layout_, std::make_shared<SpillFile>(environment_.spill_space), environment_);
  for (const RowPages& part : partition->rows) {
    part.ForEach(environment_, [&](const char* row) { spiller.Add(row); });
  }
  SpilledRows spilled = spiller.Finish();
  spilled_bytes_ += spilled.bytes;
  partition->rows.clear();
  partition->spilled.Take(std::move(spilled));
}

// Rows are entered where they are. Of equal rows the first is kept in its place, and the directory points to it. A row
// that was merged away has hash 0, which no key has (KeyLayout::Finish): readers, spilling and row counts pass over it.
// Pairs wait until there are kMergeBlockRows, and combine() still reads the dropped rows' states: so drop() clears the
// hash alone. A row from disk is combined at once, since the next one takes its place; a place that nothing takes is
// dropped.
void GroupAggregation::MergePartition(Partition* partition, StateStore& store) {
  if (!partition->may_repeat) {
    if (!partition->is_counted) group_count_ += partition->row_count();
    return;
  }
  GroupDirectory directory(&environment_.budget);
  directory.Reset(partition->row_count());
  char* into[kMergeBlockRows];
  char* from[kMergeBlockRows];
  uint32_t pairs = 0;
  auto combine = [&] {
    for (const AccumulatorSlot& slot : layout_.accumulators) {
      slot.accumulator->Combine(into, from, slot.offset, pairs, store);
    }
    pairs = 0;
  };
  auto merge = [&](char* row) {
    assert(KeyLayout::Hash(row) != 0);
    char* kept = directory.FindOrInsert(layout_.keys, row, [&] { return row; });
    if (kept == row) return true;
    into[pairs] = kept;
    from[pairs] = row;
    if (++pairs == kMergeBlockRows) combine();
    return false;
  };
  auto drop = [](char* row) { std::memset(row, 0, 8); };

  for (RowPages& part : partition->rows) {
    for (size_t p = 0; p < part.page_count(); ++p) {
      environment_.CheckCancelled();
      char* page = part.page(p);
      const uint32_t page_rows = part.page_rows(p), row_bytes = part.row_bytes();
      for (uint32_t begin = 0; begin < page_rows; begin += kMergeBlockRows) {
        const uint32_t end = std::min(page_rows, begin + kMergeBlockRows);
        for (uint32_t i = begin; i < end; ++i) directory.Prefetch(KeyLayout::Hash(page + size_t{i} * row_bytes));
        for (uint32_t i = begin; i < end; ++i) {
          char* row = page + size_t{i} * row_bytes;
          if (!merge(row)) drop(row);
        }
      }
    }
  }
  combine();
  if (partition->spilled.row_count != 0) {
    RowPages loaded(&store.arena(), layout_.row_bytes);
    char* spare = nullptr;
    LoadSpilled(
        layout_, partition->spilled, store, environment_,
        [&] { return spare != nullptr ? std::exchange(spare, nullptr) : loaded.Add(); },
        [&](char* row) {
          if (merge(row)) return;
          combine();
          spare = row;
        });
    if (spare != nullptr) drop(spare);
    partition->rows.push_back(std::move(loaded));
    partition->spilled = SpilledRows();
  }
  if (!partition->is_counted) group_count_ += directory.row_count();
}

std::vector<GroupAggregation::Partition> GroupAggregation::SplitPartition(Partition&& partition) {
  ++split_count_;
  const int level = partition.level + 1;
  auto file = std::make_shared<SpillFile>(environment_.spill_space);
  std::vector<RowSpiller> spillers;
  for (int i = 0; i < kPartitions; ++i) spillers.emplace_back(layout_, file, environment_);
  const auto add = [&](const char* row) { spillers[PartitionOf(KeyLayout::Hash(row), level)].Add(row); };
  for (const RowPages& part : partition.rows) part.ForEach(environment_, add);
  for (SpilledRows::Extent& extent : partition.spilled.extents) {
    // One extent at a time: what it loads is freed before the next.
    SpilledRows one;
    one.extents.push_back(std::move(extent));
    StateStore store(&environment_.budget);
    std::vector<uint64_t> row(layout_.row_bytes / 8);
    LoadSpilled(layout_, one, store, environment_, [&] { return reinterpret_cast<char*>(row.data()); }, add);
  }
  std::vector<Partition> children;
  for (RowSpiller& spiller : spillers) {
    SpilledRows spilled = spiller.Finish();
    if (spilled.row_count == 0) continue;
    spilled_bytes_ += spilled.bytes;
    Partition& child = children.emplace_back();
    child.spilled = std::move(spilled);
    child.may_repeat = true;
    child.is_counted = partition.is_counted;
    child.level = level;
  }
  return children;
}

// ---------------------------------------------------------------- reading

namespace {

// The next of the rows, at most kVectorRows with those that are there; returns how many there are.
struct PagesCursor {
  size_t part = 0;
  RowPages::Cursor cursor = {};

  uint32_t Collect(const std::vector<RowPages>& parts, char** rows, uint32_t count) {
    for (; part < parts.size(); ++part, cursor = {}) {
      while (char* row = cursor.Next(parts[part])) {
        rows[count] = row;
        count += KeyLayout::Hash(row) != 0;
        if (count == kVectorRows) return count;
      }
    }
    return count;
  }
};

}  // namespace

class GroupAggregation::PartitionReader : public GroupAggregation::Reader {
 public:
  PartitionReader(GroupAggregation& aggregation, int first, int last) : aggregation_(aggregation) {
    for (int p = last - 1; p >= first; --p) waiting_.push_back(std::move(aggregation.partitions_[p]));
  }
  // Of a partition that is on disk as a whole, and stays there.
  PartitionReader(GroupAggregation& aggregation, Partition* spilled) : aggregation_(aggregation) {
    Partition& copy = waiting_.emplace_back();
    copy.spilled = spilled->spilled;
    copy.may_repeat = spilled->may_repeat;
    copy.is_counted = std::exchange(spilled->is_counted, true);
  }

  uint32_t Next(char** rows) override {
    uint32_t count = 0;
    while (true) {
      // Rows of partitions that were merged before are handed out together, small ones in one
      // batch.
      count = cursor_.Collect(current_.rows, rows, count);
      if (count == kVectorRows || waiting_.empty()) return count;
      if (count > 0 && waiting_.back().spilled.row_count != 0) return count;
      if (count == 0) {
        finished_.clear();
        store_.reset();
      }
      finished_.push_back(std::move(current_));
      Begin();
    }
  }

 private:
  // Takes the next partition and merges it if that was left to the reader.
  void Begin() {
    Partition partition = std::move(waiting_.back());
    waiting_.pop_back();
    cursor_ = {};
    current_ = Partition();
    if (partition.spilled.row_count != 0) {
      const size_t share = aggregation_.environment_.budget.budget_bytes() /
                           (2 * static_cast<size_t>(std::max(1, aggregation_.environment_.thread_count)));
      if (partition.estimated_bytes() > share && partition.level < kMaxPartitionLevel &&
          partition.row_count() > kVectorRows) {
        for (Partition& child : aggregation_.SplitPartition(std::move(partition))) {
          waiting_.push_back(std::move(child));
        }
        return;
      }
      store_ = std::make_unique<StateStore>(&aggregation_.environment_.budget);
      aggregation_.MergePartition(&partition, *store_);
    }
    current_ = std::move(partition);
  }

  GroupAggregation& aggregation_;
  std::vector<Partition> waiting_;   // the next one last
  std::vector<Partition> finished_;  // of the batch in hand
  Partition current_;
  std::unique_ptr<StateStore> store_;  // of what this reader merged
  PagesCursor cursor_;
};

class GroupAggregation::KeptReader : public GroupAggregation::Reader {
 public:
  KeptReader(GroupAggregation& aggregation, Partition* next, Partition* end)
      : aggregation_(aggregation), next_(next), end_(end) {}

  uint32_t Next(char** rows) override {
    uint32_t count = 0;
    for (; next_ != end_; ++next_, cursor_ = {}) {
      if (next_->spilled.row_count != 0) {
        if (count > 0) break;
        if (spilled_ == nullptr) spilled_ = std::make_unique<PartitionReader>(aggregation_, next_);
        count = spilled_->Next(rows);
        if (count > 0) break;
        spilled_ = nullptr;
        continue;
      }
      count = cursor_.Collect(next_->rows, rows, count);
      if (count == kVectorRows) break;
    }
    return count;
  }

 private:
  GroupAggregation& aggregation_;
  Partition* next_;
  Partition* const end_;
  PagesCursor cursor_;
  std::unique_ptr<PartitionReader> spilled_;  // of the next one
};

std::unique_ptr<GroupAggregation::Reader> GroupAggregation::OpenKept(int task) {
  Partition* first = &partitions_[task * partitions_per_task_];
  return std::make_unique<KeptReader>(*this, first, first + partitions_per_task_);
}

std::unique_ptr<GroupAggregation::Reader> GroupAggregation::Open(int task) {
  return std::make_unique<PartitionReader>(*this, task * partitions_per_task_, (task + 1) * partitions_per_task_);
}

}  // namespace penumbra

// Rows are kept as they come, and grouped by the partition keys. When all have come the aggregates of each group are
// made, once, and readers look up each row's group.
#include "window/whole_partitions.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "aggregate/hash_aggregation_groups.h"
#include "row/row_layout.h"
#include "row/row_pages.h"
#include "window/window_input.h"

namespace penumbra {
namespace {

// A table of more groups than this lies beyond the caches.
constexpr uint64_t kPrefetchGroups = uint64_t{4} << 10;

std::vector<PenumbraType> ResultTypes(const WindowSpec& spec) {
  std::vector<PenumbraType> types;
  for (const WindowFunctionSpec& function : spec.functions) types.push_back(function.result);
  return types;
}

class WholePartitions : public Sink {
 public:
  WholePartitions(const WindowSpec& spec, ExecutionEnvironment& environment, std::unique_ptr<Sink> sorted)
      : environment_(environment),
        input_(spec),
        layout_(input_.sort().column_types),
        value_layout_(ResultTypes(spec)),
        groups_(input_.partition_types(), environment),
        sorted_(std::move(sorted)) {
    for (const WindowFunctionSpec& function : input_.spec().functions) {
      const AggregateSpec& aggregate = function.aggregate;
      groups_.layout().AddAccumulator(ChooseAccumulator(aggregate)(aggregate));
    }
  }

  std::unique_ptr<Local> CreateLocal() override { return std::make_unique<PartitionsLocal>(*this); }
  void Consume(Local& local, const Batch& batch, EvalContext& context) override;
  void Combine(Local& local) override;
  int PrepareFinish() override;
  void RunFinishTask(int task) override;
  int Seal() override;
  bool is_ordered() const override { return false; }
  std::unique_ptr<Reader> OpenPartition(int partition) override;
  SinkStats stats() const override {
    return is_sorted_ ? sorted_->stats() : SinkStats{.groups = groups_.group_count()};
  }

 private:
  // Kept rows.
  struct Part {
    std::unique_ptr<Arena> memory;
    RowPages rows;
  };
  struct PartitionsLocal : Local {
    explicit PartitionsLocal(WholePartitions& of) : groups(of.groups_.CreateLocal()), kept(of.NewPart()) {}
    std::unique_ptr<GroupAggregation::Local> groups;
    Part kept;
    std::unique_ptr<Local> sorted;  // of sorted_, once it gets the rows
    std::vector<Vector> columns;
    std::vector<Vector> keys;
  };
  // The groups of one task, and their values.
  struct Groups {
    explicit Groups(ExecutionEnvironment& environment) : memory(&environment.budget), directory(&environment.budget) {}
    Arena memory;
    GroupDirectory directory;
  };
  class PageReader;

  Part NewPart() const {
    auto memory = std::make_unique<Arena>(&environment_.budget);
    // Rows without columns are counted by their places.
    RowPages rows(memory.get(), std::max<uint32_t>(layout_.row_bytes(), 8));
    return {std::move(memory), std::move(rows)};
  }
  void AddToGroups(PartitionsLocal& local, uint32_t rows, EvalContext& context);
  void SortRows(PartitionsLocal& local);
  void MakeValues(int task);
  // A row of value_layout_ for each row.
  void FindValues(char* const* rows, uint32_t count, Arena& arena, char** values) const;
  uint32_t states_offset() const { return groups_.layout().keys.image_bytes(); }

  ExecutionEnvironment& environment_;
  const WindowInput input_;
  const RowLayout layout_;
  const RowLayout value_layout_;
  GroupAggregation groups_;
  const std::unique_ptr<Sink> sorted_;
  std::atomic<bool> is_sorted_{false};
  std::mutex mutex_;  // guards parts_ during Combine
  std::vector<Part> parts_;
  enum class Round : uint8_t { kRows, kMerge, kValues, kReplay, kSorted };
  Round round_ = Round::kRows;
  std::vector<std::unique_ptr<Groups>> group_tables_;  // by task of groups_
  std::vector<std::pair<const Part*, size_t>> pages_;  // by partition of the result
};

void WholePartitions::Consume(Local& local, const Batch& batch, EvalContext& context) {
  PartitionsLocal& own = static_cast<PartitionsLocal&>(local);
  if (batch.rows == 0) return;
  if (!is_sorted_) {
    input_.Extend(batch, context, &own.columns);
    for (Vector& column : own.columns) column = Flatten(column, batch.rows, context.arena);
    char* rows[kVectorRows];
    for (uint32_t i = 0; i < batch.rows; ++i) rows[i] = own.kept.rows.Add();
    layout_.Write(own.columns.data(), {nullptr, batch.rows}, rows, *own.kept.memory);
    if (!ShouldSpill(environment_.budget, own.kept.memory->bytes())) return AddToGroups(own, batch.rows, context);
    is_sorted_ = true;
    return SortRows(own);
  }
  SortRows(own);
  sorted_->Consume(*own.sorted, batch, context);
}

void WholePartitions::AddToGroups(PartitionsLocal& local, uint32_t rows, EvalContext& context) {
  const Vector kNoArgument{};
  std::vector<StateUpdate> updates;
  const auto& functions = input_.spec().functions;
  for (size_t f = 0; f < functions.size(); ++f) {
    const AggregateSpec& aggregate = functions[f].aggregate;
    const Vector* argument =
        aggregate.arguments.empty() ? &kNoArgument : &local.columns[input_.ColumnOf(*aggregate.arguments[0])];
    RowSelection selection{nullptr, rows};
    if (aggregate.filter != nullptr) {
      const Vector& filter = local.columns[input_.ColumnOf(*aggregate.filter)];
      uint16_t* passed = context.arena.AllocateArray<uint16_t>(rows);
      selection = {passed, 0};
      for (uint32_t i = 0; i < rows; ++i) {
        passed[selection.count] = static_cast<uint16_t>(i);
        selection.count += filter.IsValid(i) && filter.values<uint8_t>()[i] != 0;
      }
    }
    updates.push_back({static_cast<int>(f), argument, selection});
  }
  local.keys.clear();
  for (const Expr* key : input_.spec().partition_keys) local.keys.push_back(local.columns[input_.ColumnOf(*key)]);
  groups_.Consume(*local.groups, local.keys.data(), rows, updates, context.arena);
}

// Hands over the rows that were kept.
void WholePartitions::SortRows(PartitionsLocal& local) {
  if (local.sorted == nullptr) local.sorted = sorted_->CreateLocal();
  if (local.kept.rows.row_count() == 0) return;
  local.groups = nullptr;
  Arena arena;
  EvalContext context = environment_.MakeContext(arena);
  RowPages::Cursor cursor;
  char* rows[kVectorRows];
  while (true) {
    uint32_t count = 0;
    while (count < kVectorRows && (rows[count] = cursor.Next(local.kept.rows)) != nullptr) ++count;
    if (count == 0) break;
    environment_.CheckCancelled();
    arena.Reset();
    std::vector<Vector> columns;
    for (size_t c = 0; c < input_.spec().column_types.size(); ++c) {
      columns.push_back(layout_.Read(static_cast<int>(c), rows, count, arena));
    }
    sorted_->Consume(*local.sorted, {count, static_cast<uint32_t>(columns.size()), columns.data()}, context);
  }
  local.kept = NewPart();
}

// Rows that are combined before another thread finds no memory are handed over in a round of their own.
void WholePartitions::Combine(Local& local) {
  PartitionsLocal& own = static_cast<PartitionsLocal&>(local);
  if (is_sorted_) {
    SortRows(own);
    return sorted_->Combine(*own.sorted);
  }
  groups_.Combine(*own.groups);
  std::lock_guard<std::mutex> lock(mutex_);
  parts_.push_back(std::move(own.kept));
}

int WholePartitions::PrepareFinish() {
  switch (round_) {
    case Round::kRows:
      if (groups_.spilled_bytes() > 0) is_sorted_ = true;
      if (!is_sorted_) {
        round_ = Round::kMerge;
        return groups_.PrepareMerge();
      }
      round_ = Round::kReplay;
      if (!parts_.empty()) return static_cast<int>(parts_.size());
      [[fallthrough]];
    case Round::kReplay:
      parts_.clear();
      round_ = Round::kSorted;
      [[fallthrough]];
    case Round::kSorted: return sorted_->PrepareFinish();
    case Round::kMerge:
      round_ = Round::kValues;
      for (int task = 0; task < groups_.PartitionCount(); ++task) {
        group_tables_.push_back(std::make_unique<Groups>(environment_));
      }
      return groups_.PartitionCount();
    case Round::kValues: break;
  }
  return 0;
}

void WholePartitions::RunFinishTask(int task) {
  switch (round_) {
    case Round::kMerge: return groups_.RunMergeTask(task);
    case Round::kValues: return MakeValues(task);
    case Round::kReplay: {
      PartitionsLocal local(*this);
      local.kept = std::move(parts_[static_cast<size_t>(task)]);
      SortRows(local);
      return sorted_->Combine(*local.sorted);
    }
    default: return sorted_->RunFinishTask(task);
  }
}

// A pointer to a group's values takes the place of its states.
void WholePartitions::MakeValues(int task) {
  Groups& groups = *group_tables_[static_cast<size_t>(task)];
  groups.directory.Reset(kVectorRows);
  const GroupLayout& layout = groups_.layout();
  const auto& functions = input_.spec().functions;
  const std::unique_ptr<GroupAggregation::Reader> reader = groups_.Open(task);
  char* rows[kVectorRows];
  char* values[kVectorRows];
  Arena arena;
  while (const uint32_t count = reader->Next(rows)) {
    environment_.CheckCancelled();
    arena.Reset();
    std::vector<Vector> columns;
    for (size_t f = 0; f < functions.size(); ++f) {
      const AccumulatorSlot& slot = layout.accumulators[f];
      const AggregateResult result = ResultOf(functions[f].aggregate, environment_);
      columns.push_back(Flatten(slot.accumulator->Finalize(result, rows, slot.offset, count, arena), count, arena));
    }
    const size_t bytes = size_t{count} * value_layout_.row_bytes();
    char* memory = static_cast<char*>(groups.memory.Allocate(bytes));
    std::memset(memory, 0, bytes);
    for (uint32_t i = 0; i < count; ++i) values[i] = memory + size_t{i} * value_layout_.row_bytes();
    value_layout_.Write(columns.data(), {nullptr, count}, values, groups.memory);
    for (uint32_t i = 0; i < count; ++i) {
      std::memcpy(rows[i] + states_offset(), &values[i], sizeof(char*));
      if (groups.directory.row_count() >= groups.directory.capacity_rows()) groups.directory.Grow();
      groups.directory.FindOrInsert(layout.keys, rows[i], [&] { return rows[i]; });
    }
  }
}

void WholePartitions::FindValues(char* const* rows, uint32_t count, Arena& arena, char** values) const {
  const KeyLayout& layout = groups_.layout().keys;
  std::vector<Vector> keys;
  for (const Expr* key : input_.spec().partition_keys) {
    keys.push_back(layout_.Read(input_.ColumnOf(*key), rows, count, arena));
  }
  const size_t stride = layout.image_bytes();
  char* images = arena.AllocateArray<char>(count * stride);
  layout.BuildImages(keys.data(), {nullptr, count}, arena, images);
  const auto directory_of = [&](uint64_t hash) -> GroupDirectory& {
    return group_tables_[group_tables_.size() == 1 ? 0 : PartitionOf(hash, 0)]->directory;
  };
  if (groups_.group_count() > kPrefetchGroups) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t hash = KeyLayout::Hash(images + i * stride);
      directory_of(hash).Prefetch(hash);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t hash = KeyLayout::Hash(images + i * stride);
      directory_of(hash).PrefetchRow(hash);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* image = images + i * stride;
    const char* group = directory_of(KeyLayout::Hash(image)).FindOrInsert(layout, image, []() -> char* {
      throw EngineError(PENUMBRA_INTERNAL, "a row without a partition");
    });
    std::memcpy(&values[i], group + states_offset(), sizeof(char*));
    __builtin_prefetch(values[i]);
  }
}

class WholePartitions::PageReader : public Sink::Reader {
 public:
  PageReader(const WholePartitions& of, const RowPages& rows, size_t page)
      : of_(of), rows_(rows), next_(rows.page(page)), left_(rows.page_rows(page)) {}

  bool Next(Batch* batch) override {
    if (left_ == 0) return false;
    of_.environment_.CheckCancelled();
    arena_.Reset();
    columns_.clear();
    char* rows[kVectorRows];
    char* values[kVectorRows];
    const uint32_t count = std::min<uint32_t>(left_, kVectorRows);
    for (uint32_t i = 0; i < count; ++i, next_ += rows_.row_bytes()) rows[i] = next_;
    left_ -= count;
    of_.FindValues(rows, count, arena_, values);
    of_.input_.ReadPassed(of_.layout_, rows, count, arena_, &columns_);
    for (int f = 0; f < of_.value_layout_.column_count(); ++f) {
      columns_.push_back(of_.value_layout_.Read(f, values, count, arena_));
    }
    *batch = {count, static_cast<uint32_t>(columns_.size()), columns_.data()};
    return true;
  }

 private:
  const WholePartitions& of_;
  const RowPages& rows_;
  char* next_;
  uint32_t left_;
  Arena arena_;
  std::vector<Vector> columns_;
};

int WholePartitions::Seal() {
  if (is_sorted_) return sorted_->Seal();
  for (const Part& part : parts_) {
    for (size_t page = 0; page < part.rows.page_count(); ++page) pages_.emplace_back(&part, page);
  }
  return static_cast<int>(pages_.size());
}

std::unique_ptr<Sink::Reader> WholePartitions::OpenPartition(int partition) {
  if (is_sorted_) return sorted_->OpenPartition(partition);
  const auto& [part, page] = pages_[static_cast<size_t>(partition)];
  return std::make_unique<PageReader>(*this, part->rows, page);
}

}  // namespace

bool IsOfWholePartitions(const WindowSpec& spec) {
  return spec.order_keys.empty() && !spec.functions.empty() &&
         std::all_of(spec.functions.begin(), spec.functions.end(), [](const WindowFunctionSpec& function) {
           // Without an order all rows are peers.
           const bool is_whole = function.mode == PENUMBRA_FRAME_ROWS
                                     ? function.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING &&
                                           function.end.kind == PENUMBRA_FRAME_UNBOUNDED_FOLLOWING
                                     : !HasOffset(function.start) && !HasOffset(function.end);
           return function.function == PENUMBRA_WINDOW_AGGREGATE && is_whole &&
                  function.exclusion == PENUMBRA_EXCLUDE_NO_OTHERS && function.aggregate.arguments.size() <= 1;
         });
}

std::unique_ptr<Sink> CreateWholePartitions(const WindowSpec& spec, ExecutionEnvironment& environment,
                                            std::unique_ptr<Sink> sorted) {
  return std::make_unique<WholePartitions>(spec, environment, std::move(sorted));
}

}  // namespace penumbra

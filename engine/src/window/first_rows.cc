#include "window/first_rows.h"

#include <algorithm>

namespace penumbra {
namespace {

constexpr uint32_t kFirstCapacity = 4;
// So many rows are kept in order: finding the place of one costs no more than cutting twice as many does.
constexpr int64_t kOrderedRowsMax = 16;
// A thread judges twice: whether nearly each row has a partition of its own, and whether its partitions will have about
// as many rows as it has seen.
constexpr uint64_t kFirstJudgedRows = uint64_t{1} << 16;
constexpr uint64_t kLastJudgedRows = uint64_t{1} << 18;
constexpr size_t kCompactBytesMin = size_t{4} << 20;

std::vector<int> ColumnsOf(const WindowInput& input, const std::vector<const Expr*>& exprs) {
  std::vector<int> columns;
  for (const Expr* expr : exprs) columns.push_back(input.ColumnOf(*expr));
  return columns;
}

std::vector<const Expr*> OrderExprs(const WindowSpec& spec) {
  std::vector<const Expr*> exprs;
  for (const SortKeySpec& key : spec.order_keys) exprs.push_back(key.expr);
  return exprs;
}

}  // namespace

FirstRows::FirstRows(const WindowInput& input, const SortInput& rows, ExecutionEnvironment& environment)
    : limit_(input.spec().limit),
      partition_columns_(ColumnsOf(input, input.spec().partition_keys)),
      order_columns_(ColumnsOf(input, OrderExprs(input.spec()))),
      rows_(rows),
      order_(input.spec().order_keys, order_columns_, rows.layout(), false),
      keeps_order_(limit_.rank == PENUMBRA_WINDOW_ROW_NUMBER && limit_.count <= kOrderedRowsMax),
      environment_(environment),
      layout_(input.partition_types()) {
  layout_.row_bytes += sizeof(Partition);
}

FirstRows::Local::Local(const FirstRows& of)
    : of_(of),
      partitions_(std::make_unique<LocalGroups>(of.layout_, of.environment_)),
      arena_(std::make_unique<Arena>(&of.environment_.budget)),
      compact_bytes_(kCompactBytesMin),
      judged_rows_(kFirstJudgedRows),
      prefixes_(kVectorRows) {}

FirstRows::Partition& FirstRows::Local::PartitionAt(char* group) const {
  return *reinterpret_cast<Partition*>(group + of_.layout_.keys.image_bytes());
}

bool FirstRows::Local::ShouldSpill() const {
  return partitions_->ShouldSpill() || penumbra::ShouldSpill(of_.environment_.budget, arena_->bytes());
}

bool FirstRows::Local::IsUseless() {
  if (seen_rows_ < judged_rows_) return false;
  uint64_t partitions = 0;
  for (int p = 0; p < kPartitions; ++p) partitions += partitions_->rows(p).row_count();
  const bool is_last = judged_rows_ == kLastJudgedRows;
  judged_rows_ = is_last ? UINT64_MAX : kLastJudgedRows;
  if (partitions > seen_rows_ / 10 * 9) return true;
  return is_last && partitions > seen_rows_ / 2 / static_cast<uint64_t>(of_.limit_.count);
}

// Keys first: of rows that are beyond their partition's bound nothing else is looked at.
void FirstRows::Local::Add(const Batch& batch, EvalContext& context) {
  std::vector<Vector> keys;
  for (int column : of_.partition_columns_) keys.push_back(batch.columns[column]);
  partitions_->FindOrInsertByTable(keys.data(), batch.rows, context.arena, groups_);
  keys.clear();
  for (int column : of_.order_columns_) keys.push_back(Flatten(batch.columns[column], batch.rows, context.arena));
  of_.order_.Encode(keys.data(), {nullptr, batch.rows}, prefixes_.data());
  // Of equal rows no row number more is wanted.
  const bool keeps_equals = of_.limit_.rank != PENUMBRA_WINDOW_ROW_NUMBER || !of_.order_.HasExactPrefix();
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch.rows; ++i) {
    const Partition& partition = PartitionAt(groups_[i]);
    const SortPrefix& bound = partition.bound.prefix;
    const bool is_beyond = partition.is_bounded != 0 && (keeps_equals ? bound < prefixes_[i] : !(prefixes_[i] < bound));
    selected_[count] = static_cast<uint16_t>(i);
    count += !is_beyond;
  }
  seen_rows_ += batch.rows;
  if (count == 0) return;
  columns_.assign(batch.columns, batch.columns + batch.column_count);
  if (count < batch.rows) {
    for (Vector& column : columns_) column = Gather(column, selected_, count, context.arena);
  }
  for (Vector& column : columns_) column = Flatten(column, count, context.arena);
  for (uint32_t i = 0; i < count; ++i) rows_[i] = NewRow();
  of_.rows_.layout().Write(columns_.data(), {nullptr, count}, rows_, *arena_);
  for (uint32_t i = 0; i < count; ++i) {
    Insert(PartitionAt(groups_[selected_[i]]), {prefixes_[selected_[i]], rows_[i]});
  }
  if (arena_->bytes() > compact_bytes_) Compact();
}

char* FirstRows::Local::NewRow() {
  const uint32_t bytes = of_.rows_.layout().row_bytes();
  char* row;
  if (free_rows_.empty()) {
    row = static_cast<char*>(arena_->Allocate(bytes));
    ++stored_rows_;
  } else {
    row = free_rows_.back();
    free_rows_.pop_back();
  }
  std::memset(row, 0, bytes);
  return row;
}

void FirstRows::Local::Insert(Partition& partition, const SortEntry& entry) {
  if (partition.capacity == 0) {
    partition.entries = &partition.first;
    partition.capacity = 1;
  }
  if (of_.keeps_order_) return InsertSorted(partition, entry);
  if (partition.is_bounded != 0 && IsLess(of_.order_, partition.bound, entry)) return;
  if (partition.count == partition.capacity) {
    Cut(partition);
    if (2 * partition.count > partition.capacity) Grow(partition, std::max(2 * partition.capacity, kFirstCapacity));
  }
  partition.entries[partition.count++] = entry;
}

// Of equal rows no further one is wanted.
void FirstRows::Local::InsertSorted(Partition& partition, const SortEntry& entry) {
  const auto wanted = static_cast<uint32_t>(of_.limit_.count);
  if (partition.count == wanted) {
    SortEntry& last = partition.entries[wanted - 1];
    const bool is_beyond = !IsLess(of_.order_, entry, last);
    free_rows_.push_back(is_beyond ? entry.row : last.row);
    if (is_beyond) return;
    --partition.count;
  } else if (partition.count == partition.capacity) {
    Grow(partition, std::min(wanted, std::max(2 * partition.capacity, kFirstCapacity)));
  }
  uint32_t place = partition.count++;
  for (; place > 0 && IsLess(of_.order_, entry, partition.entries[place - 1]); --place) {
    partition.entries[place] = partition.entries[place - 1];
  }
  partition.entries[place] = entry;
  if (partition.count < wanted) return;
  partition.bound = partition.entries[wanted - 1];
  partition.is_bounded = 1;
}

void FirstRows::Local::Grow(Partition& partition, uint32_t capacity) {
  SortEntry* entries = arena_->AllocateArray<SortEntry>(capacity);
  std::copy_n(partition.entries, partition.count, entries);
  partition.entries = entries;
  partition.capacity = capacity;
}

// Drops the rows that are not wanted.
void FirstRows::Local::Cut(Partition& partition) {
  if (of_.keeps_order_) return;
  const SortOrder order(of_.order_, of_.environment_);
  SortEntry* begin = partition.entries;
  SortEntry* end = begin + partition.count;
  const auto wanted = static_cast<uint32_t>(of_.limit_.count);
  uint32_t kept = 0;
  if (of_.limit_.rank == PENUMBRA_WINDOW_DENSE_RANK) {
    kept = CutDense(partition);
    if (kept == 0) return;
  } else {
    if (partition.count < wanted) return;
    SortEntry* last = begin + wanted - 1;
    std::nth_element(begin, last, end, order);
    partition.bound = *last;
    kept = wanted;
    if (of_.limit_.rank == PENUMBRA_WINDOW_RANK) {
      const auto is_peer = [&](const SortEntry& entry) { return !IsLess(of_.order_, *last, entry); };
      kept = static_cast<uint32_t>(std::partition(last + 1, end, is_peer) - begin);
    }
  }
  partition.is_bounded = 1;
  partition.count = kept;
}

// How many rows have one of the first keys; 0: there are fewer keys than wanted.
uint32_t FirstRows::Local::CutDense(Partition& partition) {
  SortEntry* entries = partition.entries;
  std::sort(entries, entries + partition.count, SortOrder(of_.order_, of_.environment_));
  int64_t rank = 0;
  for (uint32_t i = 0; i < partition.count; ++i) {
    if (i > 0 && !IsLess(of_.order_, entries[i - 1], entries[i])) continue;
    if (rank++ < of_.limit_.count) continue;
    partition.bound = entries[i - 1];
    return i;
  }
  if (rank < of_.limit_.count) return 0;
  partition.bound = entries[partition.count - 1];
  return partition.count;
}

// Frees the dropped rows if they are the greater part.
void FirstRows::Local::Compact() {
  uint64_t rows = 0;
  const auto for_each = [&](const auto& visit) {
    for (int p = 0; p < kPartitions; ++p) {
      partitions_->rows(p).ForEach(of_.environment_, [&](char* group) { visit(PartitionAt(group)); });
    }
  };
  for_each([&](Partition& partition) {
    Cut(partition);
    rows += partition.count;
  });
  if (rows < stored_rows_ / 2) {
    auto arena = std::make_unique<Arena>(&of_.environment_.budget);
    for_each([&](Partition& partition) {
      SortEntry* entries = arena->AllocateArray<SortEntry>(partition.capacity);
      for (uint32_t i = 0; i < partition.count; ++i) {
        entries[i] = {partition.entries[i].prefix, of_.rows_.layout().Copy(partition.entries[i].row, *arena)};
      }
      partition.entries = entries;
      if (partition.is_bounded != 0) partition.bound.row = of_.rows_.layout().Copy(partition.bound.row, *arena);
    });
    arena_ = std::move(arena);
    free_rows_.clear();
    stored_rows_ = rows;
  }
  compact_bytes_ = 2 * std::max(arena_->bytes(), kCompactBytesMin / 2);
}

}  // namespace penumbra

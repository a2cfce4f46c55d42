#include "aggregate/hash_aggregation_local.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penumbra {
namespace {

constexpr uint64_t kFirstDirectoryRows = 512;
// The most groups of a directory whose rows hardly repeat: 256 K slots of 8 bytes, and rows of some
// 60 bytes each.
constexpr uint64_t kCachedDirectoryRows = uint64_t{128} << 10;
// And where they do: two cache misses per row, which prefetching hides, are less than a row more to
// write and to merge.
constexpr uint64_t kMaxDirectoryRows = uint64_t{1} << 20;
constexpr size_t kDirectoryRowBytes = 16;  // two slots
// Of the memory budget, at most, for such a directory.
constexpr size_t kDirectoryShare = 4;
// Past this size the directory no longer lies in the L1 and L2 caches, and prefetching pays.
constexpr uint64_t kPrefetchRows = uint64_t{4} << 10;
// More new groups than this share of the rows: looking for equals is not worth it.
constexpr double kMostlyNew = 0.8;
constexpr uint64_t kUnprobedDirectories = 8;
constexpr size_t kFirstBlockBytes = size_t{16} << 10;
constexpr size_t kMaxBlockBytes = size_t{2} << 20;
// Less than this is not worth spilling: another operator holds the memory.
constexpr size_t kMinSpillBytes = size_t{128} << 10;

}  // namespace

LocalGroups::LocalGroups(const GroupLayout& layout, ExecutionEnvironment& environment)
    : layout_(layout),
      environment_(environment),
      store_(std::make_unique<StateStore>(&environment.budget)),
      directory_(&environment.budget),
      table_(layout.has_states(), environment),
      images_(size_t{kVectorRows} * layout.keys.image_bytes()) {
  spilled_.resize(kPartitions);
  StartRows();
  directory_.Reset(kFirstDirectoryRows);
}

void LocalGroups::StartRows() {
  rows_.clear();
  row_memory_ = std::make_unique<Arena>(&environment_.budget, kFirstBlockBytes, kMaxBlockBytes);
  for (int i = 0; i < kPartitions; ++i) rows_.emplace_back(row_memory_.get(), layout_.row_bytes);
}

inline char* LocalGroups::NewRow(const char* image) {
  char* row = rows_[PartitionOf(KeyLayout::Hash(image), 0)].Add();
  std::memcpy(row, image, layout_.keys.image_bytes());
  if (layout_.keys.has_strings()) OwnStrings(row);
  return row;
}

void LocalGroups::OwnStrings(char* row) {
  uint64_t sharing = sharing_slots_;
  for (uint32_t i = 0; i < layout_.keys.string_count(); ++i, sharing >>= 1) {
    char* slot = KeyLayout::StringSlot(row, i);
    const StringRef ref = StringAt(slot);
    const uint32_t tail = layout_.keys.TailBytes(row, i);
    if ((sharing & 1) == 0 || ref.is_inline() || tail != 0) {
      OwnString(slot, store_->arena(), tail);
      continue;
    }
    uint64_t end;
    std::memcpy(&end, ref.pointer + ref.length - 8, 8);
    StringRef& shared = shared_[((end + ref.length) * 0x9e3779b97f4a7c15) >> (64 - std::bit_width(kSharedStrings - 1))];
    if (shared == ref) {
      std::memcpy(slot, &shared, sizeof(shared));
    } else {
      OwnString(slot, store_->arena());
      shared = StringAt(slot);
    }
  }
}

void LocalGroups::MakeRoom() {
  const bool mostly_new = static_cast<double>(directory_.row_count()) > kMostlyNew * static_cast<double>(probed_rows_);
  const uint64_t capacity = directory_.capacity_rows();
  const size_t budget_bytes = environment_.budget.budget_bytes() / kDirectoryShare /
                              static_cast<size_t>(std::max(1, environment_.thread_count));
  const bool may_grow =
      !mostly_new && capacity < kMaxDirectoryRows && 2 * capacity * kDirectoryRowBytes <= budget_bytes;
  // Every row is read again, so a small directory grows in few steps.
  if (capacity < kCachedDirectoryRows || may_grow) {
    directory_.Grow(4 * capacity <= kCachedDirectoryRows ? 4 : 2);
    return;
  }
  if (mostly_new) unprobed_rows_left_ = kUnprobedDirectories * kCachedDirectoryRows;
  directory_.Reset(kCachedDirectoryRows);
  probed_rows_ = 0;
  may_repeat_ = true;
}

void LocalGroups::FindOrInsertByTable(const Vector* keys, uint32_t rows, Arena& arena, char** groups) {
  if (!table_.Encode(keys, layout_.keys.count(), rows)) return FindOrInsert(keys, {nullptr, rows}, arena, groups);
  new_rows_.clear();
  table_.FindNew(rows, &new_rows_);
  if (!new_rows_.empty()) {
    FindOrInsert(keys, {new_rows_.data(), static_cast<uint32_t>(new_rows_.size())}, arena, groups);
    table_.Enter(new_rows_, groups);
  }
  if (layout_.has_states()) table_.Lookup(rows, groups);
}

void LocalGroups::FindOrInsert(const Vector* keys, RowSelection selection, Arena& arena, char** groups) {
  const char* images = images_.data();
  const uint32_t count = selection.count;
  const size_t stride = layout_.keys.image_bytes();
  layout_.keys.BuildImages(keys, selection, arena, images_.data());
  sharing_slots_ = layout_.keys.SlotsOfFewStrings(keys);
  if (unprobed_rows_left_ > 0) {
    unprobed_rows_left_ -= std::min<uint64_t>(unprobed_rows_left_, count);
    for (uint32_t i = 0; i < count; ++i) groups[i] = NewRow(images + i * stride);
    return;
  }
  if (directory_.row_count() > kPrefetchRows) {
    for (uint32_t i = 0; i < count; ++i) directory_.Prefetch(KeyLayout::Hash(images + i * stride));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* image = images + i * stride;
    if (directory_.row_count() >= directory_.capacity_rows()) MakeRoom();
    groups[i] = directory_.FindOrInsert(layout_.keys, image, [&] { return NewRow(image); });
  }
  probed_rows_ += count;
}

bool LocalGroups::ShouldSpill() const {
  if (!environment_.budget.IsExceeded()) return false;
  const size_t bytes = store_->bytes() + row_memory_->bytes();
  return bytes >= std::min(kMinSpillBytes, environment_.budget.budget_bytes() / 4);
}

void LocalGroups::Spill() {
  if (file_ == nullptr) file_ = std::make_shared<SpillFile>(environment_.spill_space);
  for (int p = 0; p < kPartitions; ++p) {
    if (rows_[p].row_count() == 0) continue;
    RowSpiller spiller(layout_, file_, environment_);
    rows_[p].ForEach(environment_, [&](const char* row) { spiller.Add(row); });
    spilled_[p].Take(spiller.Finish());
  }
  StartRows();
  store_ = std::make_unique<StateStore>(&environment_.budget);
  std::fill_n(shared_, kSharedStrings, StringRef());
  directory_.Reset(kFirstDirectoryRows);
  table_.Forget();
  probed_rows_ = 0;
  may_repeat_ = true;
}

}  // namespace penumbra

#include "hash_aggregation_rows.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace penumbra {
namespace {
constexpr size_t kFirstPageBytes = 512;
constexpr size_t kMaxPageBytes = size_t{64} << 10;
constexpr uint64_t kMinSlots = 64;
}  // namespace

void GroupRows::AddPage() {
  size_t wanted = pages_.empty() ? kFirstPageBytes : std::min(2 * pages_.back().bytes, kMaxPageBytes);
  size_t bytes = std::max<size_t>(wanted / row_bytes_, 1) * row_bytes_;
  budget_->Add(bytes);
  char* memory = static_cast<char*>(std::calloc(1, bytes));
  if (memory == nullptr) {
    budget_->Subtract(bytes);
    throw EngineError(PENUMBRA_OUT_OF_MEMORY);
  }
  pages_.push_back({memory, bytes});
  bytes_ += bytes;
  cursor_ = memory;
  end_ = memory + bytes;
}

void GroupRows::Clear() {
  for (const Page& page : pages_) std::free(page.memory);
  budget_->Subtract(bytes_);
  pages_.clear();
  Forget();
}

void GroupDirectory::Allocate(uint64_t slots) {
  budget_->Add(slots * 8);
  void* memory = std::calloc(slots, 8);
  if (memory == nullptr) {
    budget_->Subtract(slots * 8);
    throw EngineError(PENUMBRA_OUT_OF_MEMORY);
  }
  slots_ = static_cast<uint64_t*>(memory);
  slot_count_ = slots;
  mask_ = slots - 1;
}

void GroupDirectory::Free() {
  if (slots_ == nullptr) return;
  std::free(slots_);
  budget_->Subtract(slot_count_ * 8);
  slots_ = nullptr;
  slot_count_ = 0;
  row_count_ = 0;
}

void GroupDirectory::Reset(uint64_t rows) {
  const uint64_t slots = std::max(kMinSlots, std::bit_ceil(2 * rows));
  if (slots == slot_count_) {
    std::memset(slots_, 0, slots * 8);
  } else {
    Free();
    Allocate(slots);
  }
  row_count_ = 0;
}

void GroupDirectory::Grow() {
  uint64_t* old_slots = slots_;
  const uint64_t old_count = slot_count_;
  Allocate(2 * old_count);
  for (uint64_t i = 0; i < old_count; ++i) {
    if (old_slots[i] == 0) continue;
    uint64_t at = GroupKeys::Hash(RowOf(old_slots[i])) & mask_;
    while (slots_[at] != 0) at = (at + 1) & mask_;
    slots_[at] = old_slots[i];
  }
  std::free(old_slots);
  budget_->Subtract(old_count * 8);
}

}  // namespace penumbra

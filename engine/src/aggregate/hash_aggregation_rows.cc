#include "aggregate/hash_aggregation_rows.h"

#include <algorithm>
#include <bit>

namespace penumbra {
namespace {
constexpr uint64_t kMinSlots = 64;
}  // namespace

void GroupDirectory::Allocate(uint64_t slots) {
  auto memory = std::make_unique<Arena>(budget_, slots * 8);
  slots_ = memory->AllocateArray<uint64_t>(slots);
  std::memset(slots_, 0, slots * 8);
  memory_ = std::move(memory);
  slot_count_ = slots;
  mask_ = slots - 1;
}

void GroupDirectory::Reset(uint64_t rows) {
  const uint64_t slots = std::max(kMinSlots, std::bit_ceil(2 * rows));
  if (slots == slot_count_) {
    std::memset(slots_, 0, slots * 8);
  } else {
    memory_.reset();
    slot_count_ = 0;
    Allocate(slots);
  }
  row_count_ = 0;
}

void GroupDirectory::Grow(int factor) {
  const std::unique_ptr<Arena> old_memory = std::move(memory_);
  const uint64_t* old_slots = slots_;
  const uint64_t old_count = slot_count_;
  Allocate(static_cast<uint64_t>(factor) * old_count);
  for (uint64_t i = 0; i < old_count; ++i) {
    if (old_slots[i] == 0) continue;
    uint64_t at = PlaceOf(KeyLayout::Hash(RowOf(old_slots[i])));
    while (slots_[at] != 0) at = (at + 1) & mask_;
    slots_[at] = old_slots[i];
  }
}

}  // namespace penumbra

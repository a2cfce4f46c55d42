// Groups as rows: the keys' image (key_layout.h), then the aggregates' states. Rows live in pages,
// (row/row_pages.h) by radix partition of the hash; the directories of hash tables point at them.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/aggregate_accumulator.h"
#include "row/row_format.h"
#include "row/row_pages.h"
#include "vector/arena.h"

namespace penumbra {

// The hash: bits 48..63 are the salt in directories, 42..47 the partition, each six below the
// partition of the next level of spilling, those from 8 on the place in a directory.
constexpr int kPartitionBits = 6;
constexpr int kPartitions = 1 << kPartitionBits;
constexpr int kMaxPartitionLevel = 3;
inline uint32_t PartitionOf(uint64_t hash, int level) {
  return (hash >> (42 - kPartitionBits * level)) & (kPartitions - 1);
}

struct AccumulatorSlot {
  std::shared_ptr<const Accumulator> accumulator;
  uint32_t offset;  // in the row
};

struct GroupLayout {
  explicit GroupLayout(const std::vector<PenumbraType>& key_types) : keys(key_types), row_bytes(keys.image_bytes()) {}
  int AddAccumulator(std::shared_ptr<const Accumulator> accumulator) {
    uint32_t offset = row_bytes;
    row_bytes += accumulator->state_bytes();
    has_variable_part |= accumulator->has_variable_part();
    accumulators.push_back({std::move(accumulator), offset});
    return static_cast<int>(accumulators.size()) - 1;
  }

  bool has_states() const { return row_bytes > keys.image_bytes(); }
  // Without what states point to.
  RowFormat format() const { return {&keys, nullptr, 0, row_bytes}; }

  KeyLayout keys;
  std::vector<AccumulatorSlot> accumulators;
  uint32_t row_bytes;
  bool has_variable_part = false;
};

// What is added to the states of one accumulator: Accumulator::AddRun().
struct StateUpdate {
  int accumulator;  // in the layout
  const Vector* arguments;
  RowSelection selection;
};

// Adds row i to the states of groups[i].
inline void AddScattered(const GroupLayout& layout, char* const* groups, const std::vector<StateUpdate>& updates,
                         StateStore& store) {
  for (const StateUpdate& update : updates) {
    const AccumulatorSlot& slot = layout.accumulators[update.accumulator];
    slot.accumulator->AddScattered(groups, slot.offset, update.arguments, update.selection, store);
  }
}

// An open-addressed table of pointers to rows with 16 bits of their hash.
class GroupDirectory {
 public:
  explicit GroupDirectory(MemoryBudget* budget) : budget_(budget) {}

  // Empty, with room for that many rows.
  void Reset(uint64_t rows);
  void Grow(int factor = 2);  // to so many times the room, a power of two, keeping the rows
  uint64_t capacity_rows() const { return slot_count_ / 2; }
  uint64_t row_count() const { return row_count_; }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[PlaceOf(hash)]); }
  void PrefetchRow(uint64_t hash) const {
    uint64_t slot = slots_[PlaceOf(hash)];
    if ((slot >> 48) == (hash >> 48)) __builtin_prefetch(RowOf(slot));
  }
  // The row equal to `image`; null: there is none.
  char* Find(const KeyLayout& keys, const char* image) const { return RowOf(slots_[Probe(keys, image)]); }
  // The row equal to `image`; if there is none, make() gives one, which is entered.
  template <typename Make>
  char* FindOrInsert(const KeyLayout& keys, const char* image, Make&& make) {
    uint64_t* slot = &slots_[Probe(keys, image)];
    if (*slot != 0) return RowOf(*slot);
    char* row = make();
    *slot = (KeyLayout::Hash(image) & kSaltMask) | reinterpret_cast<uint64_t>(row);
    ++row_count_;
    return row;
  }

 private:
  // The slot of the row equal to `image`, or the empty one where it would be entered.
  uint64_t Probe(const KeyLayout& keys, const char* image) const {
    const uint64_t hash = KeyLayout::Hash(image);
    for (uint64_t at = PlaceOf(hash);; at = (at + 1) & mask_) {
      const uint64_t slot = slots_[at];
      if (slot == 0) return at;
      if (((slot ^ hash) & kSaltMask) != 0) continue;
      const char* row = RowOf(slot);
      if (KeyLayout::Hash(row) == hash && keys.Equal(row, image)) return at;
    }
  }
  static constexpr uint64_t kSaltMask = ~uint64_t{0} << 48;
  uint64_t PlaceOf(uint64_t hash) const { return (hash >> 8) & mask_; }
  static char* RowOf(uint64_t slot) { return reinterpret_cast<char*>(slot & ~kSaltMask); }
  void Allocate(uint64_t slots);

  MemoryBudget* budget_;
  std::unique_ptr<Arena> memory_;
  uint64_t* slots_ = nullptr;
  uint64_t slot_count_ = 0;
  uint64_t mask_ = 0;
  uint64_t row_count_ = 0;
};

}  // namespace penumbra

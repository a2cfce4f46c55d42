// A state that keeps all values of its group, in blocks of a StateStore: the first is small, each further one has twice
// the room.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "aggregate/aggregate_accumulator.h"

namespace penumbra {

template <typename T>
class CollectedValues {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  uint64_t count() const { return count_; }

  void Add(const T& value, StateStore& store) {
    if (last_ == nullptr || last_->count == last_->capacity) AddBlock(NextCapacity(), store);
    last_->values()[last_->count++] = value;
    ++count_;
  }
  // Takes the other's blocks over.
  void Append(const CollectedValues& from) {
    if (from.count_ == 0) return;
    if (count_ == 0) {
      *this = from;
      return;
    }
    last_->next = from.first_;
    last_ = from.last_;
    count_ += from.count_;
  }

  // Calls visit(values, count) for each block, of 256 KB at most. The values may be changed.
  template <typename Visit>
  void ForEachBlock(Visit&& visit) const {
    for (Block* block = first_; block != nullptr; block = block->next) visit(block->values(), block->count);
  }
  void CopyTo(T* copy) const {
    ForEachBlock([&](const T* values, uint32_t count) { copy = std::copy_n(values, count, copy); });
  }
  void Prefetch() const { __builtin_prefetch(last_, 1); }

  void Save(std::vector<char>* bytes) const {
    ForEachBlock([&](const T* values, uint32_t count) {
      const char* from = reinterpret_cast<const char*>(values);
      bytes->insert(bytes->end(), from, from + count * sizeof(T));
    });
  }
  // Of a bytewise copy of the saved state; returns where it stopped reading.
  const char* Load(const char* bytes, StateStore& store) {
    uint64_t left = count_;
    *this = {};
    while (left > 0) {
      AddBlock(static_cast<uint32_t>(std::min<uint64_t>(left, kMaxBytes / sizeof(T))), store);
      std::memcpy(static_cast<void*>(last_->values()), bytes, last_->capacity * sizeof(T));
      bytes += last_->capacity * sizeof(T);
      last_->count = last_->capacity;
      count_ += last_->count;
      left -= last_->count;
    }
    return bytes;
  }

 private:
  struct Block {
    Block* next;
    uint32_t count;
    uint32_t capacity;
    T* values() { return reinterpret_cast<T*>(this + 1); }
  };
  static_assert(sizeof(Block) == 16);  // so the values are aligned as the arena aligns

  static constexpr uint32_t kFirstBytes = 32;
  static constexpr uint32_t kMaxBytes = 256 << 10;

  uint32_t NextCapacity() const {
    if (last_ == nullptr) return kFirstBytes / sizeof(T);
    return std::min<uint32_t>(2 * last_->capacity, kMaxBytes / sizeof(T));
  }
  void AddBlock(uint32_t capacity, StateStore& store) {
    Block* block = static_cast<Block*>(store.arena().Allocate(sizeof(Block) + size_t{capacity} * sizeof(T)));
    *block = {nullptr, 0, capacity};
    (last_ == nullptr ? first_ : last_->next) = block;
    last_ = block;
  }

  Block* first_ = nullptr;
  Block* last_ = nullptr;
  uint64_t count_ = 0;
};

}  // namespace penumbra

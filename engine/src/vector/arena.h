// Bump allocation in blocks, accounted to a memory budget that all arenas of one execution share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "vector/error.h"
#include "vector/usage.h"

namespace penumbra {

// What executions of all sessions may hold together, before those with more than an equal share spill.
struct SharedMemory {
  PenumbraUsage* all = nullptr;  // null: they share nothing
  PenumbraUsage* own = nullptr;
  uint64_t max_bytes = 0;  // 0: no limit
};

// Bytes held by the operators of one execution. Operators that can spill ask IsExceeded() and spill;
// the hard limit is where the query gives up with PENUMBRA_OUT_OF_MEMORY.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t budget_bytes, const SharedMemory& shared = {})
      : limit_bytes_(budget_bytes), hard_limit_bytes_(2 * budget_bytes + (size_t{256} << 20)), shared_(shared) {}
  ~MemoryBudget() {
    if (is_holder_.load(std::memory_order_relaxed)) AddUsage(&shared_.all->holders, &shared_.own->holders, ~0U);
  }
  MemoryBudget(const MemoryBudget&) = delete;

  void Add(size_t bytes) {
    size_t used = used_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (used > hard_limit_bytes_ + admitted_bytes_.load(std::memory_order_relaxed)) {
      used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      throw EngineError(PENUMBRA_OUT_OF_MEMORY);
    }
    if (shared_.all != nullptr) AddShared(bytes, used);
    size_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (used > peak && !peak_bytes_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
    }
  }
  // A row handed in cannot be cut: the copies that the work on it takes may exceed the limit.
  void Admit(size_t row_bytes) {
    constexpr size_t kCopies = 8;
    if (kCopies * row_bytes > admitted_bytes_.load(std::memory_order_relaxed)) {
      admitted_bytes_.store(kCopies * row_bytes, std::memory_order_relaxed);
    }
  }
  void Subtract(size_t bytes) {
    used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if (shared_.all == nullptr) return;
    AddUsage(&shared_.all->memory_bytes, &shared_.own->memory_bytes, ~uint64_t{bytes} + 1);
  }
  bool IsExceeded() const {
    const size_t used = used_bytes();
    if (used > limit_bytes_) return true;
    return has_shared_limit() && used > budget_bytes() && LoadUsage(shared_.all->memory_bytes) > shared_.max_bytes;
  }
  // For the sizes of what operators take: never more than an equal share of what all may hold.
  size_t budget_bytes() const {
    if (!has_shared_limit()) return limit_bytes_;
    const uint64_t holders = std::max(LoadUsage(shared_.all->holders), 1U);
    return std::min<uint64_t>(limit_bytes_, std::max<uint64_t>(shared_.max_bytes / holders, kShareBytesMin));
  }
  size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  size_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

 private:
  // Work with less takes time and files out of all proportion; an execution that holds less spills nothing of use.
  static constexpr uint64_t kShareBytesMin = uint64_t{1} << 20;

  bool has_shared_limit() const { return shared_.all != nullptr && shared_.max_bytes > 0; }
  void AddShared(uint64_t bytes, size_t used) {
    AddUsage(&shared_.all->memory_bytes, &shared_.own->memory_bytes, bytes);
    if (used < kShareBytesMin || is_holder_.load(std::memory_order_relaxed) || is_holder_.exchange(true)) return;
    AddUsage(&shared_.all->holders, &shared_.own->holders, 1U);
  }

  const size_t limit_bytes_;
  const size_t hard_limit_bytes_;
  const SharedMemory shared_;
  std::atomic<bool> is_holder_{false};  // is counted as one
  std::atomic<size_t> used_bytes_{0};
  std::atomic<size_t> peak_bytes_{0};
  std::atomic<size_t> admitted_bytes_{0};  // one thread's to write: the one that hands in rows
};

// Not thread-safe. Memory is 64-byte aligned per allocation of 64 bytes and more, else 16, and lives
// until Reset() or destruction. `budget` may be null (unaccounted). Each block is twice the one before,
// up to max_block_bytes; blocks of 2 MB and more ask for huge pages.
class Arena {
 public:
  explicit Arena(MemoryBudget* budget = nullptr, size_t block_bytes = size_t{64} << 10, size_t max_block_bytes = 0)
      : budget_(budget), block_bytes_(block_bytes), max_block_bytes_(max_block_bytes) {}
  ~Arena() { Release(0); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* Allocate(size_t bytes) {
    size_t align = bytes >= 64 ? 64 : 16;
    size_t begin = (used_ + align - 1) & ~(align - 1);
    if (current_ == nullptr || begin + bytes > capacity_) return AllocateSlow(bytes);
    used_ = begin + bytes;
    return current_ + begin;
  }
  template <typename T>
  T* AllocateArray(size_t count) {
    return static_cast<T*>(Allocate(count * sizeof(T)));
  }
  const char* CopyBytes(const void* bytes, size_t length) {
    char* copy = static_cast<char*>(Allocate(length));
    std::memcpy(copy, bytes, length);
    return copy;
  }
  // Frees all but the first blocks, up to 4 MB, and starts over: cheap enough for every batch.
  void Reset();
  size_t bytes() const { return total_bytes_; }

 private:
  struct Block {
    char* memory;
    size_t bytes;
  };
  void* AllocateSlow(size_t bytes);
  void Release(size_t keep_bytes);

  MemoryBudget* budget_;
  size_t block_bytes_;  // of the next block
  size_t max_block_bytes_;
  std::vector<Block> blocks_;
  size_t block_index_ = 0;  // of the block that `current_` points to
  char* current_ = nullptr;
  size_t capacity_ = 0;
  size_t used_ = 0;
  size_t total_bytes_ = 0;
};

}  // namespace penumbra

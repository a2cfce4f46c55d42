#include "vector/arena.h"

#include <algorithm>

#include "vector/block_cache.h"

namespace penumbra {
namespace {
// What a batch of a hundred columns takes; more is a batch of large values, of which others need not come.
constexpr size_t kKeepBytes = size_t{4} << 20;
}  // namespace

void* Arena::AllocateSlow(size_t bytes) {
  // After a Reset() blocks are used again, first to last; one that is too small is passed over.
  while (current_ != nullptr && block_index_ + 1 < blocks_.size()) {
    const Block& next = blocks_[++block_index_];
    current_ = next.memory;
    capacity_ = next.bytes;
    used_ = 0;
    if (bytes <= capacity_) {
      used_ = bytes;
      return current_;
    }
  }
  size_t block_bytes = std::max(block_bytes_, (bytes + 63) & ~size_t{63});
  const bool is_huge = block_bytes >= kHugePageBytes;
  if (is_huge) block_bytes = (block_bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  if (budget_ != nullptr) budget_->Add(block_bytes);
  void* memory = is_huge ? TakeBlock(block_bytes) : std::aligned_alloc(64, block_bytes);
  if (memory == nullptr) {
    if (budget_ != nullptr) budget_->Subtract(block_bytes);
    throw EngineError(PENUMBRA_OUT_OF_MEMORY);
  }
  block_bytes_ = std::max(block_bytes_, std::min(2 * block_bytes_, max_block_bytes_));
  blocks_.push_back({static_cast<char*>(memory), block_bytes});
  total_bytes_ += block_bytes;
  block_index_ = blocks_.size() - 1;
  current_ = static_cast<char*>(memory);
  capacity_ = block_bytes;
  used_ = bytes;
  return memory;
}

void Arena::Release(size_t keep_bytes) {
  while (total_bytes_ > keep_bytes) {
    if (blocks_.back().bytes >= kHugePageBytes) {
      GiveBlock(blocks_.back().memory, blocks_.back().bytes);
    } else {
      std::free(blocks_.back().memory);
    }
    total_bytes_ -= blocks_.back().bytes;
    if (budget_ != nullptr) budget_->Subtract(blocks_.back().bytes);
    blocks_.pop_back();
  }
}

void Arena::Reset() {
  Release(kKeepBytes);
  block_index_ = 0;
  used_ = 0;
  current_ = blocks_.empty() ? nullptr : blocks_[0].memory;
  capacity_ = blocks_.empty() ? 0 : blocks_[0].bytes;
}

}  // namespace penumbra

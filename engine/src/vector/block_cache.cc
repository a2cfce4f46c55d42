#include "vector/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace penumbra {
namespace {

struct Block {
  void* memory;
  size_t bytes;
};

constexpr int kBlocksMax = 256;

std::mutex mutex;  // guards the others
Block kept[kBlocksMax];
int kept_count = 0;
size_t kept_bytes = 0;
size_t kept_bytes_max = 0;

Block RemoveLocked(int place) {
  const Block block = kept[place];
  kept[place] = kept[--kept_count];
  kept_bytes -= block.bytes;
  return block;
}

}  // namespace

void* TakeBlock(size_t bytes) {
  {
    std::lock_guard lock(mutex);
    for (int i = kept_count - 1; i >= 0; --i) {
      if (kept[i].bytes == bytes) return RemoveLocked(i).memory;
    }
  }
  void* memory = std::aligned_alloc(kHugePageBytes, bytes);
#ifdef MADV_HUGEPAGE
  if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it pages fault one by one
#endif
  return memory;
}

void GiveBlock(void* block, size_t bytes) {
#ifdef MADV_FREE
  {
    std::lock_guard lock(mutex);
    if (kept_count < kBlocksMax && kept_bytes + bytes <= kept_bytes_max && madvise(block, bytes, MADV_FREE) == 0) {
      kept[kept_count++] = {block, bytes};
      kept_bytes += bytes;
      return;
    }
  }
#endif
  std::free(block);
}

void KeepBlocks(size_t bytes_max) {
  std::lock_guard lock(mutex);
  kept_bytes_max = bytes_max;
  while (kept_bytes > kept_bytes_max) std::free(RemoveLocked(kept_count - 1).memory);
}

}  // namespace penumbra

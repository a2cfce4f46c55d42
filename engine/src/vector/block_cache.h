// Large blocks that arenas gave back, kept for the next ones: the kernel zeroes new memory, which can take longer than
// what an operator does with it. The pages of kept blocks are the kernel's to take when memory is short (MADV_FREE).
// One cache a process; any thread may call.
#pragma once

#include <cstddef>

namespace penumbra {

constexpr size_t kHugePageBytes = size_t{2} << 20;

// `bytes` are a multiple of kHugePageBytes, and so is the address. The block is not zeroed; null: out of memory.
void* TakeBlock(size_t bytes);
void GiveBlock(void* block, size_t bytes);
// From now on so much is kept, of what is kept already too; none before the first call.
void KeepBlocks(size_t bytes_max);

}  // namespace penumbra

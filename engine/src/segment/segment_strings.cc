#include "segment/segment_strings.h"

#include <lz4.h>

#include <cstring>

#include "vector/error.h"

namespace penumbra {

const char* DecompressBlock(const SegmentView& segment, uint32_t block, uint32_t raw_bytes, Arena& arena) {
  const uint32_t* blocks = segment.part<uint32_t>(kBlocks);
  const char* packed = segment.part<char>(kBytes) + blocks[block];
  const uint32_t packed_bytes = blocks[block + 1] - blocks[block];
  if (packed_bytes == raw_bytes) return packed;  // raw; followed by another block or the padding
  char* raw = static_cast<char*>(arena.Allocate(size_t{raw_bytes} + kBytesPadding));
  const int got = LZ4_decompress_safe(packed, raw, static_cast<int>(packed_bytes), static_cast<int>(raw_bytes));
  if (got < 0 || static_cast<uint32_t>(got) != raw_bytes)
    throw EngineError(PENUMBRA_CORRUPT, "block does not decompress");
  std::memset(raw + raw_bytes, 0, kBytesPadding);
  return raw;
}

}  // namespace penumbra

// Finding and reading the strings of a plain or compressed segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "segment/segment_format.h"
#include "vector/arena.h"
#include "vector/string_load.h"

namespace penumbra {

// Where each string of a column begins, from the lengths and the starts of the groups.
template <typename Length>
class StringCursor {
 public:
  explicit StringCursor(const SegmentView& segment)
      : lengths_(segment.part<Length>(kCodes)), starts_(segment.part<uint32_t>(kStarts)) {}
  uint32_t length(uint32_t row) const { return lengths_[row]; }
  // Offset of the row's first byte. Cheap when rows ascend.
  uint32_t Seek(uint32_t row) {
    const uint32_t group_begin = row / kGroupRows * kGroupRows;
    if (row_ < group_begin || row_ > row) {
      row_ = group_begin;
      offset_ = starts_[row / kGroupRows];
    }
    offset_ += Sum(lengths_ + row_, row - row_);
    row_ = row;
    return offset_;
  }
  uint32_t group_start(uint32_t group) const { return starts_[group]; }

 private:
  // Bytes are added as words, in lanes of twice their width: a loop over each would guess the distances of rows that a
  // condition leaves wrong. The last word begins before the bytes to add, where the header is at the latest.
  static uint32_t Sum(const Length* lengths, uint32_t count) {
    uint32_t sum = 0;
    if constexpr (sizeof(Length) == 1) {
      if (count <= 1) return count == 0 ? 0 : *lengths;
      constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
      const auto add = [&](uint64_t word) {
        sum += static_cast<uint32_t>((((word & kEven) + ((word >> 8) & kEven)) * 0x0001000100010001) >> 48);
      };
      uint64_t word;
      for (; count > 8; count -= 8, lengths += 8) {
        std::memcpy(&word, lengths, 8);
        add(word);
      }
      std::memcpy(&word, lengths + count - 8, 8);
      add(word >> (8 * (8 - count)));
    } else {
      for (uint32_t i = 0; i < count; ++i) sum += lengths[i];
    }
    return sum;
  }

  const Length* lengths_;
  const uint32_t* starts_;
  uint32_t row_ = UINT32_MAX;
  uint32_t offset_ = 0;
};

// Strings that lie back to back: row i is bytes[ends[i - 1], ends[i]), the first begins at 0. At least
// kBytesPadding readable bytes follow the last one.
struct StringRun {
  const char* bytes;
  const uint32_t* ends;
  uint32_t rows;
};

// A decompressed block, padded as kBytes is.
const char* DecompressBlock(const SegmentView& segment, uint32_t block, uint32_t raw_bytes, Arena& arena);

// Rows one by one; best in ascending order.
template <typename Length>
class PlainStrings {
 public:
  explicit PlainStrings(const SegmentView& segment) : cursor_(segment), bytes_(segment.part<char>(kBytes)) {}
  StringRef At(uint32_t row) { return LoadStringRef(bytes_ + cursor_.Seek(row), cursor_.length(row)); }
  const char* Bytes(uint32_t row) { return bytes_ + cursor_.Seek(row); }
  // Rows [begin, RunEnd()) lie back to back.
  uint32_t RunEnd(uint32_t /*begin*/, uint32_t end) const { return end; }

 private:
  StringCursor<Length> cursor_;
  const char* bytes_;
};

// The same; each block is decompressed when the first row of it comes.
template <typename Length>
class CompressedStrings {
 public:
  CompressedStrings(const SegmentView& segment, Arena& arena) : segment_(segment), cursor_(segment), arena_(arena) {}
  StringRef At(uint32_t row) { return LoadStringRef(Bytes(row), cursor_.length(row)); }
  const char* Bytes(uint32_t row) {
    const uint32_t block_rows = segment_.header().block_rows;
    const uint32_t block = row / block_rows;
    if (block != block_) {
      const uint32_t first_group = block * (block_rows / kGroupRows);
      const uint32_t end_group = std::min(first_group + block_rows / kGroupRows, GroupCount(segment_.header().rows));
      block_ = block;
      block_start_ = cursor_.group_start(first_group);
      bytes_ = DecompressBlock(segment_, block, cursor_.group_start(end_group) - block_start_, arena_);
    }
    return bytes_ + (cursor_.Seek(row) - block_start_);
  }
  uint32_t RunEnd(uint32_t begin, uint32_t end) const {
    const uint32_t block_rows = segment_.header().block_rows;
    return std::min(end, (begin / block_rows + 1) * block_rows);
  }

 private:
  const SegmentView segment_;
  StringCursor<Length> cursor_;
  Arena& arena_;
  uint32_t block_ = UINT32_MAX;
  uint32_t block_start_ = 0;
  const char* bytes_ = nullptr;
};

}  // namespace penumbra

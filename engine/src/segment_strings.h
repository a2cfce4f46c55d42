// Finding the strings of a plain or compressed segment.
#pragma once

#include <cstdint>

#include "segment_format.h"

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
    for (; row_ < row; ++row_) offset_ += lengths_[row_];
    return offset_;
  }
  uint32_t group_start(uint32_t group) const { return starts_[group]; }

 private:
  const Length* lengths_;
  const uint32_t* starts_;
  uint32_t row_ = UINT32_MAX;
  uint32_t offset_ = 0;
};

}  // namespace penumbra

// For which rows of a chunk a condition was evaluated, and for which of them it is true.
//
// One execution learns it vector by vector, and hands it over as an image: bytes without pointers that an adapter keeps
// as long as the segment is what it was. A later execution evaluates the condition only for the other rows.
//
// An image: a RememberedHeader, a place of 4 bytes for each vector's set of known rows, one for each vector's set of
// matches, and what sets take in units of 2 bytes. A set is nothing, all rows, positions of its rows, positions of the
// rows that it lacks, or a bitmap: whichever is smallest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vector/vector.h"

namespace penumbra {

struct RememberedHeader {
  uint32_t rows;
  uint32_t none_matches;  // 1: every row is known, and the condition is true for none
};
static_assert(sizeof(RememberedHeader) == 8);

enum class RowSetForm : uint8_t { kNone, kAll, kRows, kGaps, kBitmap };

// Appends a set of `count` rows; bits past them are zero.
RowSetForm EncodeRowSet(const uint64_t* bits, uint32_t count, std::vector<uint16_t>* units);
// Bits past `count` are zero.
void DecodeRowSet(RowSetForm form, const uint16_t* units, uint32_t count, uint64_t* bits);

// An image, or nothing. Its rows are a chunk's.
class RememberedRows {
 public:
  RememberedRows() = default;
  // Of an image of a chunk of so many rows; of another one, nothing is known.
  RememberedRows(const void* image, uint32_t rows);

  bool is_empty() const { return image_ == nullptr; }
  bool none_matches() const { return image_ != nullptr && header().none_matches != 0; }
  // Of the rows of one vector. False: none of them is known, and bits are not set.
  bool FindKnown(uint32_t vector, uint64_t* bits) const;
  // Of these, those for which the condition is true.
  void FindMatches(uint32_t vector, uint64_t* bits) const;

 private:
  const RememberedHeader& header() const { return *static_cast<const RememberedHeader*>(image_); }
  uint32_t vectors() const { return (header().rows + kVectorRows - 1) / kVectorRows; }
  const uint32_t* places() const { return reinterpret_cast<const uint32_t*>(&header() + 1); }
  void Find(uint32_t place, uint32_t vector, uint64_t* bits) const;

  const void* image_ = nullptr;
};

// What an execution learns of a chunk. Threads may learn of different vectors at once.
class LearnedRows {
 public:
  // Of no rows: nothing is to be learned.
  explicit LearnedRows(uint32_t rows);
  bool has_rows() const { return rows_ > 0; }

  // `matches` are some of `known`. Returns the bytes that it takes.
  size_t Learn(uint32_t vector, const uint64_t* known, const uint64_t* matches);
  bool is_empty() const;
  // With what was known before.
  std::vector<char> ToImage(const RememberedRows& before) const;

 private:
  // Of the vector: the two forms, the number of units of the first, the units of both.
  using Units = std::unique_ptr<uint16_t[]>;

  uint32_t rows_;
  std::vector<Units> vectors_;
};

}  // namespace penumbra

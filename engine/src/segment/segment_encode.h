// The steps of encoding, shared by its files.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "segment/rows.h"
#include "segment/segment_dictionary.h"
#include "segment/segment_format.h"
#include "vector/error.h"

namespace penumbra {

// Collects the parts and lays them out. Parts are borrowed until Finish().
class SegmentWriter {
 public:
  SegmentWriter(PenumbraType type, uint32_t rows, uint32_t null_count);
  SegmentHeader& header() { return header_; }
  void SetPart(Part part, const void* bytes, size_t byte_count) { sources_[part] = {bytes, byte_count}; }
  // malloc'ed, 64-byte aligned.
  void* Finish(size_t* segment_bytes);

 private:
  SegmentHeader header_ = {};
  std::pair<const void*, size_t> sources_[kPartCount] = {};
};

// The rows' distinct values, sorted. Below, values(row) is the row's DistinctKey.
struct RowDictionary {
  std::vector<std::string_view> entries;  // ascending
  std::vector<uint32_t> codes;            // of each row; 0 in null rows
  size_t entry_bytes = 0;
};

// Whether few of some rows spread over the column differ: a look at all of them may be worth its
// time.
template <typename Values>
bool LooksRepetitive(const RowsColumn& column, uint32_t rows, const Values& values) {
  constexpr uint32_t kSampleRows = 1024;
  const uint32_t stride = std::max<uint32_t>(1, rows / kSampleRows);
  DistinctValues sample(UINT32_MAX - 1);
  uint32_t sampled = 0;
  for (uint32_t row = 0; row < rows; row += stride) {
    if (!column.IsValid(row)) continue;
    sample.Add(values(row));
    ++sampled;
  }
  return sample.entries().size() <= sampled - sampled / 4;
}

// False if there are more than entry_limit distinct values.
template <typename Values, typename Less>
bool BuildRowDictionary(const RowsColumn& column, uint32_t rows, uint32_t entry_limit, const Values& values,
                        const Less& less, RowDictionary* dictionary) {
  DistinctValues distinct(entry_limit);
  std::vector<uint32_t>& codes = dictionary->codes;
  codes.assign(rows, 0);
  const bool has_nulls = column.null_count > 0;
  for (uint32_t row = 0; row < rows; ++row) {
    if (has_nulls && !column.IsValid(row)) continue;
    codes[row] = distinct.Add(values(row));
    if (codes[row] == DistinctValues::kTooMany) return false;
  }
  const std::vector<std::string_view>& found = distinct.entries();
  std::vector<uint32_t> order(found.size()), rank(found.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return less(found[a], found[b]); });
  dictionary->entries.resize(found.size());
  dictionary->entry_bytes = 0;
  for (uint32_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    dictionary->entries[i] = found[order[i]];
    dictionary->entry_bytes += found[order[i]].size();
  }
  for (uint32_t row = 0; row < rows; ++row) codes[row] = rank[codes[row]];
  for (uint32_t row = 0; has_nulls && row < rows; ++row) {
    if (!column.IsValid(row)) codes[row] = 0;
  }
  return true;
}

// The narrowest of 1, 2, 4 and 8 bytes that holds `greatest`.
inline uint8_t CodeBytes(uint64_t greatest) {
  return greatest <= UINT8_MAX ? 1 : greatest <= UINT16_MAX ? 2 : greatest <= UINT32_MAX ? 4 : 8;
}
// Narrows each value to `code_bytes`.
std::vector<uint8_t> PackCodes(const std::vector<uint32_t>& codes, uint8_t code_bytes);

void SetBounds(int64_t least, int64_t greatest, bool are_exact, SegmentWriter* writer);

// By kind of column. Each has at least one valid row.
void* EncodeIntegers(const RowsColumn& column, uint32_t rows, size_t* segment_bytes);
void* EncodeFixed(const RowsColumn& column, uint32_t rows,
                  size_t* segment_bytes);  // floats, uuid, interval
void* EncodeStrings(const RowsColumn& column, uint32_t rows,
                    size_t* segment_bytes);  // numeric payloads too

}  // namespace penumbra

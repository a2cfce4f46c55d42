#include "scan/literal_filter.h"

#include <algorithm>
#include <cstring>

namespace penumbra {
namespace {

using kernels::BitmapWords;

constexpr size_t kAnchorBytesMax = 8;

uint64_t LoadWord(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// bit i = test(begin of row i, end of row i).
template <typename Test>
void TestRows(const StringRun& run, uint64_t* bits, Test test) {
  uint32_t begin = 0;
  for (uint32_t first = 0; first < run.rows; first += 64) {
    const uint32_t rows = std::min(run.rows - first, 64u);
    uint64_t word = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t end = run.ends[first + i];
      word |= static_cast<uint64_t>(test(begin, end)) << i;
      begin = end;
    }
    bits[first / 64] = word;
  }
}

}  // namespace

LiteralFilter::LiteralFilter(Place place, std::string literal) : place_(place), literal_(std::move(literal)) {
  if (place == Place::kNone) return;
  if (place == Place::kContained) {
    needle_ = kernels::MakeNeedle(literal_.data(), literal_.size());
    is_exact_ = true;
    return;
  }
  const size_t bytes = std::min(literal_.size(), kAnchorBytesMax);
  std::memcpy(&anchor_, literal_.data() + (place == Place::kSuffix ? literal_.size() - bytes : 0), bytes);
  anchor_mask_ = ~uint64_t{0} >> (64 - 8 * bytes);
  anchor_bytes_ = static_cast<uint32_t>(bytes);
  is_exact_ = bytes == literal_.size();
}

void LiteralFilter::Find(const StringRun& run, uint64_t* found) const {
  switch (place_) {
    case Place::kPrefix: return FindPrefix(run, found);
    case Place::kSuffix: return FindSuffix(run, found);
    default: return FindContained(run, found);
  }
}

void LiteralFilter::FindPrefix(const StringRun& run, uint64_t* found) const {
  TestRows(run, found, [&](uint32_t begin, uint32_t end) {
    const bool is_equal = ((LoadWord(run.bytes + begin) ^ anchor_) & anchor_mask_) == 0;
    return is_equal & (end - begin >= anchor_bytes_);
  });
}

// The word is loaded from the suffix on, so that it ends in what follows and not before the first row.
void LiteralFilter::FindSuffix(const StringRun& run, uint64_t* found) const {
  TestRows(run, found, [&](uint32_t begin, uint32_t end) {
    const bool is_long_enough = end - begin >= anchor_bytes_;
    const uint32_t at = is_long_enough ? end - anchor_bytes_ : begin;
    return is_long_enough & (((LoadWord(run.bytes + at) ^ anchor_) & anchor_mask_) == 0);
  });
}

void LiteralFilter::FindContained(const StringRun& run, uint64_t* found) const {
  std::fill_n(found, BitmapWords(run.rows), 0);
  const uint32_t bytes = run.rows == 0 ? 0 : run.ends[run.rows - 1];
  uint32_t row = 0;
  for (size_t place = 0;;) {
    place = kernels::FindNeedle(needle_, run.bytes, place, bytes);
    if (place == bytes) return;
    while (run.ends[row] <= place) ++row;
    // Else it reaches into the next row, as every later place in this one does.
    if (place + needle_.length <= run.ends[row]) found[row / 64] |= uint64_t{1} << (row % 64);
    place = run.ends[row];
  }
}

}  // namespace penumbra

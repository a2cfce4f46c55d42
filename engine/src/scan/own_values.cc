#include "scan/own_values.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>

#include "vector/arena.h"

namespace penumbra {
namespace {

// A vector is wide if so many others begin within its bounds.
constexpr ptrdiff_t kWideSpan = 3;
// Wide ones are read if they have no more than this share of all rows.
constexpr uint64_t kWideRowsShare = 16;

}  // namespace

bool OwnValuesFinder::Add(const SegmentReader& reader) {
  constexpr BoundsNeeded kBoth{true, true};
  Arena arena;
  for (uint32_t begin = 0; begin < reader.rows(); begin += kVectorRows) {
    const uint32_t rows = std::min(kVectorRows, reader.rows() - begin);
    const size_t number = vector_count_++;
    row_count_ += rows;
    ColumnSummary summary;
    if (!reader.Summarize(begin, rows, kBoth, arena, &summary) &&
        !reader.Summarize(0, reader.rows(), kBoth, arena, &summary)) {
      return false;
    }
    if (summary.valid_rows == 0) continue;
    vectors_.push_back({&reader, begin, rows, number, IntegerAt(summary.bounds, 0), IntegerAt(summary.bounds, 1)});
  }
  return true;
}

bool OwnValuesFinder::IsWide(const VectorBounds& v) const {
  const auto begins_before = [](const VectorBounds& other, int64_t value) { return other.least < value; };
  const auto begins_after = [](int64_t value, const VectorBounds& other) { return value < other.least; };
  const auto begin = std::upper_bound(vectors_.begin(), vectors_.end(), v.least, begins_after);
  const auto end = std::lower_bound(begin, vectors_.end(), v.greatest, begins_before);
  return end - begin >= kWideSpan;
}

// Rows far from their place, such as new versions of rows, make their vector overlap all vectors in between. The values
// of such vectors are read: no others than these do the vectors in between share with them. False: they are too many.
bool OwnValuesFinder::SetWideAside(std::vector<int64_t>* shared) {
  std::vector<VectorBounds> narrow, wide;
  uint64_t wide_rows = 0;
  for (const VectorBounds& v : vectors_) {
    const bool is_wide = IsWide(v);
    (is_wide ? wide : narrow).push_back(v);
    if (is_wide) wide_rows += v.rows;
  }
  if (wide_rows > row_count_ / kWideRowsShare) return false;
  vectors_ = std::move(narrow);
  Arena arena;
  for (const VectorBounds& v : wide) {
    const Vector values = Flatten(v.reader->Decode(v.begin, v.rows, arena), v.rows, arena);
    for (uint32_t i = 0; i < v.rows; ++i) {
      if (!values.IsValid(i)) continue;
      const int64_t value = IntegerAt(values, i);
      if (shared->empty() || shared->back() != value) shared->push_back(value);  // rows of one group lie together
    }
    arena.Reset();
  }
  hwy::Sorter sorter;
  sorter(shared->data(), shared->size(), hwy::SortAscending());
  return true;
}

// A value is in one vector alone if, in the order of the vectors' least values, it is above the greatest of all before
// and below the least of all after, and no wide vector has it.
std::vector<OwnValues> OwnValuesFinder::Find(std::vector<int64_t>* shared) {
  std::sort(vectors_.begin(), vectors_.end(),
            [](const VectorBounds& a, const VectorBounds& b) { return a.least < b.least; });
  if (!SetWideAside(shared)) return {};
  std::vector<OwnValues> own(vector_count_);
  const int64_t *const shared_begin = shared->data(), *const shared_end = shared_begin + shared->size();
  int64_t above = INT64_MIN;
  for (size_t i = 0; i < vectors_.size(); ++i) {
    const VectorBounds& v = vectors_[i];
    const int64_t below = i + 1 < vectors_.size() ? vectors_[i + 1].least : INT64_MAX;
    own[v.number] = {above, below, std::lower_bound(shared_begin, shared_end, v.least),
                     std::upper_bound(shared_begin, shared_end, v.greatest)};
    above = std::max(above, v.greatest);
  }
  return own;
}

}  // namespace penumbra

// Which values of a column a vector has alone: where a table lies in the order of a key, by and large, nearly all.
#pragma once

#include <vector>

#include "segment/segment.h"
#include "vector/vector.h"

namespace penumbra {

// Of the vectors of one column of an integer type, segment by segment; the readers stay until Find() is done.
class OwnValuesFinder {
 public:
  // False: the bounds of its vectors are not known, and so are no vector's own values.
  bool Add(const SegmentReader& reader);
  // By vector in the order they were added, with references to *shared, which has, in any order, the values that are
  // nobody's own for other reasons. Empty: it would take too long to know.
  std::vector<OwnValues> Find(std::vector<int64_t>* shared);

 private:
  struct VectorBounds {
    const SegmentReader* reader;
    uint32_t begin;
    uint32_t rows;
    size_t number;
    int64_t least;
    int64_t greatest;
  };
  bool IsWide(const VectorBounds& v) const;
  bool SetWideAside(std::vector<int64_t>* shared);

  size_t vector_count_ = 0;
  uint64_t row_count_ = 0;
  std::vector<VectorBounds> vectors_;  // those with a value
};

}  // namespace penumbra

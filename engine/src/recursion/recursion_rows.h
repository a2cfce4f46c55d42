// The rows of a recursion in the order in which they came, in segments. Of UNION they stay in memory, since later rows
// are compared with them. Others go to disk past the budget, and are freed where nobody reads them again.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "aggregate/hash_aggregation_rows.h"
#include "operator/execution_environment.h"
#include "recursion/recursion_spec.h"
#include "row/row_format.h"
#include "row/spilled_rows.h"
#include "vector/result_vector.h"

namespace penumbra {

// Of the rows of all threads: a layout notes what it has written.
struct RecursionFormat {
  explicit RecursionFormat(const RecursionSpec& of);

  const RecursionSpec& spec;
  const KeyLayout keys;     // of UNION a row is the image of all columns,
  const RowLayout columns;  // and else these
  const RowFormat rows;
};

class RecursionRows {
 public:
  // A place between two rows.
  struct Place {
    uint64_t segment = 0;
    uint32_t row = 0;        // of the segment
    uint64_t row_count = 0;  // rows before it
  };

  RecursionRows(const RecursionFormat& format, ExecutionEnvironment& environment);

  // The batch's rows; of UNION those that have not been there.
  void Append(const Batch& batch, Arena& arena);
  // The other's rows, which is dead after it.
  void Take(RecursionRows&& other);
  // Up to kVectorRows rows of the first `end`, as they lie side by side; moves the place, which was before that, behind
  // them. What this gave for the place before is dead, not what it gave for the other.
  Batch Read(Place* place, const Place& other, uint64_t end, Arena& arena);
  // Writes rows to disk if there is too little memory, but those at the places and the last.
  void Evict(const Place& place, const Place& other);
  // Nobody reads rows before both any more.
  void Free(const Place& place, const Place& other);

  uint64_t row_count() const { return row_count_; }
  uint64_t spilled_bytes() const { return spilled_bytes_; }

 private:
  struct Segment {
    std::unique_ptr<Arena> memory;  // null: on disk
    char* rows = nullptr;
    uint32_t count = 0;
    uint32_t capacity = 0;
    SpilledRows spilled;  // of none: it was not written
  };

  bool is_distinct() const { return format_.spec.is_distinct; }
  uint32_t row_bytes() const { return format_.rows.row_bytes; }
  // With room for so many rows.
  Segment& LastSegment(uint32_t rows);
  void AppendNew(const Batch& batch, const Vector* columns, Arena& arena);
  void EnterInto(Segment& segment, const char* image);
  void Evict(Segment& segment);
  void Load(Segment& segment);
  Segment& segment(uint64_t number) { return segments_[number - first_]; }

  const RecursionFormat& format_;
  ExecutionEnvironment& environment_;
  std::deque<Segment> segments_;
  uint64_t first_ = 0;     // number of the first of them
  size_t evicted_at_ = 0;  // so many of them
  uint64_t row_count_ = 0;
  GroupDirectory known_;  // of UNION
  std::shared_ptr<SpillFile> file_;
  uint64_t spilled_bytes_ = 0;
  std::vector<char> images_;
};

}  // namespace penumbra

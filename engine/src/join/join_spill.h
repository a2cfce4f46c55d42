// Rows of a join on disk: the rows' bytes, each followed by its long strings. Read only by the process that wrote them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "join/join_table.h"
#include "operator/spill_file.h"

namespace penumbra {

// How rows of one side look: a build row with its keys, or a row of the probe side's columns.
struct SpilledJoinLayout {
  const GroupKeys* keys = nullptr;  // at the begin of the row; null: none
  const SortRowLayout* columns = nullptr;  // null: none
  uint32_t columns_offset = 0;
  uint32_t row_bytes = 0;
};

// One thread's rows, written by partition into a file of its own.
class JoinSpiller {
 public:
  JoinSpiller(const SpilledJoinLayout& layout, int partitions, ExecutionEnvironment& environment);
  ~JoinSpiller();
  JoinSpiller(const JoinSpiller&) = delete;

  void Add(uint32_t partition, const char* row);
  // Hands over what is written, adding it to (*into)[partition].
  void Flush(std::vector<SpilledRows>* into);
  // Written since the last time it was asked.
  uint64_t TakeBytes() { return std::exchange(new_bytes_, 0); }

 private:
  struct Partition {
    std::vector<char> buffer;
    SpilledRows rows;
  };
  void Write(Partition* partition);

  const SpilledJoinLayout layout_;
  ExecutionEnvironment& environment_;
  const size_t accounted_bytes_;
  std::shared_ptr<SpillFile> file_;
  std::vector<Partition> partitions_;
  uint64_t new_bytes_ = 0;
};

// Reads them again, extent by extent.
class SpilledJoinReader {
 public:
  SpilledJoinReader(const SpilledJoinLayout& layout, const SpilledRows& rows,
                    const ExecutionEnvironment& environment)
      : layout_(layout), rows_(rows), environment_(environment) {}

  void Rewind() {
    extent_ = at_ = 0;
    buffer_.clear();
  }
  bool is_at_end() const { return at_ == buffer_.size() && extent_ == rows_.extents.size(); }
  // The next row into layout.row_bytes at `row`; its strings are copied to `arena`. Not at the end. Returns its bytes.
  size_t Read(char* row, Arena& arena);

 private:
  const SpilledJoinLayout layout_;
  const SpilledRows& rows_;
  const ExecutionEnvironment& environment_;
  size_t extent_ = 0;  // the next one
  std::vector<char> buffer_;
  size_t at_ = 0;
};

}  // namespace penumbra

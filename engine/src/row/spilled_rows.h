// Rows on disk: of each its fixed bytes, then what they point to (RowFormat::Save). They are written in extents of
// whole rows, so that a reader's buffer never has a part of one: an extent has about the bytes asked for, or one larger
// row. Read only by the process that wrote them.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "operator/execution_environment.h"
#include "operator/spill_file.h"

namespace penumbra {

// Rows that belong together (of a partition, of a sorted run), in extents of the files of several threads.
struct SpilledRows {
  struct Extent {
    std::shared_ptr<SpillFile> file;
    uint64_t at;
    uint64_t bytes;
  };
  std::vector<Extent> extents;
  uint64_t row_count = 0;
  uint64_t bytes = 0;
  uint64_t longest_extent = 0;  // in bytes

  void Append(const std::shared_ptr<SpillFile>& file, const std::vector<char>& rows);
  void Take(SpilledRows&& other);
};

// Collects rows and appends them to a file. One thread's, as the file is; several writers may share that.
class SpilledRowWriter {
 public:
  SpilledRowWriter(std::shared_ptr<SpillFile> file, size_t extent_bytes, const ExecutionEnvironment& environment)
      : file_(std::move(file)), extent_bytes_(extent_bytes), environment_(&environment) {}

  // What is appended to it until EndRow() is a row.
  std::vector<char>* buffer() { return &buffer_; }
  void EndRow() {
    ++rows_.row_count;
    if (buffer_.size() >= extent_bytes_) Write();
  }
  // All rows that were added since the last call.
  SpilledRows Finish() {
    Write();
    return std::exchange(rows_, {});
  }

 private:
  void Write();

  std::shared_ptr<SpillFile> file_;
  size_t extent_bytes_;
  const ExecutionEnvironment* environment_;
  std::vector<char> buffer_;
  SpilledRows rows_;
};

// Reads rows again, in the order in which they were written, extent by extent.
class SpilledRowReader {
 public:
  SpilledRowReader(const SpilledRows& rows, ExecutionEnvironment& environment)
      : rows_(&rows), environment_(&environment) {}

  void Rewind() { extent_ = at_ = size_ = 0; }
  bool needs_extent() const { return at_ == size_; }
  bool is_at_end() const { return needs_extent() && extent_ == rows_->extents.size(); }
  // The next row's bytes, which may be changed. Not at the end.
  char* Begin() {
    if (needs_extent()) ReadExtent();
    return bytes_ + at_;
  }
  // Where the row ended that Begin() gave; returns how many bytes it has.
  size_t End(const char* end) {
    const size_t begin = std::exchange(at_, static_cast<size_t>(end - bytes_));
    return at_ - begin;
  }
  // The memory of the rows read, which would be overwritten when the next extent is read.
  std::unique_ptr<Arena> TakeBuffer() { return std::exchange(buffer_, nullptr); }

 private:
  void ReadExtent();

  const SpilledRows* rows_;
  ExecutionEnvironment* environment_;
  size_t extent_ = 0;  // the next one
  std::unique_ptr<Arena> buffer_;
  char* bytes_ = nullptr;  // of the extent
  size_t at_ = 0;
  size_t size_ = 0;
};

}  // namespace penumbra

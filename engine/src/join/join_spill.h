// Rows of a join on disk: build rows with their keys, or rows of the probe side's columns.
#pragma once

#include <vector>

#include "join/join_table.h"
#include "row/spilled_rows.h"

namespace penumbra {

// One thread's rows, written by partition into a file of its own.
class JoinSpiller {
 public:
  JoinSpiller(const RowFormat& format, int partitions, ExecutionEnvironment& environment);
  ~JoinSpiller();
  JoinSpiller(const JoinSpiller&) = delete;

  void Add(uint32_t partition, const char* row);
  // Hands over what was added, adding it to (*into)[partition]; returns its bytes.
  uint64_t Flush(std::vector<SpilledRows>* into);

 private:
  const RowFormat format_;
  ExecutionEnvironment& environment_;
  const size_t accounted_bytes_;
  std::vector<SpilledRowWriter> partitions_;
};

// Reads them again.
class SpilledJoinReader {
 public:
  SpilledJoinReader(const RowFormat& format, const SpilledRows& rows, ExecutionEnvironment& environment)
      : format_(format), rows_(rows, environment) {}

  void Rewind() { rows_.Rewind(); }
  bool is_at_end() const { return rows_.is_at_end(); }
  // The next row into format.row_bytes at `row`; its strings are copied to `arena`. Not at the end. Returns its bytes.
  size_t Read(char* row, Arena& arena) { return rows_.End(format_.Load(row, rows_.Begin(), arena)); }

 private:
  const RowFormat format_;
  SpilledRowReader rows_;
};

}  // namespace penumbra

// Rows in the order of a window, and where partitions and peers begin.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/execution_environment.h"
#include "sort/sort_input.h"
#include "window/window_input.h"

namespace penumbra {

// Compares neighbours, by one of WindowInput::orders().
class WindowKeys {
 public:
  WindowKeys(const WindowInput& input, const RowLayout& layout, WindowOrder order);
  bool IsOtherPartition(const char* row, const char* next) const { return !partition_.AreEqual(row, next); }
  // Of rows of one partition.
  bool IsOtherPeer(const char* row, const char* next) const { return !order_.AreEqual(row, next); }

 private:
  WindowKeys(const std::vector<SortKeySpec>& partition, const std::vector<SortKeySpec>& order, const RowLayout& layout);

  const SortKeys partition_;
  const SortKeys order_;
};

class WindowRows {
 public:
  static constexpr uint64_t kTaskRows = uint64_t{1} << 16;  // whole words of the bits

  // `rows`, of which the first begins a partition, live as long as this.
  WindowRows(char* const* rows, uint64_t count);

  uint64_t count() const { return count_; }
  char* const* at(uint64_t row) const { return rows_ + row; }
  uint64_t task_count() const { return (count_ + kTaskRows - 1) / kTaskRows; }
  // Tasks may run concurrently.
  void FindBounds(uint64_t task, const WindowKeys& keys, const ExecutionEnvironment& environment);
  // The first partition, or group of peers, that begins at `row` or after it; count() where there is none.
  uint64_t NextPartition(uint64_t row) const { return Next(partitions_, row); }
  uint64_t NextPeer(uint64_t row) const { return Next(peers_, row); }
  // The beginning of the partition, or group of peers, that `row` is of.
  uint64_t PartitionOf(uint64_t row) const { return Last(partitions_, row); }
  uint64_t PeersOf(uint64_t row) const { return Last(peers_, row); }
  // How many groups of peers begin in [begin, end).
  uint64_t CountPeers(uint64_t begin, uint64_t end) const;

 private:
  uint64_t Last(const std::vector<uint64_t>& bits, uint64_t row) const;
  uint64_t Next(const std::vector<uint64_t>& bits, uint64_t row) const;

  char* const* rows_;
  uint64_t count_;
  std::vector<uint64_t> partitions_;  // a bit for each row that begins one
  std::vector<uint64_t> peers_;
};

}  // namespace penumbra

// The values of a window function for a batch of rows in the window's order.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "operator/execution_environment.h"
#include "row/row_layout.h"
#include "window/window_rows.h"

namespace penumbra {

// The rows of a batch, numbered as in WindowRows: where the partition and the peers of each begin and end.
struct WindowBatch {
  const WindowRows& rows;
  uint64_t begin = 0;
  uint32_t count = 0;
  std::vector<uint64_t> partition_begins;
  std::vector<uint64_t> partition_ends;
  std::vector<uint64_t> peer_begins;
  std::vector<uint64_t> peer_ends;
  std::vector<uint64_t> peer_numbers;  // within the partition, from 1

  // Before the row `first`.
  WindowBatch(const WindowRows& r, uint64_t first);
  // The next rows, `wanted` at most, not past `end`, where a partition ends.
  void Advance(uint64_t end, uint32_t wanted);
};

// A reader's; batches come in order, but rows that have no value yet come again.
class WindowFunction {
 public:
  virtual ~WindowFunction() = default;
  virtual Vector Evaluate(const WindowBatch& batch, Arena& arena) = 0;
  // At most so many rows shall the next batch have, because their values are large.
  virtual uint32_t RowsWanted() const { return kVectorRows; }
  // So many of the last batch's rows have values, the first ones, because these turned out to be large; at least one.
  virtual uint32_t rows_made() const { return kVectorRows; }
};

// A batch of values that may be long ends at so many bytes.
constexpr size_t kWindowBatchBytes = size_t{16} << 20;
// The rows wanted for such a batch, if each value has so many bytes.
inline uint32_t WindowRowsOfBytes(size_t value_bytes) {
  return static_cast<uint32_t>(
      std::clamp<size_t>(kWindowBatchBytes / std::max<size_t>(value_bytes, 1), 1, kVectorRows));
}
// What a value is assumed to have before the first is made, so that the first batch is short.
constexpr size_t kFirstValueBytes = kWindowBatchBytes / 64;

std::unique_ptr<WindowFunction> CreateWindowFunction(const WindowFunctionSpec& spec, const WindowInput& input,
                                                     const RowLayout& layout, ExecutionEnvironment& environment);
// window_aggregate.cc
std::unique_ptr<WindowFunction> CreateWindowAggregate(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment);

// window_collected.cc
std::unique_ptr<WindowFunction> CreateCollectedWindow(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment);

// window_host.cc
std::unique_ptr<WindowFunction> CreateHostWindow(const WindowFunctionSpec& spec, const WindowInput& input,
                                                 const RowLayout& layout, ExecutionEnvironment& environment);

// The rows [begins[i], ends[i]) that the frame of each row of the batch has, none where both are equal; without those
// that EXCLUDE leaves out, if it does: then it has [begins[i], hole_begins[i]) and [hole_ends[i], ends[i]), and with
// EXCLUDE TIES the row itself where that lies in the hole.
class WindowFrames {
 public:
  WindowFrames(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
               const ExecutionEnvironment& environment);

  void Find(const WindowBatch& batch);
  bool has_holes() const { return spec_.exclusion != PENUMBRA_EXCLUDE_NO_OTHERS; }
  bool KeepsOwnRow(uint64_t row, size_t i) const {
    return spec_.exclusion == PENUMBRA_EXCLUDE_TIES && hole_begins[i] <= row && row < hole_ends[i];
  }
  // The parts [first, second) of a frame with a hole, which is that of the batch's row i: before the hole, the row
  // itself, after the hole. Some may have no rows.
  std::array<std::pair<uint64_t, uint64_t>, 3> PartsAroundHole(uint64_t row, size_t i) const {
    const uint64_t own_end = KeepsOwnRow(row, i) ? row + 1 : row;
    return {{{begins[i], hole_begins[i]}, {row, own_end}, {hole_ends[i], ends[i]}}};
  }

  std::vector<uint64_t> begins;
  std::vector<uint64_t> ends;
  std::vector<uint64_t> hole_begins;
  std::vector<uint64_t> hole_ends;

 private:
  // A bound that counts groups or values; it only moves on within a partition, and for a row before starts anew.
  struct Cursor {
    uint64_t partition = UINT64_MAX;  // where it begins
    uint64_t row = 0;
    uint64_t group = 0;
    uint64_t asked = 0;  // for this row it was
  };
  uint64_t BoundOf(const PenumbraFrameBound& bound, bool is_end, Cursor* cursor, const WindowBatch& batch, uint32_t i);
  uint64_t BoundByGroups(const PenumbraFrameBound& bound, bool is_end, Cursor* cursor, const WindowBatch& batch,
                         uint32_t i);
  uint64_t BoundByValue(bool is_end, Cursor* cursor, const WindowBatch& batch, uint32_t i);
  void FindHole(const WindowBatch& batch, uint32_t i);

  const WindowFunctionSpec& spec_;
  const ExecutionEnvironment& environment_;
  const std::unique_ptr<SortKeys> range_key_;  // null: no bound is a value
  const int start_column_;
  const int end_column_;
  Cursor start_;
  Cursor end_;
};

}  // namespace penumbra

// The values of a window function for a batch of rows in the window's order.
#pragma once

#include <memory>
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
  // The next rows, not past `end`, where a partition ends.
  void Advance(uint64_t end);
};

// A reader's; batches come in order.
class WindowFunction {
 public:
  virtual ~WindowFunction() = default;
  virtual Vector Evaluate(const WindowBatch& batch, Arena& arena) = 0;
};

std::unique_ptr<WindowFunction> CreateWindowFunction(const WindowFunctionSpec& spec, const WindowInput& input,
                                                     const RowLayout& layout, ExecutionEnvironment& environment);
// window_aggregate.cc
std::unique_ptr<WindowFunction> CreateWindowAggregate(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment);

// The rows [begins[i], ends[i]) that the frame of each row of the batch has; none where both are equal.
struct WindowFrames {
  std::vector<uint64_t> begins;
  std::vector<uint64_t> ends;

  void Find(const WindowFunctionSpec& spec, const WindowBatch& batch);
};

}  // namespace penumbra

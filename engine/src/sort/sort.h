// The sort as a sink.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "sort/sort_input.h"
#include "sort/sort_spec.h"

namespace penumbra {

// Sort, or top-N when there is a limit.
std::unique_ptr<Sink> CreateSort(const SortSpec& spec, ExecutionEnvironment& environment);

// A full sort for whoever looks at the rows as a whole, not at batches of them.
class RowSort : public Sink {
 public:
  virtual const SortInput& input() const = 0;
  // Of a sealed sort: whether the rows are on disk, where partition 0 has all.
  virtual bool is_spilled() const = 0;
  // Of one that is not, in order.
  virtual char* const* rows() const = 0;
  virtual uint64_t row_count() const = 0;
};
std::unique_ptr<RowSort> CreateRowSort(const SortSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

// What pipelines and aggregations see of a join. Its build side is a sink; whoever reads the probe side gives each
// batch to its probe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "operator/key_filter.h"
#include "operator/multiplying_step.h"
#include "operator/sink.h"

namespace penumbra {

class JoinSink : public Sink {
 public:
  // Of the sealed sink.
  virtual bool is_spilled() const = 0;
  // Late materialisation: a reader that needs columns of the build side of few rows, and late, gets numbers of build
  // rows. How many there are, from 0 on; 0: rows have none, as those of a build on disk.
  virtual uint64_t NumberedRows() const = 0;
  // Whether it is known that no two of these rows are alike in the columns (of the output, from the build side).
  virtual bool AreDistinct(const std::vector<int>& columns) const = 0;
  // Before CreateProbe(): in place of the columns batches have the numbers of their rows (int4; null: no row, its
  // columns are null) in the first of them, and nulls in the others.
  virtual void NumberRows(const std::vector<int>& columns) = 0;
  virtual Vector ReadColumn(int column, const Vector& row_numbers, uint32_t rows, Arena& arena) const = 0;
  // After Seal(). The probe is gone before the sink is.
  virtual std::unique_ptr<MultiplyingStep> CreateProbe() = 0;
  // After Seal(), as long as the sink; null: nothing would be gained.
  virtual const KeyFilter* key_filter(int key) const = 0;
};

}  // namespace penumbra

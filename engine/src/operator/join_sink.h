// What pipelines and aggregations see of a join. Its build side is a sink; whoever reads the probe side gives each
// batch to a JoinProbe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "operator/key_filter.h"
#include "operator/placed_prefilter.h"
#include "operator/sink.h"

namespace penumbra {

// One thread's. It takes a batch, then gives its matches in as many batches as it takes.
class JoinProbe {
 public:
  virtual ~JoinProbe() = default;
  // The batch and context.arena stay as they are while is_pending().
  virtual void Begin(const Batch& batch, EvalContext& context) = 0;
  virtual bool is_pending() const = 0;
  // A bounded piece of work; false: it gave no row.
  virtual bool Next(EvalContext& context, Batch* batch) = 0;
  // Of the batches that Next() gives, which then have rows that may matter only. It lives as long as the probe.
  virtual void SetPrefilter(const PlacedPrefilter* /*prefilter*/) {}
  // There are no more batches for now. The last call comes before the probe is gone, but for errors.
  virtual void Flush() {}
};

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
  virtual std::unique_ptr<JoinProbe> CreateProbe() = 0;
  // After Seal(), as long as the sink; null: nothing would be gained.
  virtual const KeyFilter* key_filter(int key) const = 0;
};

}  // namespace penumbra

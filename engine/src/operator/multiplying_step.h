// A step of a pipeline that can give more rows than it takes: a join's probe, unnesting. One thread's. It takes a
// batch, then gives what becomes of its rows in as many batches as it takes.
#pragma once

#include "expression/expr.h"
#include "operator/placed_prefilter.h"
#include "vector/vector.h"

namespace penumbra {

class MultiplyingStep {
 public:
  virtual ~MultiplyingStep() = default;
  // The batch and context.arena stay as they are while is_pending().
  virtual void Begin(const Batch& batch, EvalContext& context) = 0;
  virtual bool is_pending() const = 0;
  // A bounded piece of work; false: it gave no row.
  virtual bool Next(EvalContext& context, Batch* batch) = 0;
  // Of the batches that Next() gives, which then have rows that may matter only. It lives as long as the step.
  virtual void SetPrefilter(const PlacedPrefilter* /*prefilter*/) {}
  // There are no more batches for now. The last call comes before the step is gone, but for errors.
  virtual void Flush() {}
};

}  // namespace penumbra

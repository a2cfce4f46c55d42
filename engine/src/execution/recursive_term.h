// The term of a recursion: a pipeline that the recursion gives its batches to, one after the other. What its joins have
// built stays for all iterations.
#pragma once

#include <memory>
#include <vector>

#include "execution/pipeline.h"
#include "operator/multiplying_step.h"

namespace penumbra {

class RecursiveTerm final : public MultiplyingStep {
 public:
  // `sinks` has, by operator, the builds of its joins.
  RecursiveTerm(const Plan& plan, PenumbraOperator recursion, const std::vector<std::unique_ptr<Sink>>& sinks,
                ExecutionEnvironment& environment);

  void Begin(const Batch& batch, EvalContext& /*context*/) override { cursor_->Push(batch); }
  bool is_pending() const override { return cursor_->has_input(); }
  bool Next(EvalContext& context, Batch* batch) override {
    return cursor_->Next(context, batch) == PipelineCursor::Progress::kRows;
  }
  void AddCounts(std::vector<OperatorCounts>* counts) const { cursor_->AddCounts(counts); }

 private:
  const PipelineSpec spec_;
  Pipeline pipeline_;
  std::unique_ptr<PipelineCursor> cursor_;
};

}  // namespace penumbra

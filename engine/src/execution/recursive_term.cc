#include "execution/recursive_term.h"

namespace penumbra {

// What a spilled build gives for a row is known only when all rows have gone through.
RecursiveTerm::RecursiveTerm(const Plan& plan, PenumbraOperator recursion,
                             const std::vector<std::unique_ptr<Sink>>& sinks, ExecutionEnvironment& environment)
    : spec_(FindRecursiveTerm(plan, recursion)), pipeline_(plan, spec_, nullptr, nullptr, -1, sinks) {
  for (size_t i = 0; i < spec_.steps.size(); ++i) {
    if (pipeline_.join(i) != nullptr && pipeline_.join(i)->is_spilled()) throw EngineError(PENUMBRA_OUT_OF_MEMORY);
  }
  cursor_ = std::make_unique<PipelineCursor>(pipeline_, environment);
}

}  // namespace penumbra

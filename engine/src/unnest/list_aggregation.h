// Aggregates of the elements of each row's own lists.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/multiplying_step.h"
#include "unnest/unnest_spec.h"

namespace penumbra {

// The spec, which is aggregated, outlives it.
std::unique_ptr<MultiplyingStep> CreateListAggregation(const UnnestSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

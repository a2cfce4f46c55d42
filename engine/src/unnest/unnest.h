// Unnesting: rows become as many rows as their lists have elements, or as a column says.
#pragma once

#include <memory>

#include "operator/multiplying_step.h"
#include "unnest/unnest_spec.h"
#include "vector/arena.h"

namespace penumbra {

// The spec outlives it.
std::unique_ptr<MultiplyingStep> CreateUnnest(const UnnestSpec& spec, MemoryBudget* budget);

}  // namespace penumbra

// Unnesting: rows become as many rows as their lists have elements, or as a column says.
#pragma once

#include <memory>

#include "operator/multiplying_step.h"
#include "unnest/unnest_spec.h"
#include "vector/arena.h"

namespace penumbra {

// The spec outlives it. Whether it is aggregated does not matter.
class UnnestStep : public MultiplyingStep {
 public:
  // Of each row of the batch that Next() gave the row of the input.
  virtual const uint16_t* input_rows() const = 0;
};
std::unique_ptr<UnnestStep> CreateUnnest(const UnnestSpec& spec, MemoryBudget* budget);

}  // namespace penumbra

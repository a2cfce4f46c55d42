// The sort as a sink.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "sort/sort_spec.h"

namespace penumbra {

// Sort, or top-N when there is a limit.
std::unique_ptr<Sink> CreateSort(const SortSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

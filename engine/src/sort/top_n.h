// The first rows of an order, for a limit and an offset that are small.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "sort/sort_spec.h"

namespace penumbra {

std::unique_ptr<Sink> CreateTopN(const SortSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

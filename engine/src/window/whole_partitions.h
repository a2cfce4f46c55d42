// Aggregates of whole partitions: nothing is sorted.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "window/window_spec.h"

namespace penumbra {

// Whether all functions are aggregates of whole partitions, of one argument at most, and nobody asks for an order.
bool IsOfWholePartitions(const WindowSpec& spec);

// `sorted`: computes the same otherwise, and gets the rows when they do not fit into memory.
std::unique_ptr<Sink> CreateWholePartitions(const WindowSpec& spec, ExecutionEnvironment& environment,
                                            std::unique_ptr<Sink> sorted);

}  // namespace penumbra

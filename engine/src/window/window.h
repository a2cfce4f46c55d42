// Window functions as a sink.
#pragma once

#include <memory>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "window/window_spec.h"

namespace penumbra {

std::unique_ptr<Sink> CreateWindow(const WindowSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

// The stack of another process, taken while it is stopped for a moment.
#pragma once

#include <sys/types.h>

#include <string>

#include "raw_stack.h"

namespace penumbra::symbolize {

struct ProcessStack {
  RawStack stack;
  int64_t stopped_ns = 0;  // how long the process stood still
  std::string error;       // empty where all went well
  std::string hint;
};

// Of the process's main thread. It is stopped to copy its registers and its stack, and runs on
// while the copy is unwound by the unwind tables (CFI) of its modules. It runs on, too, if this
// process dies.
ProcessStack CaptureProcess(pid_t pid);

}  // namespace penumbra::symbolize

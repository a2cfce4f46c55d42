// Places where a test keeps a thread back until other threads are where it wants them, so that a race is no matter of
// luck. Nothing is there but in tests.
#pragma once

#include <atomic>

namespace penumbra {

class Pipeline;

enum class StopPoint {
  kBeforeJoin,  // a thread that saw work, with Executor::mutex_; others claim morsels without it
  kJoined,      // the thread takes part, and has claimed nothing
};

// `active`: threads in the pipeline.
using StopFunction = void (*)(StopPoint point, const Pipeline& pipeline, int active);
inline std::atomic<StopFunction> stop_function{nullptr};

inline void StopAt(StopPoint point, const Pipeline& pipeline, int active) {
  if (const StopFunction stop = stop_function.load(std::memory_order_relaxed)) stop(point, pipeline, active);
}

}  // namespace penumbra

// Whether an execution is to end. Every loop that can run longer than some milliseconds calls CheckCancelled().
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>

#include "vector/error.h"

namespace penumbra {

struct Cancellation {
  std::atomic<bool> is_cancelled{false};
  // Of PenumbraExecOptions. Between calls they mean nothing to the execution, so engine threads do not look.
  const volatile sig_atomic_t* interrupts[2] = {};
  const pthread_t caller = pthread_self();

  void CheckCancelled() const {
    if (is_cancelled.load(std::memory_order_relaxed) || IsInterrupted()) throw EngineError(PENUMBRA_CANCELLED);
  }

 private:
  bool IsInterrupted() const {
    if (!pthread_equal(pthread_self(), caller)) return false;
    return (interrupts[0] != nullptr && *interrupts[0] != 0) || (interrupts[1] != nullptr && *interrupts[1] != 0);
  }
};

}  // namespace penumbra

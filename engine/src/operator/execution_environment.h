// What all operators of one execution share: memory, disk, cancellation.
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstddef>

#include "expression/expr.h"
#include "operator/spill_file.h"
#include "penumbra/engine.h"
#include "vector/arena.h"

namespace penumbra {

// Every loop that can run longer than some milliseconds calls CheckCancelled().
struct ExecutionEnvironment {
  MemoryBudget budget;
  std::atomic<bool> is_cancelled{false};
  SpillSpace spill_space;
  int thread_count = 1;  // that call Consume, the caller's included
  const Session& session;
  // Of PenumbraExecOptions. Between calls they mean nothing to the execution, so engine threads do not look.
  const volatile sig_atomic_t* interrupts[2] = {};
  const pthread_t caller = pthread_self();
  bool is_timed = false;

  ExecutionEnvironment(size_t budget_bytes, const Session& s, const char* temporary_prefix = nullptr,
                       PenumbraTemporarySpace* temporary_space = nullptr, const SharedMemory& shared_memory = {})
      : budget(budget_bytes, shared_memory),
        spill_space(temporary_prefix != nullptr ? temporary_prefix : "/tmp/penumbra_spill", temporary_space),
        session(s) {}
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

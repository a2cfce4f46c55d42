// What an execution has of the threads that it shares with executions of other sessions, and other processes.
//
// The rule: a caller's thread runs in any case; any other thread needs a ticket, and there are as many as leave no more
// than max_threads running, the callers' included, and of one execution no more than it has `threads` and the caller.
// Between two morsels a thread gives its ticket back if more run than that or others wait, and its execution has more
// than an equal share or has worked more than those who wait. While the caller waits for its threads, one of them runs
// in its place, so that no execution ever stands still, and no processor does where all threads are one execution's.
//
// How much an execution has worked is told by a level, so that the shared numbers are few, and on one cache line.
// What others change is read without a lock; whoever acts on it looks again, and takes or gives one ticket at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "penumbra/engine.h"

namespace penumbra {

class ThreadTickets {
 public:
  explicit ThreadTickets(const PenumbraExecOptions& options)
      : all_(options.all_usage),
        own_(options.own_usage),
        max_threads_(options.max_threads),
        own_max_(1 + static_cast<uint32_t>(std::max(options.threads, 0))) {}
  ThreadTickets(const ThreadTickets&) = delete;

  // The caller's thread is in the engine for as long as this lives.
  class Call {
   public:
    explicit Call(ThreadTickets& tickets);
    ~Call();
    Call(const Call&) = delete;

   private:
    ThreadTickets& tickets_;
    const std::chrono::steady_clock::time_point begun_;
  };

  // Read by any thread at any time.

  bool are_shared() const { return all_ != nullptr; }
  // Whether a thread more may run, as far as one can see.
  bool MayTake() const;
  // Whether a thread between two morsels should give its ticket back.
  bool IsNeededElsewhere() const;
  void AddWork(std::chrono::nanoseconds time) {
    if (all_ != nullptr) work_ns_.fetch_add(time.count(), std::memory_order_relaxed);
  }

  // Under the executor's mutex.

  bool TryTake();
  void Give();
  // Gives, if it still is needed and another thread of the execution runs.
  bool TryGive();
  // The caller waits for its threads.
  void BeginWait();
  void EndWait();

  // By the caller, in a call: whether the execution has work for another thread.
  void SetWaiting(bool is_waiting);
  // So many threads may be started for tickets.
  int free_tickets() const;

 private:
  int level() const;
  bool IsAllTaken() const;
  // Of executions at the level: others that wait.
  bool HasWaiting(int level) const;
  // Whether so many are less than an equal share for each caller.
  bool IsBelowShare(uint64_t threads) const;
  uint32_t running() const;
  void Balance();

  PenumbraUsage* const all_;
  PenumbraUsage* const own_;
  const uint32_t max_threads_;
  const uint32_t own_max_;                 // of this execution's, the caller's included
  std::atomic<int64_t> work_ns_{0};        // of all its threads
  std::atomic<uint32_t> threads_{0};       // of the engine, that run
  std::atomic<bool> is_caller_in_{false};  // and does not wait
  std::atomic<int> waiting_level_{-1};     // at which it is counted in `waiting`
  bool is_in_call_ = false;
  bool caller_waits_ = false;
  uint32_t held_ = 0;  // tickets: one per thread, but for the one in the place of a caller that waits
  std::chrono::steady_clock::time_point wait_begun_;
  std::chrono::nanoseconds waited_{0};  // in this call
};

}  // namespace penumbra

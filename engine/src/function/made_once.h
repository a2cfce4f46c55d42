// What all threads of all executions of a plan share, and what takes long to make.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "expression/expr.h"

namespace penumbra {

// Made by the thread that asks first, while no lock is held. If that is cancelled, or fails, the next one makes it.
template <typename T>
class MadeOnce {
 public:
  // `make` returns a unique_ptr. Others wait, and look at a cancel while they do: no engine thread sees the caller's
  // interrupts.
  template <typename Make>
  const T& Get(const EvalContext& context, const Make& make) const {
    if (const T* value = value_.load(std::memory_order_acquire)) return *value;
    std::unique_lock lock(mutex_);
    while (is_in_the_making_) {
      context.CheckCancelled();
      changed_.wait_for(lock, std::chrono::milliseconds(10));
    }
    if (owner_ == nullptr) {
      const Making making(*this, &lock);
      owner_ = make();
      value_.store(owner_.get(), std::memory_order_release);
    }
    return *owner_;
  }

 private:
  class Making {
   public:
    Making(const MadeOnce& of, std::unique_lock<std::mutex>* lock) : of_(of), lock_(*lock) {
      of_.is_in_the_making_ = true;
      lock_.unlock();
    }
    ~Making() {
      lock_.lock();
      of_.is_in_the_making_ = false;
      of_.changed_.notify_all();
    }
    Making(const Making&) = delete;

   private:
    const MadeOnce& of_;
    std::unique_lock<std::mutex>& lock_;
  };

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool is_in_the_making_ = false;
  mutable std::unique_ptr<const T> owner_;
  mutable std::atomic<const T*> value_{nullptr};
};

}  // namespace penumbra

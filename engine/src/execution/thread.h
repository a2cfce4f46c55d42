// A thread of the engine inside a process that belongs to somebody else: all signals are blocked, so
// that handlers run on the process's own threads only, and the stack is small.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>

namespace penumbra {

class EngineThread {
 public:
  // Null function and is_running() false when the system gives no thread.
  explicit EngineThread(std::function<void()> main);
  ~EngineThread() { Join(); }
  EngineThread(EngineThread&& other) noexcept
      : main_(std::move(other.main_)), thread_(other.thread_), is_running_(other.is_running_) {
    other.is_running_ = false;
  }
  EngineThread& operator=(EngineThread&&) = delete;

  bool is_running() const { return is_running_; }
  void Join();

 private:
  std::unique_ptr<std::function<void()>> main_;
  pthread_t thread_{};
  bool is_running_ = false;
};

}  // namespace penumbra

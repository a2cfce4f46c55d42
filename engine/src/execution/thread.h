// A thread of the engine inside a process that belongs to somebody else: signals are blocked, so that
// handlers run on the process's own threads only, and the stack is small.
//
// Not blocked are SIGSEGV, SIGBUS, SIGILL and SIGABRT: what the thread itself raises by a fault goes to
// this thread whatever its mask is, and if it is blocked, the kernel ends the process without a call of
// the handler, so that nobody reports the crash. PostgreSQL has no handlers for these; who installs one
// (penumbra_backtrace) has it run here, on an alternate stack, which an overflow of the thread's own needs.
// SIGFPE stays blocked: PostgreSQL's handler raises an error by longjmp(), which only the main thread may.
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

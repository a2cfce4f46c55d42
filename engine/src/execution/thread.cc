#include "execution/thread.h"

#include <signal.h>

#include <cstddef>

#include "expression/expr.h"

namespace penumbra {
namespace {

// For handlers of faults. It lies at the base of the thread's stack, where nothing that overflows gets.
constexpr size_t kSignalStackBytes = size_t{128} << 10;
// Room for what runs around an evaluation, and for the frames of a build with sanitizers.
constexpr size_t kStackBytes = 8 * kEvaluationStackBytes + kSignalStackBytes;
constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT};

void* Run(void* argument) {
  alignas(64) char signal_stack[kSignalStackBytes];
  stack_t stack{};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof(signal_stack);
  // AddressSanitizer gives threads one, and takes it back itself.
  stack_t given;
  if (sigaltstack(nullptr, &given) == 0 && (given.ss_flags & SS_DISABLE) != 0) {
    sigaltstack(&stack, nullptr);
  }
  (*static_cast<std::function<void()>*>(argument))();
  return nullptr;
}

}  // namespace

EngineThread::EngineThread(std::function<void()> main)
    : main_(std::make_unique<std::function<void()>>(std::move(main))) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // A thread inherits the mask of its creator, so that no signal can reach it before it blocks them.
  sigset_t blocked, previous;
  sigfillset(&blocked);
  for (const int fault : kFaults) sigdelset(&blocked, fault);
  if (pthread_sigmask(SIG_SETMASK, &blocked, &previous) == 0) {
    is_running_ = pthread_create(&thread_, &attributes, &Run, main_.get()) == 0;
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }
  pthread_attr_destroy(&attributes);
  if (is_running_) pthread_setname_np(thread_, "penumbra");
}

void EngineThread::Join() {
  if (is_running_) pthread_join(thread_, nullptr);
  is_running_ = false;
}

}  // namespace penumbra

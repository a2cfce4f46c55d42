#include "execution/thread.h"

#include <signal.h>

#include <cstddef>

namespace penumbra {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;

void* Run(void* argument) {
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
  sigset_t all_signals, previous;
  sigfillset(&all_signals);
  if (pthread_sigmask(SIG_SETMASK, &all_signals, &previous) == 0) {
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

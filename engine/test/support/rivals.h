// Executions that are not there: all tickets are taken, and somebody waits for one, then not, again and again.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "support/query.h"

namespace penumbra::test {

class Rivals {
 public:
  explicit Rivals(Input* input) : thread_([this] { Run(); }) {
    input->all_usage = &all_;
    input->own_usage = &own_;
    input->max_threads = kThreads;
  }
  // Nothing may be left of the execution, which has ended.
  ~Rivals() {
    is_over_ = true;
    thread_.join();
    for (const PenumbraUsage* counts : {&all_, &own_}) {
      EXPECT_EQ(counts->callers, 0u);
      EXPECT_EQ(counts->tickets, 0u);
      for (const uint32_t waiting : counts->waiting) EXPECT_EQ(waiting, 0u);
    }
  }
  Rivals(const Rivals&) = delete;

 private:
  static constexpr uint32_t kThreads = 8;

  void Run() {
    std::atomic_ref tickets(all_.tickets), waiting(all_.waiting[0]);
    while (!is_over_) {
      tickets += kThreads;
      waiting += 1;
      std::this_thread::sleep_for(std::chrono::microseconds(30));
      tickets -= kThreads;
      waiting -= 1;
      std::this_thread::sleep_for(std::chrono::microseconds(30));
    }
  }

  PenumbraUsage all_{};
  PenumbraUsage own_{};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace penumbra::test

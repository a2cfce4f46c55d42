#include "function/made_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "vector/arena.h"

namespace penumbra {
namespace {

class MadeOnceTest : public testing::Test {
 protected:
  Cancellation cancellation_;
  Arena arena_;
  Session session_;
  EvalContext context_{arena_, session_, nullptr, &cancellation_};
  MadeOnce<int> number_;
};

TEST_F(MadeOnceTest, IsMadeByOneThread) {
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(number_.Get(context_, [&] { return std::make_unique<int>(++made); }), 1); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(MadeOnceTest, IsMadeAgainAfterAFailure) {
  const auto fail = [&]() -> std::unique_ptr<int> { throw EngineError(PENUMBRA_CANCELLED); };
  EXPECT_THROW(number_.Get(context_, fail), EngineError);
  EXPECT_EQ(number_.Get(context_, [] { return std::make_unique<int>(2); }), 2);
}

// The caller's interrupts are seen by its own thread only, which waits for another one here.
TEST_F(MadeOnceTest, ACallerThatWaitsSeesItsInterrupts) {
  std::atomic<bool> is_making{false}, may_end{false};
  std::thread other([&] {
    number_.Get(context_, [&] {
      is_making = true;
      while (!may_end) std::this_thread::yield();
      return std::make_unique<int>(3);
    });
  });
  while (!is_making) std::this_thread::yield();
  const volatile sig_atomic_t interrupt = 1;
  cancellation_.interrupts[0] = &interrupt;
  EXPECT_THROW(number_.Get(context_, [] { return std::make_unique<int>(4); }), EngineError);
  may_end = true;
  other.join();
  EXPECT_EQ(number_.Get(context_, [] { return std::make_unique<int>(5); }), 3);
}

}  // namespace
}  // namespace penumbra

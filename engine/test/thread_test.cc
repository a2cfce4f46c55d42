#include "execution/thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace penumbra {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// As penumbra_backtrace installs its handler.
void InstallFaultHandler() {
  struct sigaction action{};
  action.sa_handler = [](int signal_number) {
    constexpr char kMessage[] = "handled on the thread";
    if (write(STDERR_FILENO, kMessage, strlen(kMessage)) > 0) _exit(signal_number);
  };
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGABRT}) sigaction(fault, &action, nullptr);
}

void CrashInThread(void (*crash)()) {
  InstallFaultHandler();
  EngineThread thread([crash] { crash(); });
  thread.Join();
}

int Overflow(int depth) {
  volatile char block[256];
  if (depth < 0) return 0;
  block[depth % 256] = static_cast<char>(depth);
  return Overflow(depth + 1) + block[depth % 100];
}

int* volatile null = nullptr;
// The fault itself is wanted, not a sanitizer's report of it.
[[gnu::no_sanitize("address", "undefined")]] void StoreToNull() { *null = 1; }
void Abort() { abort(); }
void OverflowStack() { Overflow(0); }

// The standard signals that reach the calling thread.
std::string UnblockedSignals() {
  std::string names;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int number = 1; number < 32; ++number) {
    const bool can_be_blocked = number != SIGKILL && number != SIGSTOP;
    if (can_be_blocked && sigismember(&blocked, number) == 0) {
      names += std::string(sigabbrev_np(number)) + " ";
    }
  }
  return names;
}

TEST(EngineThread, BlocksAllSignalsButFaults) {
  const std::string before = UnblockedSignals();
  std::string unblocked;
  EngineThread thread([&] { unblocked = UnblockedSignals(); });
  ASSERT_TRUE(thread.is_running());
  thread.Join();
  EXPECT_EQ(unblocked, "ILL ABRT BUS SEGV ");
  EXPECT_EQ(UnblockedSignals(), before);
}

TEST(EngineThreadDeathTest, FaultsAreHandled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(CrashInThread(&StoreToNull), testing::ExitedWithCode(SIGSEGV), "handled on the thread");
  EXPECT_EXIT(CrashInThread(&Abort), testing::ExitedWithCode(SIGABRT), "handled on the thread");
}

TEST(EngineThreadDeathTest, StackOverflowIsHandled) {
  if (kIsSanitized) GTEST_SKIP() << "its frames are larger, its alternate stack is its own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(CrashInThread(&OverflowStack), testing::ExitedWithCode(SIGSEGV), "handled on the thread");
}

}  // namespace
}  // namespace penumbra

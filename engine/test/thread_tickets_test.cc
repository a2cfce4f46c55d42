// Executions that share threads.
#include "execution/thread_tickets.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/query.h"

namespace penumbra::test {
namespace {

class Shared {
 public:
  explicit Shared(uint32_t max_threads, int threads = 100) {
    options_.threads = threads;
    options_.all_usage = &all;
    options_.own_usage = &own;
    options_.max_threads = max_threads;
  }
  const PenumbraExecOptions& options() const { return options_; }

  PenumbraUsage all{};
  PenumbraUsage own{};

 private:
  PenumbraExecOptions options_{};
};

// An execution whose caller is in the engine.
struct Execution {
  explicit Execution(Shared& shared) : tickets(shared.options()) { call.emplace(tickets); }
  ~Execution() {
    while (threads-- > 0) tickets.Give();
  }
  int TakeAll() {
    while (tickets.TryTake()) ++threads;
    return threads;
  }
  // What its threads do between two morsels.
  void GiveWhatOthersNeed() {
    while (threads > 0 && tickets.IsNeededElsewhere() && tickets.TryGive()) --threads;
  }

  ThreadTickets tickets;
  std::optional<ThreadTickets::Call> call;
  int threads = 0;
};

TEST(ThreadTickets, OneExecutionTakesAllButItsCallers) {
  Shared shared(8);
  {
    Execution one(shared);
    EXPECT_EQ(one.TakeAll(), 7);
    EXPECT_FALSE(one.tickets.MayTake());
    EXPECT_FALSE(one.tickets.IsNeededElsewhere());
    EXPECT_EQ(shared.all.tickets, 7u);
    EXPECT_EQ(shared.own.tickets, 7u);
  }
  EXPECT_EQ(shared.all.tickets, 0u);
  EXPECT_EQ(shared.all.callers, 0u);
}

TEST(ThreadTickets, ACallerRunsInAnyCaseAndAnotherThreadEnds) {
  Shared shared(8);
  Execution one(shared);
  one.TakeAll();
  Execution other(shared);
  EXPECT_EQ(shared.all.callers + shared.all.tickets, 9u);
  EXPECT_EQ(other.TakeAll(), 0);
  one.GiveWhatOthersNeed();
  EXPECT_EQ(one.threads, 6);
}

// Neither takes turns with the other for ever, nor stays a thread idle.
TEST(ThreadTickets, EquallyOldOnesShareEqually) {
  for (const uint32_t max_threads : {8u, 9u, 64u}) {
    Shared shared(max_threads);
    Execution one(shared), other(shared), third(shared);
    one.TakeAll();
    for (int round = 0; round < 100; ++round) {
      for (Execution* execution : {&one, &other, &third}) {
        execution->tickets.SetWaiting(true);
        execution->GiveWhatOthersNeed();
        execution->TakeAll();
      }
    }
    EXPECT_EQ(shared.all.callers + shared.all.tickets, max_threads);
    for (Execution* execution : {&one, &other, &third}) {
      EXPECT_NEAR(execution->threads + 1, max_threads / 3.0, 1.5);
    }
  }
}

TEST(ThreadTickets, WhoHasWorkedLessComesFirst) {
  Shared shared(8);
  Execution longer(shared);
  longer.tickets.AddWork(std::chrono::seconds(10));
  longer.TakeAll();
  Execution shorter(shared);
  shorter.tickets.SetWaiting(true);
  for (int round = 0; round < 100; ++round) {
    longer.GiveWhatOthersNeed();
    shorter.TakeAll();
  }
  EXPECT_EQ(shorter.threads, 6);
  EXPECT_EQ(longer.threads, 0);
  // Not as long as the shorter one has work for more.
  shorter.tickets.Give();
  --shorter.threads;
  EXPECT_EQ(longer.TakeAll(), 0);
  shorter.tickets.SetWaiting(false);
  EXPECT_EQ(longer.TakeAll(), 1);
  EXPECT_EQ(shared.all.callers + shared.all.tickets, 8u);
}

TEST(ThreadTickets, AThreadRunsInPlaceOfACallerThatWaits) {
  Shared shared(2);
  Execution one(shared), other(shared), third(shared);
  EXPECT_FALSE(one.tickets.TryTake());
  one.tickets.BeginWait();
  EXPECT_TRUE(one.tickets.TryTake());
  EXPECT_FALSE(one.tickets.TryTake());
  // The last one goes on.
  EXPECT_FALSE(one.tickets.TryGive());
  EXPECT_EQ(shared.all.tickets, 0u);
  one.tickets.EndWait();
  EXPECT_EQ(shared.all.tickets, 1u);
  EXPECT_TRUE(one.tickets.IsNeededElsewhere());
  EXPECT_TRUE(one.tickets.TryGive());
  EXPECT_EQ(shared.all.tickets, 0u);
}

TEST(ThreadTickets, AnExecutionRunsNoMoreThanItsThreadsAndItsCaller) {
  Shared shared(8, 2);
  Execution one(shared);
  EXPECT_EQ(one.tickets.free_tickets(), 2);
  EXPECT_EQ(one.TakeAll(), 2);
  // All three threads of an execution may run while its caller waits; the last stops when the caller goes on.
  one.tickets.BeginWait();
  EXPECT_EQ(one.TakeAll(), 3);
  EXPECT_EQ(one.tickets.free_tickets(), 0);
  EXPECT_FALSE(one.tickets.IsNeededElsewhere());
  one.tickets.EndWait();
  EXPECT_TRUE(one.tickets.IsNeededElsewhere());
  one.GiveWhatOthersNeed();
  EXPECT_EQ(one.threads, 2);
  EXPECT_EQ(shared.all.tickets, 2u);
}

// Many executions of several kinds at once: each answer is right, never do more run than may, and nothing is left.
TEST(ThreadTickets, ManyExecutions) {
  constexpr uint32_t kRows = 300'000, kMaxThreads = 6, kSessions = 4;
  const std::vector<PenumbraType> types = {PENUMBRA_INT8, PENUMBRA_INT8};
  std::vector<Table> tables;
  std::vector<Chunk> chunks;
  for (uint32_t begin = 0; begin < kRows; begin += 50'000) {
    tables.emplace_back(types, 50'000, [begin](uint32_t row, int column) -> Cell {
      return std::to_string(column == 0 ? begin + row : (begin + row) * uint64_t{7919} % 100'003);
    });
    chunks.emplace_back(tables.back());
  }
  PenumbraUsage all{};
  std::vector<PenumbraUsage> own(kSessions);
  std::atomic<bool> is_over{false};
  std::atomic<uint32_t> most_tickets{0};
  std::thread observer([&] {
    while (!is_over) {
      most_tickets = std::max(most_tickets.load(), std::atomic_ref(all.tickets).load());
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> sessions;
  for (uint32_t session = 0; session < kSessions; ++session) {
    sessions.emplace_back([&, session] {
      for (uint32_t i = 0; i < 6; ++i) {
        Input input;
        for (const Chunk& chunk : chunks) input.chunks.push_back(&chunk);
        input.threads = 5;
        input.all_usage = &all;
        input.own_usage = &own[session];
        input.max_threads = kMaxThreads;
        PlanBuilder plan(types);
        switch ((session + i) % 3) {
          case 0: plan.Aggregate({}, {CountStar()}); break;
          case 1: plan.Aggregate({plan.Column(1)}, {CountStar()}); break;
          default: plan.Sort({{plan.Column(1), false, false}}); break;
        }
        const Output output = test::Run(plan, input);
        EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        const size_t expected[] = {1, 100'003, kRows};
        EXPECT_EQ(output.rows.size(), expected[(session + i) % 3]);
      }
    });
  }
  for (std::thread& session : sessions) session.join();
  is_over = true;
  observer.join();
  // A thread that runs while its caller waits counts for a moment when that wakes.
  EXPECT_LE(most_tickets, kMaxThreads + kSessions);
  own.push_back(all);
  ExpectNoThreads(own);
}

}  // namespace
}  // namespace penumbra::test

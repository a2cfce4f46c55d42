// Executions that share memory.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/query.h"
#include "vector/arena.h"

namespace penumbra::test {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

TEST(SharedMemory, WhoHoldsMoreThanAnEqualShareSpills) {
  PenumbraUsage all{}, own{};
  {
    const SharedMemory shared{&all, &own, 16 * kMegabyte};
    MemoryBudget one(64 * kMegabyte, shared), other(64 * kMegabyte, shared), small(64 * kMegabyte, shared);
    small.Add(kMegabyte / 2);
    one.Add(15 * kMegabyte);
    EXPECT_EQ(all.holders, 1u);
    EXPECT_FALSE(one.IsExceeded());
    EXPECT_EQ(one.budget_bytes(), 16 * kMegabyte);
    other.Add(4 * kMegabyte);
    EXPECT_EQ(all.holders, 2u);
    EXPECT_EQ(one.budget_bytes(), 8 * kMegabyte);
    EXPECT_TRUE(one.IsExceeded());
    EXPECT_FALSE(other.IsExceeded());
    EXPECT_FALSE(small.IsExceeded());
    one.Subtract(10 * kMegabyte);
    other.Add(5 * kMegabyte);
    EXPECT_FALSE(other.IsExceeded());  // more than its share, but all together hold less than they may
    one.Subtract(5 * kMegabyte);
    other.Subtract(9 * kMegabyte);
    small.Subtract(kMegabyte / 2);
  }
  EXPECT_EQ(all.memory_bytes, 0u);
  EXPECT_EQ(all.holders, 0u);
  EXPECT_EQ(own.memory_bytes, 0u);
  EXPECT_EQ(own.holders, 0u);
}

// Executions that each have room alone: together they spill, and give the same answers.
TEST(SharedMemory, ManyExecutions) {
  constexpr uint32_t kRows = 200'000, kSessions = 4;
  constexpr uint64_t kMaxBytes = 16 * kMegabyte;
  const std::vector<PenumbraType> types = {PENUMBRA_INT8, PENUMBRA_INT8, PENUMBRA_INT8};
  const Table table(types, kRows, [](uint32_t row, int) -> Cell { return std::to_string(row); });
  const Chunk chunk(table);
  PenumbraUsage all{};
  std::vector<PenumbraUsage> own(kSessions);
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> most_bytes{0}, spilled_bytes{0};
  std::thread observer([&] {
    while (!is_over) {
      most_bytes = std::max(most_bytes.load(), std::atomic_ref(all.memory_bytes).load());
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> sessions;
  for (uint32_t session = 0; session < kSessions; ++session) {
    sessions.emplace_back([&, session] {
      for (int i = 0; i < 3; ++i) {
        Input input;
        input.chunks = {&chunk};
        input.threads = 2;
        input.all_usage = &all;
        input.own_usage = &own[session];
        input.max_threads = 16;
        input.max_memory_bytes = kMaxBytes;
        PlanBuilder plan(types);
        if (session % 2 == 0) {
          plan.Aggregate({plan.Column(0), plan.Column(1), plan.Column(2)}, {CountStar()});
        } else {
          plan.Sort({{plan.Column(1), true, false}});
        }
        const Output output = test::Run(plan, input);
        EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        EXPECT_EQ(output.rows.size(), kRows);
        for (const PenumbraOperatorStats& stats : output.operators) spilled_bytes += stats.spilled_bytes;
      }
    });
  }
  for (std::thread& session : sessions) session.join();
  is_over = true;
  observer.join();
  EXPECT_GT(spilled_bytes, 0u);
  // What is on its way to the files, and results.
  EXPECT_LT(most_bytes, 4 * kMaxBytes);
  own.push_back(all);
  for (const PenumbraUsage& usage : own) {
    EXPECT_EQ(usage.memory_bytes, 0u);
    EXPECT_EQ(usage.holders, 0u);
  }
}

}  // namespace
}  // namespace penumbra::test

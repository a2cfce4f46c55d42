// Threads that come to a pipeline while others claim the last of its morsels, for which those need no lock.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "execution/pipeline.h"
#include "execution/stop_points.h"
#include "support/nested_loop.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kTypes = {PENUMBRA_INT8, PENUMBRA_INT8};
constexpr int kBuilds = 3;
constexpr uint32_t kBuildRows = 1000;  // one morsel, and too few for a peek
constexpr uint32_t kKeys = 1500;

// Column 0: the row modulo kKeys; column 1: the row.
Table Numbers(uint32_t rows, uint32_t first = 0) {
  return Table(kTypes, rows, [first](uint32_t row, int column) {
    return std::to_string(column == 0 ? (first + row) % kKeys : first + row);
  });
}

// Rows for so many threads, joined with kBuilds tables and counted: two of three rows of the first.
class Query {
 public:
  explicit Query(int threads) : threads_(threads), build_(Numbers(kBuildRows)), build_chunk_(build_), plan_(kTypes) {
    for (int i = 0; i < threads; ++i) {
      tables_.push_back(Numbers(kThreadRows, i * kThreadRows));
      chunks_.emplace_back(tables_.back());
    }
    PenumbraOperator probe = plan_.scan();
    for (int i = 0; i < kBuilds; ++i) {
      builds_.push_back(plan_.Scan());
      probe = plan_.Join(probe, builds_.back(), PENUMBRA_JOIN_INNER,
                         {{plan_.ColumnOf(probe, 0), plan_.ColumnOf(builds_.back(), 0), false}});
    }
    plan_.Aggregate({}, {CountStar()});
    plan_.Finish();
  }
  const PlanBuilder& plan() const { return plan_; }
  int64_t answer() const { return int64_t{threads_} * kThreadRows / kKeys * kBuildRows; }
  Input MakeInput() const {
    Input input;
    for (const Chunk& chunk : chunks_) input.chunks.push_back(&chunk);
    for (PenumbraOperator build : builds_) input.others.push_back({build, {&build_chunk_}, {}});
    input.threads = threads_;
    return input;
  }

 private:
  static constexpr uint32_t kThreadRows = 66'000;  // a thread is started for 64 K rows
  static_assert(kThreadRows % kKeys == 0);

  const int threads_;
  std::vector<Table> tables_;
  std::vector<Chunk> chunks_;
  const Table build_;
  const Chunk build_chunk_;
  PlanBuilder plan_;
  std::vector<PenumbraOperator> builds_;
};

template <typename Condition>
bool Await(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::atomic<bool> is_second_there;
std::atomic<int> late_threads;

// The first thread of a pipeline claims nothing until a second one has seen that there is work; the second goes on
// when there is none any more.
void ComeTooLate(StopPoint point, const Pipeline& pipeline, int active) {
  if (point == StopPoint::kJoined) {
    EXPECT_TRUE(Await([] { return is_second_there.load(); }));
    return;
  }
  is_second_there = active > 0;
  if (active == 0) return;
  EXPECT_TRUE(Await([&pipeline] { return !pipeline.HasWork(); }));
  ++late_threads;
}

TEST(LastMorsel, AThreadThatComesTooLateTakesNoPart) {
  const Query query(3);
  const Input input = query.MakeInput();
  stop_function = &ComeTooLate;
  for (int round = 0; round < 10; ++round) {
    late_threads = 0;
    PenumbraExecOptions options{};
    options.memory_budget_bytes = input.memory_bytes;
    options.threads = input.threads;
    PenumbraExec* exec = penumbra_exec_create(query.plan().plan(), &options);
    std::vector<ScanInput> scans = input.others;
    scans.push_back({query.plan().scan(), input.chunks, {}});
    for (const ScanInput& scan : scans) {
      for (const Chunk* chunk : scan.chunks) {
        const PenumbraChunk added = chunk->chunk();
        ASSERT_EQ(penumbra_exec_add_chunk(exec, scan.scan, &added).code, PENUMBRA_OK);
      }
      ASSERT_EQ(penumbra_exec_end_rows(exec, scan.scan).code, PENUMBRA_OK);
    }
    ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
    // The caller would take part.
    EXPECT_TRUE(Await([] { return late_threads == kBuilds + 1; }));
    PenumbraResult result{};
    PenumbraStatus status{};
    PenumbraFetch fetch = PENUMBRA_FETCH_WAIT;
    while (fetch == PENUMBRA_FETCH_WAIT) fetch = penumbra_exec_fetch(exec, &result, &status);
    ASSERT_EQ(fetch, PENUMBRA_FETCH_ROWS) << status.message;
    EXPECT_EQ(static_cast<const int64_t*>(result.columns[0].values)[0], query.answer());
    penumbra_exec_destroy(exec);
  }
  stop_function = nullptr;
}

// The same by luck, and all else that threads may do to each other: above all for -DPENUMBRA_SANITIZE=thread. Sessions
// take each other's tickets away; some spill, and some end in the middle.
TEST(LastMorsel, ManyShortExecutions) {
  constexpr int kSessions = 4, kThreads = 6;
  const Query query(kThreads);
  PenumbraUsage all{};
  std::vector<PenumbraUsage> own(kSessions);
  std::vector<std::thread> sessions;
  for (int session = 0; session < kSessions; ++session) {
    sessions.emplace_back([&, session] {
      Input input = query.MakeInput();
      input.all_usage = &all;
      input.own_usage = &own[session];
      input.max_threads = kThreads;
      for (int i = 0; i < 40; ++i) {
        input.memory_bytes = (session + i) % 4 == 0 ? kNoMemory : kEnoughMemory;
        const sig_atomic_t interrupt = (session + i) % 8 == 5;
        input.interrupt = &interrupt;
        const Output output = test::Run(query.plan(), input);
        if (interrupt != 0) {
          EXPECT_EQ(output.status.code, PENUMBRA_CANCELLED);
          continue;
        }
        EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        EXPECT_EQ(output.rows, (std::vector<Row>{{std::to_string(query.answer())}}));
      }
    });
  }
  for (std::thread& session : sessions) session.join();
  own.push_back(all);
  ExpectNoThreads(own);
}

}  // namespace
}  // namespace penumbra::test

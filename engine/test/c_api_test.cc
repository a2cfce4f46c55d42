// The life cycle of an execution, as an adapter may use and misuse it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "penumbra/engine.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kTypes = {PENUMBRA_INT4, PENUMBRA_TEXT};
constexpr PenumbraOperator kScan = 0;  // the first operator of every plan

Table MakeTable(uint32_t rows) {
  return Table(kTypes, rows, [](uint32_t row, int column) -> Cell {
    return column == 0 ? std::to_string(row) : "value " + std::to_string(row % 1000) + " of a table";
  });
}

PenumbraExec* CreateExec(const PlanBuilder& plan, int threads) {
  PenumbraExecOptions options{size_t{64} << 20, threads, "/tmp"};
  return penumbra_exec_create(plan.Finish(), &options);
}

// Many groups from a string expression: work that lasts.
void AddLongWork(PlanBuilder& plan) {
  PenumbraExpr key = plan.Call(PENUMBRA_FN_CONCAT, PENUMBRA_TEXT,
                               {plan.Column(1), plan.Call(PENUMBRA_FN_CAST, PENUMBRA_TEXT, {plan.Column(0)})});
  plan.Aggregate({key}, {CountStar()});
  plan.Sort({{plan.Column(0), false, false}});
}

TEST(CApiTest, DestroyTakesNull) { penumbra_exec_destroy(nullptr); }

TEST(CApiTest, DestroyAtEveryStage) {
  Table table = MakeTable(100000);
  Chunk chunk(table);
  for (int threads : {0, 3}) {
    for (int stage = 0; stage < 12; ++stage) {
      PlanBuilder plan(kTypes);
      AddLongWork(plan);
      PenumbraExec* exec = CreateExec(plan, threads);
      PenumbraChunk added = chunk.chunk();
      if (stage > 0) {
        for (int i = 0; i < 4; ++i) ASSERT_EQ(penumbra_exec_add_chunk(exec, kScan, &added).code, PENUMBRA_OK);
      }
      if (stage > 1) {
        ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
      }
      if (stage > 2) {
        ASSERT_EQ(penumbra_exec_push_rows(exec, kScan, table.rows()).code, PENUMBRA_OK);
      }
      if (stage > 3) {
        ASSERT_EQ(penumbra_exec_end_rows(exec, kScan).code, PENUMBRA_OK);
      }
      for (int i = 4; i < stage; ++i) {
        PenumbraResult result;
        PenumbraStatus status;
        ASSERT_NE(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_ERROR) << status.message;
      }
      auto begun = std::chrono::steady_clock::now();
      penumbra_exec_destroy(exec);
      EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
    }
  }
}

// By value of the first column, which is the row's number.
void ExpectPositions(const PenumbraResult& result, int64_t first_position) {
  const auto* values = static_cast<const int32_t*>(result.columns[0].values);
  const auto* positions = static_cast<const int64_t*>(result.columns[1].values);
  for (uint32_t i = 0; i < result.rows; ++i) ASSERT_EQ(positions[i], first_position + values[i]);
}

TEST(CApiTest, AColumnWithoutSegmentHasPositions) {
  constexpr int64_t kFirst = int64_t{7} << 33;
  Table table = MakeTable(10000);
  Chunk chunk(table);
  for (const char* divisor : {"1", "2", "997"}) {
    std::vector<PenumbraType> types = kTypes;
    types.push_back(PENUMBRA_INT8);
    PlanBuilder plan(types);
    plan.Filter(
        {plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL,
                   {plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, divisor)}),
                    plan.Constant(PENUMBRA_INT4, "0")})});
    plan.Project({plan.Column(0), plan.Column(static_cast<int>(kTypes.size()))});
    PenumbraExec* exec = CreateExec(plan, 0);
    PenumbraChunk added = chunk.chunk();
    std::vector<const void*> segments(added.segments, added.segments + kTypes.size());
    segments.push_back(nullptr);
    added.segments = segments.data();
    added.first_position = kFirst;
    ASSERT_EQ(penumbra_exec_add_chunk(exec, kScan, &added).code, PENUMBRA_OK);
    ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
    ASSERT_EQ(penumbra_exec_end_rows(exec, kScan).code, PENUMBRA_OK);
    PenumbraResult result;
    PenumbraStatus status;
    uint64_t rows = 0;
    for (PenumbraFetch fetch; (fetch = penumbra_exec_fetch(exec, &result, &status)) != PENUMBRA_FETCH_DONE;) {
      ASSERT_NE(fetch, PENUMBRA_FETCH_ERROR) << status.message;
      if (fetch != PENUMBRA_FETCH_ROWS) continue;
      ExpectPositions(result, kFirst);
      rows += result.rows;
    }
    EXPECT_EQ(rows, (10000 + std::stoul(divisor) - 1) / std::stoul(divisor));
    penumbra_exec_destroy(exec);
  }
}

TEST(CApiTest, FetchReturnsSoonWhileTheWorkIsLong) {
  Table table = MakeTable(200000);
  Chunk chunk(table);
  for (int threads : {0, 2}) {
    PlanBuilder plan(kTypes);
    AddLongWork(plan);
    PenumbraExec* exec = CreateExec(plan, threads);
    PenumbraChunk added = chunk.chunk();
    for (int i = 0; i < 3; ++i) ASSERT_EQ(penumbra_exec_add_chunk(exec, kScan, &added).code, PENUMBRA_OK);
    ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
    ASSERT_EQ(penumbra_exec_end_rows(exec, kScan).code, PENUMBRA_OK);
    PenumbraResult result;
    PenumbraStatus status;
    uint64_t rows = 0;
    int waits = 0;
    while (true) {
      PenumbraFetch fetch = penumbra_exec_fetch(exec, &result, &status);
      ASSERT_NE(fetch, PENUMBRA_FETCH_ERROR) << status.message;
      if (fetch == PENUMBRA_FETCH_DONE) break;
      if (fetch == PENUMBRA_FETCH_ROWS) rows += result.rows;
      if (fetch == PENUMBRA_FETCH_WAIT) ++waits;
    }
    EXPECT_EQ(rows, 200000u);
    EXPECT_GT(waits, 1);
    penumbra_exec_destroy(exec);
  }
}

TEST(CApiTest, AnErrorIsReportedAndStays) {
  Table table = MakeTable(100000);
  Chunk chunk(table);
  PlanBuilder plan(kTypes);
  plan.Project({plan.Call(
      PENUMBRA_FN_DIV, PENUMBRA_INT4,
      {plan.Constant(PENUMBRA_INT4, "1"),
       plan.Call(PENUMBRA_FN_SUB, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "99999")})})});
  PenumbraExec* exec = CreateExec(plan, 2);
  PenumbraChunk added = chunk.chunk();
  for (int i = 0; i < 4; ++i) penumbra_exec_add_chunk(exec, kScan, &added);
  penumbra_exec_start(exec);
  penumbra_exec_end_rows(exec, kScan);
  PenumbraResult result;
  PenumbraStatus status;
  PenumbraFetch fetch;
  do {
    fetch = penumbra_exec_fetch(exec, &result, &status);
    ASSERT_NE(fetch, PENUMBRA_FETCH_DONE);
  } while (fetch != PENUMBRA_FETCH_ERROR);
  EXPECT_EQ(status.code, PENUMBRA_DIVISION_BY_ZERO);
  EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_ERROR);
  EXPECT_EQ(status.code, PENUMBRA_DIVISION_BY_ZERO);
  EXPECT_EQ(penumbra_exec_push_rows(exec, kScan, table.rows()).code, PENUMBRA_DIVISION_BY_ZERO);
  penumbra_exec_destroy(exec);
}

TEST(CApiTest, MisuseIsAnErrorNotACrash) {
  Table table = MakeTable(10);
  PlanBuilder plan(kTypes);
  PenumbraExec* exec = CreateExec(plan, 0);
  PenumbraResult result;
  PenumbraStatus status;
  EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_ERROR);
  EXPECT_EQ(status.code, PENUMBRA_INTERNAL);
  penumbra_exec_destroy(exec);

  exec = CreateExec(plan, 0);
  ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_end_rows(exec, kScan).code, PENUMBRA_OK);
  EXPECT_EQ(penumbra_exec_push_rows(exec, kScan, table.rows()).code, PENUMBRA_INTERNAL);
  penumbra_exec_destroy(exec);

  for (PenumbraOperator no_scan : {-1, 1, 1000}) {
    exec = CreateExec(plan, 0);
    PenumbraChunk chunk{};
    EXPECT_EQ(penumbra_exec_add_chunk(exec, no_scan, &chunk).code, PENUMBRA_INTERNAL);
    EXPECT_EQ(penumbra_exec_wanted_scan(exec), -1);
    penumbra_exec_destroy(exec);
    exec = CreateExec(plan, 0);
    ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
    EXPECT_EQ(penumbra_exec_wanted_scan(exec), kScan);
    EXPECT_EQ(penumbra_exec_end_rows(exec, no_scan).code, PENUMBRA_INTERNAL);
    penumbra_exec_destroy(exec);
  }

  PlanBuilder unfinished(kTypes);
  PenumbraExecOptions options{size_t{1} << 20, 0, "/tmp"};
  EXPECT_EQ(penumbra_exec_create(unfinished.plan(), &options), nullptr);
}

TEST(CApiTest, RowsCanBeFetchedWhileTheyArePushed) {
  PlanBuilder plan(kTypes);
  PenumbraExec* exec = CreateExec(plan, 0);
  ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
  PenumbraResult result;
  PenumbraStatus status;
  EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_WAIT);
  std::string text;
  for (int round = 0; round < 3; ++round) {
    {
      // Results must not point into rows that are gone.
      Table table = MakeTable(1000);
      ASSERT_EQ(penumbra_exec_push_rows(exec, kScan, table.rows()).code, PENUMBRA_OK);
    }
    ASSERT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_ROWS);
    ASSERT_EQ(result.rows, 1000u);
    text.assign(result.columns[1].payloads[999], result.columns[1].payload_lengths[999]);
    EXPECT_EQ(text, "value 999 of a table");
    EXPECT_EQ(static_cast<const int32_t*>(result.columns[0].values)[998], 998);
    EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_WAIT);
  }
  ASSERT_EQ(penumbra_exec_end_rows(exec, kScan).code, PENUMBRA_OK);
  EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_DONE);
  EXPECT_EQ(penumbra_exec_fetch(exec, &result, &status), PENUMBRA_FETCH_DONE);
  penumbra_exec_destroy(exec);
}

TEST(CApiTest, SignalsStayWithTheProcess) {
  static volatile sig_atomic_t handled_elsewhere = 0;
  static pthread_t main_thread;
  main_thread = pthread_self();
  struct sigaction action{}, previous;
  action.sa_handler = [](int) {
    if (pthread_equal(pthread_self(), main_thread) == 0) handled_elsewhere = 1;
  };
  sigaction(SIGUSR1, &action, &previous);
  Table table = MakeTable(200000);
  Chunk chunk(table);
  PlanBuilder plan(kTypes);
  AddLongWork(plan);
  PenumbraExec* exec = CreateExec(plan, 3);
  PenumbraChunk added = chunk.chunk();
  for (int i = 0; i < 3; ++i) penumbra_exec_add_chunk(exec, kScan, &added);
  penumbra_exec_start(exec);
  penumbra_exec_end_rows(exec, kScan);
  PenumbraResult result;
  PenumbraStatus status;
  for (int i = 0; i < 20; ++i) {
    kill(getpid(), SIGUSR1);
    penumbra_exec_fetch(exec, &result, &status);
  }
  penumbra_exec_destroy(exec);
  sigaction(SIGUSR1, &previous, nullptr);
  EXPECT_EQ(handled_elsewhere, 0);
}

TEST(CApiTest, TooLittleMemoryIsAnError) {
  Table table = MakeTable(5000);
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT});
  plan.Sort({{plan.Column(0), false, false}});
  PenumbraExecOptions options{0, 0, "/nonexistent"};
  PenumbraExec* exec = penumbra_exec_create(plan.Finish(), &options);
  ASSERT_NE(exec, nullptr);
  ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
  PenumbraStatus status = penumbra_exec_push_rows(exec, kScan, table.rows());
  PenumbraResult result;
  if (status.code == PENUMBRA_OK) status = penumbra_exec_end_rows(exec, kScan);
  PenumbraFetch fetch = PENUMBRA_FETCH_WAIT;
  while (status.code == PENUMBRA_OK && fetch != PENUMBRA_FETCH_DONE && fetch != PENUMBRA_FETCH_ERROR) {
    fetch = penumbra_exec_fetch(exec, &result, &status);
  }
  // It may fit in the slack, or end with an error that is not a bug.
  EXPECT_NE(status.code, PENUMBRA_INTERNAL) << status.message;
  penumbra_exec_destroy(exec);
}

}  // namespace
}  // namespace penumbra::test

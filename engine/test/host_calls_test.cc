// Functions of the host's: who runs them, how often, and what their errors do.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr int kName = 0;   // of a number, a text; null of 3, "none" of null
constexpr int kHalf = 1;   // of a number; fails for odd ones
constexpr int kJoin = 2;   // of a text and a number, a text
constexpr int kOther = 3;  // of a number, another text
constexpr uint32_t kRows = 200000;

std::string NameOf(int64_t number) {
  return number % 2 == 0 ? "n" + std::to_string(number) : "a name that is not inline " + std::to_string(number);
}

class Host {
 public:
  static bool Call(void* host, int function, const PenumbraResult* arguments, PenumbraColumnInput* results) {
    return static_cast<Host*>(host)->Compute(function, *arguments, results);
  }

  std::multiset<std::string> asked;  // arguments
  size_t calls = 0;

 private:
  bool Compute(int function, const PenumbraResult& arguments, PenumbraColumnInput* results) {
    EXPECT_TRUE(pthread_equal(pthread_self(), caller_));
    ++calls;
    const uint32_t rows = arguments.rows;
    values_.assign(rows, 0);
    lengths_.assign(rows, 0);
    nulls_.assign(rows, 0);
    texts_.assign(rows, {});
    for (uint32_t i = 0; i < rows; ++i) {
      const PenumbraResultColumn& last = arguments.columns[function == kJoin ? 1 : 0];
      const bool is_null = last.nulls != nullptr && last.nulls[i] != 0;
      const int64_t number = is_null ? -1 : static_cast<const int32_t*>(last.values)[i];
      std::string text;
      if (function == kHalf) {
        if (number % 2 != 0) return false;
        values_[i] = static_cast<uint64_t>(number / 2);
        text = std::to_string(number);
      } else if (function == kJoin) {
        const PenumbraResultColumn& first = arguments.columns[0];
        text = std::string(first.payloads[i], first.payload_lengths[i]) + std::to_string(number);
        texts_[i] = text;
      } else {
        text = is_null ? "null" : std::to_string(number);
        texts_[i] = is_null ? "none" : (function == kOther ? "other " : "") + NameOf(number);
        nulls_[i] = number == 3;
      }
      asked.insert(text);
      if (function == kHalf) continue;
      values_[i] = reinterpret_cast<uint64_t>(texts_[i].data());
      lengths_[i] = static_cast<uint32_t>(texts_[i].size());
    }
    *results = {values_.data(), lengths_.data(), nulls_.data()};
    return true;
  }

  const pthread_t caller_ = pthread_self();
  std::vector<uint64_t> values_;
  std::vector<uint32_t> lengths_;
  std::vector<uint8_t> nulls_;
  std::vector<std::string> texts_;
};

// Column 0: a number below `distinct`, null where the row divides by 10; 1: one of four texts.
class HostCallsTest : public ::testing::TestWithParam<int> {
 protected:
  void Load(int distinct) {
    tables_.emplace_back(std::vector<PenumbraType>{PENUMBRA_INT4, PENUMBRA_TEXT}, kRows,
                         [distinct](uint32_t row, int column) -> Cell {
                           if (column == 1) return "t" + std::to_string(row % 4);
                           return row % 10 == 0 ? Cell() : std::to_string(Number(row, distinct));
                         });
    chunks_.emplace_back(tables_.back());
  }
  static int Number(uint32_t row, int distinct) { return static_cast<int>(row * 7919ull % distinct); }

  Output Run(const PlanBuilder& plan, size_t memory_bytes = size_t{256} << 20) {
    Input input;
    input.chunks = {&chunks_.front()};
    input.threads = GetParam();
    input.memory_bytes = memory_bytes;
    input.host_function = Host::Call;
    input.host = &host_;
    return test::Run(plan, input);
  }
  static PenumbraExpr HostCall(PlanBuilder& plan, int function, PenumbraType type, std::vector<PenumbraExpr> args) {
    const PenumbraExpr call =
        penumbra_plan_host_call(plan.plan(), function, type, args.data(), static_cast<int>(args.size()));
    EXPECT_GE(call, 0) << plan.reason();
    EXPECT_TRUE(penumbra_plan_expr_can_fail(plan.plan(), call));
    return call;
  }
  PlanBuilder plan_{{PENUMBRA_INT4, PENUMBRA_TEXT}};
  std::vector<Table> tables_;
  std::vector<Chunk> chunks_;
  Host host_;
};

std::vector<Row> Counts(const std::map<std::string, int>& counts) {
  std::vector<Row> rows;
  for (const auto& [key, count] : counts) rows.push_back({key, std::to_string(count)});
  return Sorted(rows);
}

TEST_P(HostCallsTest, AGroupKeyIsAskedForOncePerArgument) {
  Load(100);
  plan_.Aggregate({HostCall(plan_, kName, PENUMBRA_TEXT, {plan_.Column(0)})}, {CountStar()});
  const Output output = Run(plan_);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::map<std::string, int> expected;
  for (uint32_t row = 0; row < kRows; ++row) {
    const int number = Number(row, 100);
    ++expected[row % 10 == 0 ? "none" : number == 3 ? "NULL" : NameOf(number)];
  }
  EXPECT_EQ(Sorted(output.rows), Counts(expected));
  const std::set<std::string> distinct(host_.asked.begin(), host_.asked.end());
  EXPECT_EQ(host_.asked.size(), distinct.size());
  EXPECT_LE(distinct.size(), 101u);
}

TEST_P(HostCallsTest, ADictionaryAsksForTheEntriesOfItsRows) {
  Load(1000);
  plan_.Filter({plan_.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {plan_.Column(1), plan_.Constant(PENUMBRA_TEXT, "t1")})});
  plan_.Aggregate({HostCall(plan_, kJoin, PENUMBRA_TEXT, {plan_.Column(1), plan_.Constant(PENUMBRA_INT4, "5")})},
                  {CountStar()});
  const Output output = Run(plan_);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  const int quarter = kRows / 4;
  EXPECT_EQ(Sorted(output.rows), Counts({{"t05", quarter}, {"t25", quarter}, {"t35", quarter}}));
  EXPECT_EQ(host_.asked, (std::multiset<std::string>{"t05", "t25", "t35"}));
}

TEST_P(HostCallsTest, TwoArgumentsAreAPair) {
  Load(7);
  plan_.Filter({plan_.Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, {plan_.Column(0)})});
  plan_.Aggregate({HostCall(plan_, kJoin, PENUMBRA_TEXT, {plan_.Column(1), plan_.Column(0)})}, {CountStar()});
  const Output output = Run(plan_);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::map<std::string, int> expected;
  for (uint32_t row = 0; row < kRows; ++row) {
    if (row % 10 != 0) ++expected["t" + std::to_string(row % 4) + std::to_string(Number(row, 7))];
  }
  EXPECT_EQ(Sorted(output.rows), Counts(expected));
  EXPECT_EQ(host_.asked.size(), 28u);
}

TEST_P(HostCallsTest, MoreArgumentsThanAreRememberedGiveTheSame) {
  Load(kRows);
  const PenumbraExpr name = HostCall(plan_, kName, PENUMBRA_TEXT, {plan_.Column(0)});
  plan_.Filter({plan_.Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, {plan_.Column(0)})});
  plan_.Project({name, plan_.Column(0)});
  const Output output = Run(plan_, size_t{1} << 20);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  EXPECT_EQ(output.rows.size(), kRows / 10 * 9);
  for (const Row& row : output.rows) ASSERT_EQ(row[0], row[1] == "3" ? "NULL" : NameOf(std::stoi(row[1])));
}

TEST_P(HostCallsTest, AnErrorEndsTheExecution) {
  Load(1000);
  plan_.Filter({plan_.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL,
                           {HostCall(plan_, kHalf, PENUMBRA_INT4, {plan_.Column(0)}), plan_.Column(0)})});
  plan_.Aggregate({}, {CountStar()});
  EXPECT_EQ(Run(plan_).status.code, PENUMBRA_HOST_ERROR);
}

TEST_P(HostCallsTest, AGuardedErrorDoesNot) {
  Load(1000);
  const PenumbraExpr is_even =
      plan_.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL,
                 {plan_.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4, {plan_.Column(0), plan_.Constant(PENUMBRA_INT4, "2")}),
                  plan_.Constant(PENUMBRA_INT4, "0")});
  const PenumbraExpr half = HostCall(plan_, kHalf, PENUMBRA_INT4, {plan_.Column(0)});
  plan_.Filter({is_even, plan_.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL, {half, plan_.Constant(PENUMBRA_INT4, "10")})});
  plan_.Aggregate({half}, {CountStar()});
  const Output output = Run(plan_);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::map<std::string, int> expected;
  for (uint32_t row = 0; row < kRows; ++row) {
    const int number = Number(row, 1000);
    if (row % 10 != 0 && number % 2 == 0 && number < 20) ++expected[std::to_string(number / 2)];
  }
  EXPECT_EQ(Sorted(output.rows), Counts(expected));
}

// Aggregates share the arguments and the filters that are equal: not those of other functions.
TEST_P(HostCallsTest, AggregatesOfTwoFunctionsAreTwo) {
  Load(100);
  PenumbraAggregateCall names = CountStar();
  names.filter =
      plan_.Call(PENUMBRA_FN_LIKE, PENUMBRA_BOOL,
                 {HostCall(plan_, kName, PENUMBRA_TEXT, {plan_.Column(0)}), plan_.Constant(PENUMBRA_TEXT, "o%")});
  PenumbraAggregateCall others = CountStar();
  others.filter =
      plan_.Call(PENUMBRA_FN_LIKE, PENUMBRA_BOOL,
                 {HostCall(plan_, kOther, PENUMBRA_TEXT, {plan_.Column(0)}), plan_.Constant(PENUMBRA_TEXT, "o%")});
  const auto greatest = [this](int function) {
    return Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_TEXT, HostCall(plan_, function, PENUMBRA_TEXT, {plan_.Column(0)}));
  };
  plan_.Aggregate({}, {greatest(kName), greatest(kOther), greatest(kName), names, others});
  const Output output = Run(plan_);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  int others_expected = 0;
  for (uint32_t row = 0; row < kRows; ++row) others_expected += row % 10 != 0 && Number(row, 100) != 3;
  EXPECT_EQ(output.rows, (std::vector<Row>{{"none", "other n98", "none", "0", std::to_string(others_expected)}}));
}

// The caller goes away while threads wait for it.
TEST_P(HostCallsTest, WaitingThreadsAreStopped) {
  Load(1000);
  plan_.Aggregate({HostCall(plan_, kName, PENUMBRA_TEXT, {plan_.Column(0)})}, {CountStar()});
  PenumbraExecOptions options{};
  options.memory_budget_bytes = size_t{64} << 20;
  options.threads = GetParam();
  options.temporary_prefix = "/tmp/penumbra_test";
  options.host_function = Host::Call;
  options.host = &host_;
  PenumbraExec* exec = penumbra_exec_create(plan_.Finish(), &options);
  const PenumbraChunk chunk = chunks_.front().chunk();
  ASSERT_EQ(penumbra_exec_add_chunk(exec, plan_.scan(), &chunk).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_end_rows(exec, plan_.scan()).code, PENUMBRA_OK);
  ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  penumbra_exec_destroy(exec);
  EXPECT_EQ(host_.calls, 0u);
}

// Sums over frames.
class HostSums {
 public:
  static constexpr uint32_t kFirstThatLoses = 3, kRefusing = 4;  // labels; the last does not lose every 7th row
  static bool Call(void* host, const PenumbraFrames* frames, PenumbraColumnInput* results) {
    return static_cast<HostSums*>(host)->Compute(*frames, results);
  }
  size_t rows = 0;
  size_t states = 0;  // most at a time

 private:
  bool Compute(const PenumbraFrames& frames, PenumbraColumnInput* results) {
    EXPECT_TRUE(pthread_equal(pthread_self(), caller_));
    if (frames.label < kFirstThatLoses) rows += frames.rows.rows;
    states = std::max<size_t>(states, frames.state + 1);
    auto& [sum, has_failed] = sums_[{frames.label, frames.state}];
    values_.clear();
    nulls_.clear();
    uint32_t row = 0;
    for (uint32_t i = 0; i < frames.step_count; ++i) {
      const PenumbraFrameStep& step = frames.steps[i];
      EXPECT_TRUE(!step.takes_away || frames.label >= kFirstThatLoses);
      if (step.restarts) sum = 0, has_failed = false;
      for (uint32_t end = row + step.rows; row < end; ++row) {
        const int32_t value = static_cast<const int32_t*>(frames.rows.columns[0].values)[row];
        sum += step.takes_away ? -value : value;
        has_failed |= step.takes_away && frames.label == kRefusing && value % 7 == 0;
      }
      if (!step.is_finished) continue;
      values_.push_back(static_cast<uint64_t>(sum));
      nulls_.push_back(has_failed ? PENUMBRA_FRAME_AGAIN : sum == 0);
    }
    EXPECT_EQ(row, frames.rows.rows);
    EXPECT_EQ(values_.size(), frames.result_count);
    *results = {values_.data(), nullptr, nulls_.data()};
    return true;
  }

  const pthread_t caller_ = pthread_self();
  std::map<std::pair<uint32_t, uint32_t>, std::pair<int64_t, bool>> sums_;  // and whether it did not lose a row
  std::vector<uint64_t> values_;
  std::vector<uint8_t> nulls_;
};

TEST_P(HostCallsTest, AWindowsFramesGoOnWhereTheyGrow) {
  constexpr int kPartition = 1000;
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_INT4});
  const Table table({PENUMBRA_INT4, PENUMBRA_INT4}, kRows,
                    [](uint32_t row, int column) { return std::to_string(column == 0 ? row / kPartition : row); });
  const Chunk chunk(table);
  const PenumbraExpr partition = plan.Column(0);
  PenumbraSortKey order{};
  order.expr = plan.Column(1);
  PenumbraWindowCall calls[5] = {};
  for (uint32_t i = 0; i < std::size(calls); ++i) {
    PenumbraWindowCall& call = calls[i];
    call.function = PENUMBRA_WINDOW_AGGREGATE;
    call.aggregate.function = PENUMBRA_AGG_JSON_AGG;
    call.aggregate.result = PENUMBRA_INT8;
    call.aggregate.label = i;
    call.aggregate.arguments[0] = order.expr;
    call.aggregate.argument_count = 1;
    call.aggregate.filter = -1;
    call.aggregate.takes_away = i >= HostSums::kFirstThatLoses;
    call.mode = PENUMBRA_FRAME_ROWS;
    call.start.kind =
        i % 2 == 1 || i == HostSums::kRefusing ? PENUMBRA_FRAME_PRECEDING : PENUMBRA_FRAME_UNBOUNDED_PRECEDING;
    call.start.offset = 2;
    call.end.kind = i == 2 ? PENUMBRA_FRAME_UNBOUNDED_FOLLOWING : PENUMBRA_FRAME_CURRENT_ROW;
    EXPECT_TRUE(penumbra_plan_takes_window_call(plan.plan(), plan.current(), &call, 1)) << plan.reason();
    EXPECT_FALSE(penumbra_plan_takes_window_call(plan.plan(), plan.current(), &call, 0));
  }
  plan.GoOnFrom(penumbra_plan_add_window(plan.plan(), plan.current(), &partition, 1, &order, 1, calls, 5, 0));
  HostSums host;
  Input input;
  input.chunks = {&chunk};
  input.threads = GetParam();
  input.host_frames = HostSums::Call;
  input.host = &host;
  const Output output = test::Run(plan, input);
  ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  std::vector<Row> expected;
  for (int64_t row = 0; row < kRows; ++row) {
    const int64_t first = row / kPartition * kPartition, last = std::min<int64_t>(first + kPartition, kRows) - 1;
    const auto sum = [](int64_t from, int64_t to) { return (from + to) * (to - from + 1) / 2; };
    const auto text = [](int64_t value) { return value == 0 ? std::string("NULL") : std::to_string(value); };
    const std::string moving = text(sum(std::max(first, row - 2), row));
    expected.push_back({std::to_string(row / kPartition), std::to_string(row), text(sum(first, row)), moving,
                        text(sum(first, last)), moving, moving});
  }
  EXPECT_EQ(Sorted(output.rows), Sorted(expected));
  // The frame that moves grows at first.
  EXPECT_EQ(host.rows, 2 * size_t{kRows} + 3 * size_t{kRows} - 6 * (kRows / kPartition));
  EXPECT_LE(host.states, 5 * static_cast<size_t>(GetParam() + 1));
}

INSTANTIATE_TEST_SUITE_P(Threads, HostCallsTest, ::testing::Values(0, 3));

TEST(HostCallsPlanTest, ACallWithoutAHostIsRefusedWhenItRuns) {
  PlanBuilder plan({PENUMBRA_INT4});
  const Table table({PENUMBRA_INT4}, 10, [](uint32_t row, int) { return std::to_string(row); });
  const PenumbraExpr column = plan.Column(0);
  plan.Project({penumbra_plan_host_call(plan.plan(), 0, PENUMBRA_INT4, &column, 1)});
  const Chunk chunk(table);
  Input input;
  input.chunks = {&chunk};
  EXPECT_EQ(test::Run(plan, input).status.code, PENUMBRA_UNSUPPORTED);
}

}  // namespace
}  // namespace penumbra::test

// Recursions against what a queue of rows gives, with and without enough memory, and readers that stop early.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "support/query.h"

namespace penumbra::test {
namespace {

// A walk of a graph: r(node, depth, path), of which the next rows are e(dst) of the edges from the node.
class RandomWalk {
 public:
  RandomWalk(uint32_t seed, bool is_distinct) : random_(seed), is_distinct_(is_distinct) {
    nodes_ = 5 + Below(60);
    depth_max_ = 1 + static_cast<int>(Below(is_distinct ? 6 : 4));
    for (uint32_t i = 0; i < nodes_ * 2; ++i) edges_.push_back({Below(nodes_), Below(nodes_)});
    for (uint32_t i = 0; i < 1 + Below(is_distinct ? 3000 : 40); ++i) starts_.push_back(Below(nodes_));
  }

  void Run(size_t memory_bytes, int threads, bool reads_again) {
    PlanBuilder plan({PENUMBRA_INT4});
    plan.Project(
        {plan.Column(0), plan.Constant(PENUMBRA_INT4, "0"), plan.Constant(PENUMBRA_TEXT, "a path that is long")});
    const PenumbraOperator first = plan.current();
    const PenumbraType types[] = {PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_TEXT};
    const PenumbraOperator working = penumbra_plan_add_working_table(plan.plan(), types, 3);
    ASSERT_GE(working, 0);
    plan.GoOnFrom(working);
    plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL,
                           {plan.Column(1), plan.Constant(PENUMBRA_INT4, std::to_string(depth_max_))})});
    const PenumbraOperator filtered = plan.current();
    const PenumbraOperator edges = plan.Scan({PENUMBRA_INT4, PENUMBRA_INT4});
    const PenumbraOperator joined =
        plan.Join(filtered, edges, PENUMBRA_JOIN_INNER, {{plan.ColumnOf(filtered, 0), plan.ColumnOf(edges, 0), false}});
    plan.GoOnFrom(joined);
    plan.Project({plan.Column(4),
                  plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(1), plan.Constant(PENUMBRA_INT4, "1")}),
                  plan.Column(2)});
    const PenumbraOperator recursion =
        penumbra_plan_add_recursion(plan.plan(), first, plan.current(), is_distinct_, is_distinct_ && nodes_ % 2 == 0);
    ASSERT_GE(recursion, 0) << plan.reason();
    plan.GoOnFrom(recursion);
    if (reads_again) {
      plan.Project({plan.Column(0), plan.Column(1), plan.Column(2)});
      const PenumbraOperator one = plan.current();
      plan.GoOnFrom(recursion);
      plan.Project({plan.Column(0), plan.Column(1), plan.Column(2)});
      plan.Union({one, plan.current()});
    }
    plan.Finish();
    const Table table({PENUMBRA_INT4}, static_cast<uint32_t>(starts_.size()),
                      [&](uint32_t row, int) -> Cell { return std::to_string(starts_[row]); });
    const Table edge_table({PENUMBRA_INT4, PENUMBRA_INT4}, static_cast<uint32_t>(edges_.size()),
                           [&](uint32_t row, int column) -> Cell {
                             return std::to_string(column == 0 ? edges_[row].first : edges_[row].second);
                           });
    Input input;
    input.pushed = {&table};
    input.others = {{edges, {}, {&edge_table}}};
    input.threads = threads;
    input.memory_bytes = memory_bytes;
    const Output output = ::penumbra::test::Run(plan, input);
    if (memory_bytes < 100000 && output.status.code == PENUMBRA_OUT_OF_MEMORY) return;
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    std::vector<Row> expected = Expected();
    if (reads_again) {
      const std::vector<Row> once = expected;
      expected.insert(expected.end(), once.begin(), once.end());
    } else {
      ExpectOrderOfDepths(output.rows);
    }
    EXPECT_EQ(Sorted(output.rows), Sorted(expected));
  }

 private:
  uint32_t Below(uint32_t limit) { return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_); }

  std::vector<Row> Expected() const {
    std::multimap<uint32_t, uint32_t> edges;
    for (const auto& [src, dst] : edges_) edges.emplace(src, dst);
    std::vector<Row> rows;
    std::set<std::pair<uint32_t, int>> known;
    std::deque<std::pair<uint32_t, int>> queue;
    const auto add = [&](uint32_t node, int depth) {
      if (is_distinct_ && !known.emplace(node, depth).second) return;
      rows.push_back({std::to_string(node), std::to_string(depth), "a path that is long"});
      queue.emplace_back(node, depth);
    };
    for (uint32_t start : starts_) add(start, 0);
    for (; !queue.empty(); queue.pop_front()) {
      const auto [node, depth] = queue.front();
      if (depth >= depth_max_) continue;
      const auto [begin, end] = edges.equal_range(node);
      for (auto edge = begin; edge != end; ++edge) add(edge->second, depth + 1);
    }
    return rows;
  }
  static void ExpectOrderOfDepths(const std::vector<Row>& rows) {
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                               [](const Row& a, const Row& b) { return std::stoi(a[1]) < std::stoi(b[1]); }));
  }

  std::mt19937 random_;
  const bool is_distinct_;
  uint32_t nodes_;
  int depth_max_;
  std::vector<std::pair<uint32_t, uint32_t>> edges_;
  std::vector<uint32_t> starts_;
};

TEST(RecursionTest, RandomWalks) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomWalk walk(seed, seed % 2 == 0);
    walk.Run(size_t{1} << 28, static_cast<int>(seed % 3), seed % 5 == 0);
    walk.Run(20000, static_cast<int>(seed % 3), seed % 5 == 0);
  }
}

// Each row has another after it, up to a bound; read once and twice.
TEST(RecursionTest, RowsGoToDisk) {
  constexpr int kFirst = 100000, kEnd = 400000;
  for (const bool reads_again : {false, true}) {
    PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT});
    const PenumbraOperator start = plan.scan();
    const PenumbraType types[] = {PENUMBRA_INT4, PENUMBRA_TEXT};
    plan.GoOnFrom(penumbra_plan_add_working_table(plan.plan(), types, 2));
    plan.Filter({plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL,
                           {plan.Column(0), plan.Constant(PENUMBRA_INT4, std::to_string(kEnd - kFirst))})});
    const PenumbraExpr step = plan.Constant(PENUMBRA_INT4, std::to_string(kFirst));
    plan.Project({plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), step}), plan.Column(1)});
    plan.GoOnFrom(penumbra_plan_add_recursion(plan.plan(), start, plan.current(), false, false));
    if (reads_again) {
      const PenumbraOperator recursion = plan.current();
      plan.Project({plan.Column(0), plan.Column(1)});
      const PenumbraOperator one = plan.current();
      plan.GoOnFrom(recursion);
      plan.Project({plan.Column(0), plan.Column(1)});
      plan.Union({one, plan.current()});
    }
    plan.Finish();
    const Table table({PENUMBRA_INT4, PENUMBRA_TEXT}, kFirst, [](uint32_t row, int column) -> Cell {
      return column == 0 ? std::to_string(row) : "a text of the row " + std::to_string(row);
    });
    Input input;
    input.pushed = {&table};
    input.memory_bytes = 100000;
    const Output output = ::penumbra::test::Run(plan, input);
    ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    ASSERT_EQ(output.rows.size(), size_t{kEnd} * (reads_again ? 2 : 1));
    for (size_t i = 0; i < output.rows.size(); ++i) {
      const size_t n = i % kEnd;
      ASSERT_EQ(output.rows[i][0], std::to_string(n));
      ASSERT_EQ(output.rows[i][1], "a text of the row " + std::to_string(n % kFirst));
    }
    uint64_t spilled_bytes = 0;
    for (const PenumbraOperatorStats& op : output.operators) spilled_bytes += op.spilled_bytes;
    EXPECT_GT(spilled_bytes, 0u);
  }
}

// n + 1 of n, without an end.
TEST(RecursionTest, EndlessSeriesGivesItsFirstRows) {
  PlanBuilder plan({PENUMBRA_INT4});
  const PenumbraOperator start = plan.scan();
  const PenumbraType type = PENUMBRA_INT4;
  plan.GoOnFrom(penumbra_plan_add_working_table(plan.plan(), &type, 1));
  plan.Project({plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "1")})});
  plan.GoOnFrom(penumbra_plan_add_recursion(plan.plan(), start, plan.current(), false, false));
  plan.Finish();
  const Table table({PENUMBRA_INT4}, 1, [](uint32_t, int) -> Cell { return "7"; });
  Input input;
  input.pushed = {&table};
  input.stops_early = true;
  const Output output = ::penumbra::test::Run(plan, input);
  ASSERT_EQ(output.status.code, PENUMBRA_OK);
  ASSERT_GT(output.rows.size(), 1u);
  for (size_t i = 0; i < output.rows.size(); ++i) EXPECT_EQ(output.rows[i][0], std::to_string(7 + i));
}

TEST(RecursionTest, RefusesTermsOfOtherRows) {
  PlanBuilder plan({PENUMBRA_INT4});
  const PenumbraOperator start = plan.scan();
  const PenumbraType type = PENUMBRA_INT4;
  plan.GoOnFrom(penumbra_plan_add_working_table(plan.plan(), &type, 1));
  plan.Aggregate({plan.Column(0)}, {});
  EXPECT_LT(penumbra_plan_add_recursion(plan.plan(), start, plan.current(), false, false), 0);
}

}  // namespace
}  // namespace penumbra::test

// Operators that are the input of several others: computed once, and the same as computed for each.
#include <gtest/gtest.h>

#include "plan/plan.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

constexpr size_t kNoMemory = size_t{1} << 20;
constexpr size_t kEnoughMemory = size_t{256} << 20;
const std::vector<PenumbraType> kTypes = {PENUMBRA_INT8, PENUMBRA_INT4, PENUMBRA_TEXT};

// Column 0: 1 to `groups`; 1: the row number; 2: one of 50 texts.
Table MakeTable(uint32_t rows, uint32_t groups) {
  return Table(kTypes, rows, [=](uint32_t row, int column) -> Cell {
    if (column == 0) return std::to_string(1 + uint64_t{row} * 7919 % groups);
    return column == 1 ? std::to_string(row) : "a text of some length, " + std::to_string(row % 50);
  });
}

PenumbraExpr Compare(PlanBuilder& plan, PenumbraFunction function, int column, PenumbraType type, int value) {
  return plan.Call(function, PENUMBRA_BOOL, {plan.Column(column), plan.Constant(type, std::to_string(value))});
}

// Each gives an int8, an int8 and a text.
enum class Shared { kGroups, kGroupsWithHaving, kDistinct, kRanks, kSorted, kTopN };
constexpr Shared kAllShared[] = {Shared::kGroups, Shared::kGroupsWithHaving, Shared::kDistinct,
                                 Shared::kRanks,  Shared::kSorted,           Shared::kTopN};

PenumbraOperator AddShared(PlanBuilder& plan, Shared shared, PenumbraOperator scan) {
  plan.GoOnFrom(scan);
  switch (shared) {
    case Shared::kGroups:
    case Shared::kGroupsWithHaving: {
      const PenumbraAggregateCall least = Aggregate(PENUMBRA_AGG_MIN, PENUMBRA_TEXT, plan.Column(2));
      plan.Aggregate({plan.Column(0)}, {CountStar(), least});
      if (shared == Shared::kGroupsWithHaving) plan.Filter({Compare(plan, PENUMBRA_FN_GT, 1, PENUMBRA_INT8, 1)});
      break;
    }
    case Shared::kDistinct: {
      PenumbraAggregateCall texts = Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(2));
      texts.distinct = true;
      plan.Aggregate({plan.Column(0), plan.Column(2)}, {texts});
      plan.Project({plan.Column(0), plan.Column(2), plan.Column(1)});
      break;
    }
    case Shared::kRanks: {
      const PenumbraExpr partition[] = {plan.Column(2)};
      const PenumbraSortKey order[] = {{plan.Column(1), true, false, nullptr}};
      PenumbraWindowCall rank = {};
      rank.function = PENUMBRA_WINDOW_RANK;
      rank.end.kind = PENUMBRA_FRAME_CURRENT_ROW;
      plan.GoOnFrom(penumbra_plan_add_window(plan.plan(), scan, partition, 1, order, 1, &rank, 1, false));
      EXPECT_GE(plan.current(), 0) << plan.reason();
      plan.Project({plan.Column(0), plan.Column(3), plan.Column(2)});
      return plan.current();
    }
    case Shared::kSorted: plan.Sort({{plan.Column(1), true, false, nullptr}}); break;
    case Shared::kTopN: plan.Sort({{plan.Column(1), true, false, nullptr}}, 1000, 10); break;
  }
  if (shared == Shared::kSorted || shared == Shared::kTopN) {
    const PenumbraExpr wide = plan.Call(PENUMBRA_FN_CAST, PENUMBRA_INT8, {plan.Column(1)});
    plan.Project({plan.Column(0), wide, plan.Column(2)});
  }
  return plan.current();
}

// The rows of three readers: two with filters, and a join of two; `inputs` has what each reads.
void AddReaders(PlanBuilder& plan, const PenumbraOperator (&inputs)[4]) {
  plan.GoOnFrom(inputs[0]);
  plan.Filter({Compare(plan, PENUMBRA_FN_LE, 1, PENUMBRA_INT8, 2)});
  const PenumbraOperator few = plan.current();
  plan.GoOnFrom(inputs[1]);
  plan.Project({plan.Column(1), plan.Column(0), plan.Column(2)});
  const PenumbraOperator all = plan.current();
  plan.GoOnFrom(inputs[2]);
  plan.Filter({Compare(plan, PENUMBRA_FN_LT, 0, PENUMBRA_INT8, 40)});
  plan.Aggregate({plan.Column(0)}, {CountStar()});
  const PenumbraOperator build = plan.current();
  plan.Join(inputs[3], build, PENUMBRA_JOIN_INNER, {{plan.ColumnOf(inputs[3], 0), plan.ColumnOf(build, 0), false}});
  plan.Project({plan.Column(0), plan.Column(4), plan.Column(2)});
  plan.Union({few, all, plan.current()});
}

TEST(ReadAgain, IsAsComputedForEachReader) {
  const Table chunk_rows = MakeTable(30000, 4000), pushed = MakeTable(20000, 9000);
  const Chunk chunk(chunk_rows);
  for (Shared shared : kAllShared) {
    PlanBuilder once(kTypes), each(kTypes);
    const PenumbraOperator op = AddShared(once, shared, once.scan());
    AddReaders(once, {op, op, op, op});
    PenumbraOperator scans[4] = {each.scan(), each.Scan(), each.Scan(), each.Scan()}, copies[4];
    for (int i = 0; i < 4; ++i) copies[i] = AddShared(each, shared, scans[i]);
    AddReaders(each, copies);
    ASSERT_NE(once.Finish(), nullptr) << once.reason();
    Input for_each{{&chunk}, {&pushed}};
    for (int i = 1; i < 4; ++i) for_each.others.push_back({scans[i], {&chunk}, {&pushed}});
    const std::vector<Row> expected = Sorted(test::Run(each, for_each).rows);
    for (int threads : {0, 2}) {
      for (size_t memory_bytes : {kEnoughMemory, kNoMemory}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(shared)) + ", " + std::to_string(threads) + " threads, " +
                     std::to_string(memory_bytes));
        const Output output = test::Run(once, {{&chunk}, {&pushed}, {}, threads, memory_bytes});
        ASSERT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
        EXPECT_EQ(Sorted(output.rows), expected);
        uint64_t groups = 0, rows_out = 0, spilled_bytes = 0;
        for (const PenumbraOperatorStats& stats : output.operators) {
          if (groups == 0) rows_out = stats.rows_out;
          if (groups == 0) groups = stats.groups;
          spilled_bytes += stats.spilled_bytes;
        }
        // Counted once.
        if (shared == Shared::kGroups) {
          EXPECT_EQ(rows_out, groups);
        }
        if (memory_bytes == kNoMemory && shared != Shared::kTopN) {
          EXPECT_GT(spilled_bytes, 0u);
        }
      }
    }
  }
}

// What one reader does not want others may.
TEST(ReadAgain, NothingIsDroppedForOneReader) {
  PlanBuilder plan(kTypes);
  const PenumbraOperator ranks = AddShared(plan, Shared::kRanks, plan.scan());
  plan.GoOnFrom(ranks);
  plan.Filter({Compare(plan, PENUMBRA_FN_LE, 1, PENUMBRA_INT8, 1)});
  const PenumbraOperator first = plan.current();
  const PenumbraOperator build = plan.Scan();
  plan.Join(ranks, build, PENUMBRA_JOIN_SEMI, {{plan.ColumnOf(ranks, 0), plan.ColumnOf(build, 0), false}});
  plan.Union({first, plan.current()});
  ASSERT_NE(plan.Finish(), nullptr) << plan.reason();
  EXPECT_TRUE(plan.plan()->op(plan.scan()).scan.runtime_filters.empty());
  for (const Operator& op : plan.plan()->operators()) EXPECT_EQ(op.window.limit.count, 0);
}

TEST(ReadAgain, ScansAndJoinsHaveOneReader) {
  PlanBuilder plan(kTypes);
  const PenumbraExpr exprs[] = {plan.Column(0)};
  EXPECT_GE(penumbra_plan_add_projection(plan.plan(), plan.scan(), exprs, 1), 0);
  EXPECT_LT(penumbra_plan_add_projection(plan.plan(), plan.scan(), exprs, 1), 0);
  EXPECT_STREQ(plan.reason(), "an input that another operator has");
}

// A reader that turns out to need no row does not keep others from theirs.
TEST(ReadAgain, AReaderMayBeUnneeded) {
  const Table table = MakeTable(5000, 100), none = MakeTable(0, 1);
  const Chunk chunk(table);
  PlanBuilder plan(kTypes);
  const PenumbraOperator groups = AddShared(plan, Shared::kGroups, plan.scan());
  const PenumbraOperator empty = plan.Scan();
  plan.Join(empty, groups, PENUMBRA_JOIN_INNER, {{plan.ColumnOf(empty, 0), plan.ColumnOf(groups, 0), false}});
  plan.Project({plan.Column(0), plan.Column(4), plan.Column(2)});
  plan.Union({plan.current(), groups});
  EXPECT_EQ(test::Run(plan, {{&chunk}, {}, {{empty, {}, {&none}}}}).rows.size(), 100u);
}

}  // namespace
}  // namespace penumbra::test

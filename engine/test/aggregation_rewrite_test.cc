// Keys that follow from others, and sums of one column shifted by constants, against aggregations that are not
// rewritten.
#include <gtest/gtest.h>

#include "support/query.h"

namespace penumbra::test {
namespace {

Output RunOn(PlanBuilder& plan, const Table& table) {
  const Chunk chunk(table);
  Output output = Run(plan, {.chunks = {&chunk}});
  output.rows = Sorted(std::move(output.rows));
  return output;
}

PenumbraExpr Shifted(PlanBuilder& plan, PenumbraFunction function, int column, const char* by) {
  return plan.Call(function, PENUMBRA_INT4, {plan.Column(column), plan.Constant(PENUMBRA_INT4, by)});
}

PenumbraAggregateCall SumOf(PenumbraExpr argument) { return Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, argument); }

// k: 0..2; x: the row, null in every fifth row and in all of k = 2; s: x as int2.
Table Numbers() {
  return Table({PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_INT2}, 3000, [](uint32_t row, int column) -> Cell {
    if (column == 0) return std::to_string(row % 3);
    if (row % 5 == 0 || row % 3 == 2) return std::nullopt;
    return std::to_string(row);
  });
}

TEST(SumOfShiftsTest, ManyAreAsEachAlone) {
  const Table table = Numbers();
  for (int column : {1, 2}) {
    const auto sums = [column](PlanBuilder& plan) -> std::vector<PenumbraAggregateCall> {
      const PenumbraExpr one = plan.Constant(PENUMBRA_INT4, "1");
      return {SumOf(Shifted(plan, PENUMBRA_FN_ADD, column, "7")), SumOf(Shifted(plan, PENUMBRA_FN_SUB, column, "-3")),
              SumOf(Shifted(plan, PENUMBRA_FN_ADD, column, "0")),
              SumOf(Shifted(plan, PENUMBRA_FN_SUB, column, "90000")),
              SumOf(plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {one, plan.Column(column)}))};
    };
    PlanBuilder together({PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_INT2});
    const auto calls = sums(together);
    together.Aggregate({together.Column(0)}, {calls[0], CountStar(), calls[1], calls[2], calls[3], calls[4]});
    const std::vector<Row> found = RunOn(together, table).rows;
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[2], (Row{"2", "NULL", "1000", "NULL", "NULL", "NULL", "NULL"}));
    const int places[] = {1, 3, 4, 5, 6};
    for (size_t i = 0; i < calls.size(); ++i) {
      PlanBuilder alone({PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_INT2});
      alone.Aggregate({alone.Column(0)}, {sums(alone)[i]});
      const std::vector<Row> expected = RunOn(alone, table).rows;
      for (size_t row = 0; row < found.size(); ++row) EXPECT_EQ(found[row][places[i]], expected[row][1]);
    }
  }
}

// Of the rows that the filters let through, which differ.
TEST(SumOfShiftsTest, OverflowIsThatOfTheRows) {
  const Table table({PENUMBRA_INT4}, 100,
                    [](uint32_t row, int) -> Cell { return row == 50 ? "2147483600" : std::to_string(row); });
  for (bool passes : {false, true}) {
    PlanBuilder plan({PENUMBRA_INT4});
    const PenumbraExpr filter = plan.Call(PENUMBRA_FN_LT, PENUMBRA_BOOL,
                                          {plan.Column(0), plan.Constant(PENUMBRA_INT4, passes ? "99" : "2147483647")});
    std::vector<PenumbraAggregateCall> calls;
    for (const char* by : {"1", "2", "47", "48", "1000"}) {
      calls.push_back(SumOf(Shifted(plan, PENUMBRA_FN_ADD, 0, by)));
      calls.back().filter = filter;
    }
    plan.Aggregate({}, {calls[0], calls[1], calls[2], calls[3], calls[4]});
    const Output output = RunOn(plan, table);
    if (passes) {
      EXPECT_EQ(output.rows, (std::vector<Row>{{"4899", "4997", "9407", "9505", "102801"}}));
    } else {
      EXPECT_EQ(output.status.code, PENUMBRA_INT4_OUT_OF_RANGE);
    }
  }
}

TEST(FollowingKeysTest, TheyAreComputedOfTheOthers) {
  const Table table({PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_FLOAT8}, 3000, [](uint32_t row, int column) -> Cell {
    if (column == 0) return row % 10 == 7 ? Cell() : std::to_string(row % 10);
    if (column == 1) return "Text " + std::to_string(row % 2);
    return row % 20 < 10 ? "0" : "-0";
  });
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT, PENUMBRA_FLOAT8});
  const PenumbraExpr lower = plan.Call(PENUMBRA_FN_LOWER, PENUMBRA_TEXT, {plan.Column(1)});
  const PenumbraExpr length = plan.Call(PENUMBRA_FN_LENGTH, PENUMBRA_INT4, {plan.Column(1)});
  const PenumbraExpr with_both = plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), length});
  plan.Aggregate({Shifted(plan, PENUMBRA_FN_SUB, 0, "1"), plan.Column(1), lower, plan.Column(0), with_both},
                 {CountStar()});
  std::vector<Row> expected;
  for (int k = 0; k < 10; ++k) {
    const std::string n = std::to_string(k % 2);
    const bool is_null = k == 7;
    expected.push_back({is_null ? "NULL" : std::to_string(k - 1), "Text " + n, "text " + n,
                        is_null ? "NULL" : std::to_string(k), is_null ? "NULL" : std::to_string(k + 6), "300"});
  }
  EXPECT_EQ(RunOn(plan, table).rows, Sorted(std::move(expected)));
}

// 1 and 1.0 are one group only without their texts.
TEST(FollowingKeysTest, EqualValuesThatAreWrittenDifferentlyDecideNothing) {
  const Table table({PENUMBRA_NUMERIC}, 2000, [](uint32_t row, int) -> Cell { return row % 4 == 0 ? "1.0" : "1"; });
  PlanBuilder plan({PENUMBRA_NUMERIC});
  const PenumbraExpr text = plan.Call(PENUMBRA_FN_CAST, PENUMBRA_TEXT, {plan.Column(0)});
  plan.Aggregate({plan.Column(0), text}, {CountStar()});
  const std::vector<Row> rows = RunOn(plan, table).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (Row{"1", "1", "1500"}));
  EXPECT_EQ(rows[1], (Row{"1.0", "1.0", "500"}));
}

TEST(FollowingKeysTest, TheyFailAsForTheRow) {
  const Table table({PENUMBRA_INT4}, 2000, [](uint32_t row, int) -> Cell { return std::to_string(row); });
  PlanBuilder plan({PENUMBRA_INT4});
  plan.Aggregate({plan.Column(0), Shifted(plan, PENUMBRA_FN_ADD, 0, "2147481649")}, {CountStar()});
  EXPECT_EQ(RunOn(plan, table).status.code, PENUMBRA_INT4_OUT_OF_RANGE);
}

// Grouped as integers where the declaration allows it. NaN has no scale.
TEST(IntegerCodesTest, NumericsOfADeclaredTypeAreGroupedAsOthers) {
  const std::vector<PenumbraType> types = {PENUMBRA_INT4, PENUMBRA_NUMERIC};
  const Table table(types, 6000, [](uint32_t row, int column) -> Cell {
    if (column == 0) return std::to_string(row % 4);
    if (row % 7 == 0) return std::nullopt;
    if (row % 11 == 0) return "NaN";
    return (row % 2 == 0 ? "-" : "") + std::to_string(row % 500) + ".50";
  });
  const Table tail(types, 300,
                   [](uint32_t row, int column) -> Cell { return column == 0 ? "3" : std::to_string(row) + ".50"; });
  std::vector<Row> by_value[2], by_key[2];
  for (int is_declared : {0, 1}) {
    for (bool counts_values : {false, true}) {
      PlanBuilder plan(types, 2, is_declared == 1 ? 10 : 0);
      if (counts_values) {
        PenumbraAggregateCall distinct = Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, plan.Column(1));
        distinct.distinct = true;
        plan.Aggregate({plan.Column(0)}, {distinct, Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, plan.Column(1))});
      } else {
        plan.Aggregate({plan.Column(1)}, {CountStar()});
      }
      const Chunk chunk(table);
      Output output = test::Run(plan, {.chunks = {&chunk}, .pushed = {&tail}, .threads = 2});
      EXPECT_EQ(output.status.code, PENUMBRA_OK);
      (counts_values ? by_key : by_value)[is_declared] = Sorted(std::move(output.rows));
    }
  }
  EXPECT_EQ(by_value[1], by_value[0]);
  EXPECT_EQ(by_key[1], by_key[0]);
  ASSERT_EQ(by_key[1].size(), 4U);
  EXPECT_EQ(by_key[1][0][2], "NaN");
  EXPECT_EQ(by_value[1].front(), (Row{"-0.50", "9"}));
}

TEST(IntegerCodesTest, NumericsOfADeclaredTypeAreSortedAsOthers) {
  const std::vector<PenumbraType> types = {PENUMBRA_NUMERIC, PENUMBRA_INT4};
  const Table table(types, 9000, [](uint32_t row, int column) -> Cell {
    if (column == 1) return std::to_string(row);
    if (row % 7 == 0) return std::nullopt;
    if (row % 1100 == 1) return "NaN";
    return (row % 2 == 0 ? "-" : "") + std::to_string(row * 7919 % 5000) + ".25";
  });
  for (const int64_t limit : {-1, 5, 2000}) {
    for (const bool descending : {false, true}) {
      std::vector<Row> found[2];
      for (int is_declared : {0, 1}) {
        PlanBuilder plan(types, 2, is_declared == 1 ? 10 : 0);
        plan.Sort({{plan.Column(0), descending, limit == 5}, {plan.Column(1), false, false}}, limit);
        const Chunk chunk(table);
        found[is_declared] = test::Run(plan, {.chunks = {&chunk}, .pushed = {&table}}).rows;
      }
      EXPECT_EQ(found[1].size(), limit < 0 ? 18000U : static_cast<size_t>(limit));
      EXPECT_EQ(found[1], found[0]) << limit << descending;
    }
  }
}

TEST(IntegerCodesTest, FieldsOfInfiniteTimesAreGroups) {
  const Table table({PENUMBRA_TIMESTAMP}, 3000, [](uint32_t row, int) -> Cell {
    if (row % 3 == 0) return std::to_string(row % 2 == 0 ? INT64_MAX : INT64_MIN);
    return std::to_string(int64_t{86'400'000'000} * row);  // days from 2000-01-01
  });
  PlanBuilder plan({PENUMBRA_TIMESTAMP});
  const PenumbraExpr year = plan.Constant(PENUMBRA_TEXT, "year");
  plan.Aggregate({plan.Call(PENUMBRA_FN_EXTRACT, PENUMBRA_NUMERIC, {year, plan.Column(0)})}, {CountStar()});
  const std::vector<Row> rows = RunOn(plan, table).rows;
  ASSERT_EQ(rows.size(), 11U);
  EXPECT_EQ(rows[0], (Row{"-Infinity", "500"}));
  EXPECT_EQ(rows[1], (Row{"2000", "244"}));
  EXPECT_EQ(rows[10], (Row{"Infinity", "500"}));
}

}  // namespace
}  // namespace penumbra::test

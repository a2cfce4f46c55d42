#include <gtest/gtest.h>

#include "support/query.h"

namespace penumbra::test {
namespace {

// k: 0..4; x: NUMERIC of two decimals, null where k is 3.
Table Sales() {
  return Table({PENUMBRA_INT4, PENUMBRA_NUMERIC}, 5000, [](uint32_t row, int column) -> Cell {
    const uint32_t k = row % 5;
    if (column == 0) return std::to_string(k);
    if (k == 3) return std::nullopt;
    return std::to_string(row / 5) + ".25";
  });
}

PenumbraExpr Equals(PlanBuilder& plan, const char* k) {
  return plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, k)});
}

std::vector<Row> SumByKey(PlanBuilder& plan, PenumbraExpr argument) {
  plan.Aggregate({plan.Column(0)}, {Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, argument), CountStar()});
  const Table table = Sales();
  const Chunk chunk(table);
  Output output = Run(plan, {.chunks = {&chunk}});
  EXPECT_EQ(output.status.code, PENUMBRA_OK);
  return Sorted(std::move(output.rows));
}

// 0.25 + 1.25 + ... + 999.25
constexpr char kSum[] = "499750.00";

TEST(SumOfCaseTest, AZeroKeepsItsScaleWhereNothingElseIsSummed) {
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_NUMERIC});
  const PenumbraExpr zero = plan.Constant(PENUMBRA_NUMERIC, "0");
  // CASE WHEN k = 1 THEN x WHEN k = 3 THEN x WHEN k = 4 THEN 0.000 ELSE 0 END
  const PenumbraExpr sum_case = plan.Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC,
                                          {Equals(plan, "1"), plan.Column(1), Equals(plan, "3"), plan.Column(1),
                                           Equals(plan, "4"), plan.Constant(PENUMBRA_NUMERIC, "0.000"), zero});
  const std::vector<Row> expected = {
      {"0", "0", "1000"}, {"1", kSum, "1000"}, {"2", "0", "1000"}, {"3", "NULL", "1000"}, {"4", "0.000", "1000"}};
  EXPECT_EQ(SumByKey(plan, sum_case), expected);
}

TEST(SumOfCaseTest, ZerosAndNullsOnlyAreZero) {
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_NUMERIC});
  const PenumbraExpr zero = plan.Constant(PENUMBRA_NUMERIC, "0");
  // CASE WHEN k = 3 AND x IS NULL THEN x WHEN k = 1 THEN 0 END: k 3 has nulls only, others but 1 nothing
  const PenumbraExpr sum_case =
      plan.Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC,
                {Equals(plan, "3"), plan.Column(1), Equals(plan, "1"), zero, plan.Constant(PENUMBRA_NUMERIC, Cell())});
  const std::vector<Row> expected = {
      {"0", "NULL", "1000"}, {"1", "0", "1000"}, {"2", "NULL", "1000"}, {"3", "NULL", "1000"}, {"4", "NULL", "1000"}};
  EXPECT_EQ(SumByKey(plan, sum_case), expected);
}

TEST(SumOfCaseTest, ScaleComesFromWhatIsSummed) {
  PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_NUMERIC});
  const PenumbraExpr sum_case = plan.Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC,
                                          {Equals(plan, "1"), plan.Column(1), plan.Constant(PENUMBRA_NUMERIC, "0")});
  plan.Aggregate({}, {Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, sum_case)});
  const Table table = Sales();
  EXPECT_EQ(test::Run(plan, {.pushed = {&table}}).rows, (std::vector<Row>{{kSum}}));
  const Table empty({PENUMBRA_INT4, PENUMBRA_NUMERIC}, 0, [](uint32_t, int) { return Cell(); });
  EXPECT_EQ(test::Run(plan, {.pushed = {&empty}}).rows, (std::vector<Row>{{"NULL"}}));
}

}  // namespace
}  // namespace penumbra::test

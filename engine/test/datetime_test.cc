// What no case of PostgreSQL's functions can ask of dates and timestamps; the others are golden cases.
#include <gtest/gtest.h>

#include "support/query.h"

namespace penumbra::test {
namespace {

// The rows of one column, through a projection.
std::vector<Row> Project(PenumbraType type, const std::vector<Cell>& cells,
                         const std::function<PenumbraExpr(PlanBuilder& plan)>& expr) {
  const Table table({type}, static_cast<uint32_t>(cells.size()), [&](uint32_t row, int) { return cells[row]; });
  PlanBuilder plan({type});
  plan.Project({expr(plan)});
  Input input;
  input.pushed = {&table};
  const Output output = test::Run(plan, input);
  EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  return output.rows;
}

// PostgreSQL divides numerics there: 294246-12-07 and a microsecond before, the last instant, an ordinary one.
TEST(DatetimeTest, RoundsEpochsBeyondInt64) {
  const std::vector<Row> rows = Project(
      PENUMBRA_TIMESTAMP, {"9222425352054775807", "9222425352054775806", "9223371331199999999", "0", std::nullopt},
      [](PlanBuilder& plan) {
        return plan.Call(PENUMBRA_FN_EXTRACT, PENUMBRA_NUMERIC,
                         {plan.Constant(PENUMBRA_TEXT, "epoch"), plan.Column(0)});
      });
  EXPECT_EQ(
      rows,
      (std::vector<Row>{
          {"9223372036854.7758"}, {"9223372036854.775806"}, {"9224318016000.0000"}, {"946684800.000000"}, {"NULL"}}));
}

// 5874897-12-31, 294277-01-01 and the day before, the infinities.
TEST(DatetimeTest, ComparesDatesBeyondTheTimestamps) {
  const std::vector<Cell> dates = {"2145031948", "106751983", "106751982", "-2147483648", "2147483647"};
  const auto compare = [&](PenumbraFunction function, const char* timestamp) {
    std::string results;
    const auto call = [&](PlanBuilder& plan) {
      const PenumbraExpr date = plan.Call(PENUMBRA_FN_COMPARED_AS, PENUMBRA_TIMESTAMP, {plan.Column(0)});
      EXPECT_FALSE(penumbra_plan_expr_can_fail(plan.plan(), date));
      return plan.Call(function, PENUMBRA_BOOL, {date, plan.Constant(PENUMBRA_TIMESTAMP, timestamp)});
    };
    for (const Row& row : Project(PENUMBRA_DATE, dates, call)) results += row[0][0];
    return results;
  };
  const char* last = "9223371331199999999";
  const char* infinity = "9223372036854775807";
  EXPECT_EQ(compare(PENUMBRA_FN_GT, last), "ttfft");
  EXPECT_EQ(compare(PENUMBRA_FN_LT, last), "ffttf");
  EXPECT_EQ(compare(PENUMBRA_FN_LT, infinity), "ttttf");
  EXPECT_EQ(compare(PENUMBRA_FN_EQ, infinity), "fffft");
}

}  // namespace
}  // namespace penumbra::test

// Plans that know declared scales against plans that do not: the same values and display scales.
#include <gtest/gtest.h>

#include <functional>

#include "support/query.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kTypes = {PENUMBRA_INT4, PENUMBRA_NUMERIC, PENUMBRA_NUMERIC, PENUMBRA_INT4};
constexpr int kScale = 2;

// k: 0..6; x: null where k is 3, with NaN where k is 5; y: null for some; n.
Table Sales() {
  return Table(kTypes, 7000, [](uint32_t row, int column) -> Cell {
    const uint32_t k = row % 7;
    switch (column) {
      case 0: return std::to_string(k);
      case 1:
        if (k == 3 || row % 11 == 0) return std::nullopt;
        if (k == 5 && row % 100 == 5) return "NaN";
        return std::to_string(row % 977) + ".25";
      case 2:
        if (k == 6 || row % 13 == 0) return std::nullopt;
        return "-" + std::to_string(row % 31) + ".70";
      default: return std::to_string(row % 5);
    }
  });
}

using Make = std::function<PenumbraExpr(PlanBuilder&)>;

PenumbraExpr Numeric(PlanBuilder& plan, const char* value) { return plan.Constant(PENUMBRA_NUMERIC, value); }
PenumbraExpr Call(PlanBuilder& plan, PenumbraFunction function, std::initializer_list<PenumbraExpr> args) {
  return plan.Call(function, PENUMBRA_NUMERIC, args);
}
PenumbraExpr OrElse(PlanBuilder& plan, int column, const char* value) {
  return Call(plan, PENUMBRA_FN_COALESCE, {plan.Column(column), Numeric(plan, value)});
}
PenumbraExpr IfEven(PlanBuilder& plan, PenumbraExpr then, PenumbraExpr otherwise) {
  const PenumbraExpr n = plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4, {plan.Column(3), plan.Constant(PENUMBRA_INT4, "2")});
  const PenumbraExpr is_even = plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {n, plan.Constant(PENUMBRA_INT4, "0")});
  return Call(plan, PENUMBRA_FN_CASE, {is_even, then, otherwise});
}

std::vector<Row> RunAggregates(int scale, const Make& argument, bool has_keys) {
  PlanBuilder plan(kTypes, scale);
  const PenumbraExpr value = argument(plan);
  const auto sum = Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, value);
  const auto average = Aggregate(PENUMBRA_AGG_AVG, PENUMBRA_NUMERIC, value);
  PenumbraAggregateCall filtered = sum;
  filtered.filter = plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {plan.Column(3), plan.Constant(PENUMBRA_INT4, "3")});
  const auto count = Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, value);
  const auto greatest = Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_NUMERIC, value);
  if (has_keys) {
    plan.Aggregate({plan.Column(0)}, {sum, average, filtered, count, greatest});
  } else {
    plan.Aggregate({}, {sum, average, filtered, count, greatest});
  }
  const Table table = Sales();
  const Chunk chunk(table);
  Output output = Run(plan, {.chunks = {&chunk}, .pushed = {&table}});
  EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
  return Sorted(std::move(output.rows));
}

std::vector<Row> RunProjection(int scale, const Make& argument) {
  PlanBuilder plan(kTypes, scale);
  plan.Project({plan.Column(0), argument(plan)});
  const Table table = Sales();
  const Chunk chunk(table);
  return Sorted(test::Run(plan, {.chunks = {&chunk}}).rows);
}

void Check(const Make& argument) {
  EXPECT_EQ(RunAggregates(kScale, argument, true), RunAggregates(-1, argument, true));
  EXPECT_EQ(RunAggregates(kScale, argument, false), RunAggregates(-1, argument, false));
  EXPECT_EQ(RunProjection(kScale, argument), RunProjection(-1, argument));
}

TEST(NumericScaleTest, Coalesce) {
  Check([](PlanBuilder& plan) { return OrElse(plan, 1, "0"); });
  Check([](PlanBuilder& plan) { return OrElse(plan, 1, "7.125"); });
  Check([](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_COALESCE, {plan.Column(1), plan.Column(2)}); });
  Check([](PlanBuilder& plan) {
    const PenumbraExpr n = plan.Call(PENUMBRA_FN_CAST, PENUMBRA_NUMERIC, {plan.Column(3)});
    return Call(plan, PENUMBRA_FN_COALESCE, {plan.Column(1), plan.Column(2), n});
  });
}

TEST(NumericScaleTest, Case) {
  Check([](PlanBuilder& plan) { return IfEven(plan, plan.Column(1), Numeric(plan, "0")); });
  Check([](PlanBuilder& plan) { return IfEven(plan, plan.Column(1), Numeric(plan, "1.5")); });
  Check([](PlanBuilder& plan) { return IfEven(plan, Numeric(plan, "3"), OrElse(plan, 2, "0.000")); });
  Check([](PlanBuilder& plan) { return IfEven(plan, OrElse(plan, 1, "1"), plan.Constant(PENUMBRA_NUMERIC, Cell())); });
}

TEST(NumericScaleTest, Arithmetic) {
  Check([](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_SUB, {plan.Column(1), OrElse(plan, 2, "0")}); });
  Check([](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_ADD, {OrElse(plan, 1, "0"), OrElse(plan, 2, "0")}); });
  Check([](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_MUL, {OrElse(plan, 1, "0"), plan.Column(2)}); });
  Check([](PlanBuilder& plan) {
    const PenumbraExpr product = Call(plan, PENUMBRA_FN_MUL, {OrElse(plan, 1, "0"), OrElse(plan, 2, "1")});
    return Call(plan, PENUMBRA_FN_NEG, {Call(plan, PENUMBRA_FN_SUB, {product, Numeric(plan, "0.5")})});
  });
  Check([](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_DIV, {OrElse(plan, 1, "0"), Numeric(plan, "3")}); });
}

TEST(NumericScaleTest, RoundingAndComparison) {
  Check([](PlanBuilder& plan) {
    return Call(plan, PENUMBRA_FN_ROUND, {OrElse(plan, 1, "0"), plan.Constant(PENUMBRA_INT4, "1")});
  });
  Check([](PlanBuilder& plan) {
    const PenumbraExpr is_positive =
        plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {OrElse(plan, 1, "0"), Numeric(plan, "10")});
    return Call(plan, PENUMBRA_FN_CASE, {is_positive, OrElse(plan, 1, "0"), Numeric(plan, "-1")});
  });
}

TEST(NumericScaleTest, ASumShowsTheGreatestScaleOfItsRows) {
  const auto sums = RunAggregates(kScale, [](PlanBuilder& plan) { return OrElse(plan, 1, "0"); }, true);
  ASSERT_EQ(sums.size(), 7u);
  EXPECT_EQ(sums[3][1], "0");  // k 3 has no x
  EXPECT_EQ(sums[3][2], "0.00000000000000000000");
  EXPECT_EQ(sums[4][1].substr(sums[4][1].size() - 3, 1), ".");
  EXPECT_EQ(sums[5][1], "NaN");
}

bool CanFail(int scale, const Make& make) {
  PlanBuilder plan(kTypes, scale);
  return penumbra_plan_expr_can_fail(plan.plan(), make(plan));
}

TEST(NumericScaleTest, DeclaredColumnsCannotOverflow) {
  const Make product = [](PlanBuilder& plan) {
    const PenumbraExpr rest = Call(plan, PENUMBRA_FN_SUB, {Numeric(plan, "1"), plan.Column(2)});
    return Call(plan, PENUMBRA_FN_MUL, {plan.Column(1), rest});
  };
  EXPECT_FALSE(CanFail(kScale, product));
  EXPECT_TRUE(CanFail(-1, product));
  const auto divided_by = [](const char* divisor) {
    return
        [divisor](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_DIV, {plan.Column(1), Numeric(plan, divisor)}); };
  };
  EXPECT_FALSE(CanFail(kScale, divided_by("0.07")));
  EXPECT_TRUE(CanFail(kScale, divided_by("0.00")));
  EXPECT_TRUE(CanFail(kScale, divided_by("NaN")));
  EXPECT_TRUE(
      CanFail(kScale, [](PlanBuilder& plan) { return Call(plan, PENUMBRA_FN_MOD, {plan.Column(1), plan.Column(2)}); }));
  // The product of 200 columns could have 200,000 digits.
  EXPECT_TRUE(CanFail(kScale, [](PlanBuilder& plan) {
    PenumbraExpr power = plan.Column(1);
    for (int i = 0; i < 200; ++i) power = Call(plan, PENUMBRA_FN_MUL, {power, plan.Column(1)});
    return power;
  }));
}

}  // namespace
}  // namespace penumbra::test

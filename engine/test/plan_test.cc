#include "plan/plan.h"

#include <gtest/gtest.h>

#include "support/query.h"

namespace penumbra::test {
namespace {

const std::vector<PenumbraType> kTypes = {PENUMBRA_INT4, PENUMBRA_INT4, PENUMBRA_TEXT};

const Plan& PlanOf(const PlanBuilder& builder) { return *builder.plan(); }

std::vector<std::string> NamesOf(const PlanBuilder& builder) {
  const PenumbraPlan* plan = builder.Finish();
  std::vector<std::string> names;
  for (int i = 0; penumbra_plan_operator_name(plan, i) != nullptr; ++i) {
    names.emplace_back(penumbra_plan_operator_name(plan, i));
  }
  return names;
}

TEST(PlanTest, EqualExpressionsAreOneNode) {
  PlanBuilder plan(kTypes);
  PenumbraExpr sum = plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "5")});
  EXPECT_EQ(plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "5")}), sum);
  EXPECT_NE(plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(1), plan.Constant(PENUMBRA_INT4, "5")}), sum);
  EXPECT_NE(plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "6")}), sum);
  EXPECT_NE(plan.Constant(PENUMBRA_INT4, "5"), plan.Constant(PENUMBRA_INT8, "5"));
  EXPECT_NE(plan.Constant(PENUMBRA_INT4, "0"), plan.Constant(PENUMBRA_INT4, Cell()));
}

TEST(PlanTest, OnlyWhatIsUsedTwiceIsRemembered) {
  PlanBuilder plan(kTypes);
  PenumbraExpr once = plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Column(1)});
  PenumbraExpr twice = plan.Call(PENUMBRA_FN_MUL, PENUMBRA_INT4, {plan.Column(0), plan.Column(1)});
  plan.Project({once, twice, plan.Call(PENUMBRA_FN_NEG, PENUMBRA_INT4, {twice})});
  EXPECT_LT(PlanOf(plan).expr(once)->memo_slot, 0);
  EXPECT_GE(PlanOf(plan).expr(twice)->memo_slot, 0);
}

TEST(PlanTest, ConstantsAreFolded) {
  PlanBuilder plan(kTypes);
  PenumbraExpr three = plan.Constant(PENUMBRA_INT4, "3");
  PenumbraExpr nine = plan.Call(PENUMBRA_FN_MUL, PENUMBRA_INT4, {three, three});
  EXPECT_EQ(PlanOf(plan).expr(nine)->kind, Expr::Kind::kConstant);
  // An error is no constant: it is raised when the expression is evaluated, if it is.
  PenumbraExpr failing = plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {three, plan.Constant(PENUMBRA_INT4, "0")});
  EXPECT_EQ(PlanOf(plan).expr(failing)->kind, Expr::Kind::kCall);
  EXPECT_TRUE(PlanOf(plan).expr(failing)->can_fail);
}

TEST(PlanTest, ColumnsAreThoseOfTheInput) {
  PlanBuilder plan(kTypes);
  plan.Project({plan.Column(2)});
  EXPECT_EQ(penumbra_plan_expr_type(plan.plan(), plan.Column(0)), PENUMBRA_TEXT);
  EXPECT_LT(penumbra_plan_column(plan.plan(), plan.current(), 1), 0);
  EXPECT_STRNE(plan.reason(), "");
  EXPECT_EQ(penumbra_plan_output_count(plan.Finish()), 1);
  EXPECT_EQ(penumbra_plan_output_type(plan.plan(), 0), PENUMBRA_TEXT);
}

TEST(PlanTest, RefusalsSayWhy) {
  PlanBuilder plan(kTypes);
  PenumbraExpr args[] = {plan.Column(0), plan.Column(2)};
  EXPECT_LT(penumbra_plan_call(plan.plan(), PENUMBRA_FN_ADD, PENUMBRA_INT4, args, 2), 0);
  EXPECT_STRNE(plan.reason(), "");
  PenumbraExpr refused = -1;
  EXPECT_LT(penumbra_plan_add_projection(plan.plan(), plan.scan(), &refused, 1), 0);
  PenumbraExpr integer = plan.Column(0);
  EXPECT_LT(penumbra_plan_add_filter(plan.plan(), plan.scan(), &integer, 1), 0);
  EXPECT_STREQ(plan.reason(), "a filter that is not boolean");
}

TEST(PlanTest, WrongGraphsAreRefused) {
  PlanBuilder plan(kTypes);
  PenumbraPlan* raw = plan.plan();
  const PenumbraExpr text = plan.Column(2);
  EXPECT_LT(penumbra_plan_add_projection(raw, 7, &text, 1), 0);
  EXPECT_STREQ(plan.reason(), "an input that does not exist");
  EXPECT_FALSE(penumbra_plan_finish(raw, -1));
  plan.Project({plan.Column(0)});
  EXPECT_LT(penumbra_plan_add_projection(raw, plan.scan(), &text, 1), 0);
  EXPECT_STREQ(plan.reason(), "an input that another operator has");
  EXPECT_LT(penumbra_plan_add_projection(raw, plan.current(), &text, 1), 0);
  EXPECT_STREQ(plan.reason(), "an expression over columns that the input does not have");
  const PenumbraOperator projected = plan.current();
  const PenumbraOperator narrow_and_wide[] = {projected, plan.Scan()};
  EXPECT_LT(penumbra_plan_add_union(raw, narrow_and_wide, 2), 0);
  EXPECT_STREQ(plan.reason(), "a union of inputs with other columns");
  const PenumbraOperator twice[] = {projected, projected};
  EXPECT_LT(penumbra_plan_add_union(raw, twice, 2), 0);
  EXPECT_STREQ(plan.reason(), "an input that another operator has");
  EXPECT_TRUE(penumbra_plan_finish(raw, projected));
  EXPECT_FALSE(penumbra_plan_finish(raw, projected));
  EXPECT_LT(penumbra_plan_add_projection(raw, plan.current(), &text, 1), 0);
  EXPECT_STREQ(plan.reason(), "an operator after the plan was finished");
}

TEST(PlanTest, NeedsOnlyWhatIsRead) {
  PlanBuilder plan(kTypes);
  plan.Filter({plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "1")})});
  plan.Project({plan.Column(1), plan.Column(2)});
  plan.Project({plan.Column(0)});
  plan.Finish();
  const Operators& operators = PlanOf(plan).operators();
  EXPECT_EQ(operators[0].needed, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(operators[0].scan.needed, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(operators[1].needed, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(operators[2].needed, (std::vector<bool>{true, false}));
}

TEST(PlanTest, ConjunctsThatCanFailComeLastInTheirOrder) {
  PlanBuilder plan(kTypes);
  PenumbraExpr one = plan.Constant(PENUMBRA_INT4, "1");
  PenumbraExpr fails =
      plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {one, plan.Column(0)}), one});
  PenumbraExpr fails_too =
      plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4, {one, plan.Column(1)}), one});
  PenumbraExpr safe = plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Column(0), one});
  plan.Filter({fails, fails_too, safe});
  plan.Finish();
  const auto& filters = PlanOf(plan).op(plan.scan()).scan.filters;
  ASSERT_EQ(filters.size(), 3u);
  EXPECT_EQ(filters[0].expr, PlanOf(plan).expr(safe));
  EXPECT_EQ(filters[1].expr, PlanOf(plan).expr(fails));
  EXPECT_EQ(filters[2].expr, PlanOf(plan).expr(fails_too));
}

// An adapter adds a filter per security level: a later one sees only rows that the earlier ones let through,
// its zone maps and cheap conditions included.
TEST(PlanTest, AFilterOnAFilterStaysOne) {
  PlanBuilder plan(kTypes);
  const PenumbraExpr one = plan.Constant(PENUMBRA_INT4, "1");
  const PenumbraExpr fails =
      plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {one, plan.Column(0)}), one});
  plan.Filter({fails});
  plan.Filter({plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Column(0), one})});
  plan.Finish();
  EXPECT_EQ(NamesOf(plan), (std::vector<std::string>{"Vector Scan", "Vector Filter", "Vector Filter"}));
  const auto& filters = PlanOf(plan).op(plan.scan()).scan.filters;
  ASSERT_EQ(filters.size(), 1u);
  EXPECT_EQ(filters[0].expr, PlanOf(plan).expr(fails));
}

TEST(PlanTest, OperatorNames) {
  PlanBuilder plan(kTypes);
  plan.Filter({plan.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {plan.Column(0), plan.Column(1)})});
  plan.Filter({plan.Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, {plan.Column(2)})});
  plan.Aggregate({plan.Column(2)}, {CountStar()});
  EXPECT_EQ(NamesOf(plan),
            (std::vector<std::string>{"Vector Scan", "Vector Filter", "Vector Filter", "Vector Hash Aggregate"}));
}

TEST(PlanTest, ATopNRunsBelowAProjectionThatCannotFail) {
  PlanBuilder plan(kTypes);
  plan.Project({plan.Column(2), plan.Column(1)});
  plan.Sort({{plan.Column(1), false, false}}, 10);
  EXPECT_EQ(NamesOf(plan), (std::vector<std::string>{"Vector Scan", "Vector Top-N", "Vector Projection"}));
  EXPECT_EQ(penumbra_plan_output_count(plan.plan()), 2);
  EXPECT_EQ(penumbra_plan_output_type(plan.plan(), 0), PENUMBRA_TEXT);

  PlanBuilder failing(kTypes);
  failing.Project({failing.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {failing.Column(0), failing.Column(1)})});
  failing.Sort({{failing.Column(0), false, false}}, 10);
  EXPECT_EQ(NamesOf(failing), (std::vector<std::string>{"Vector Scan", "Vector Projection", "Vector Top-N"}));
}

PenumbraExpr IntervalsSum(PlanBuilder& plan, int first, int second) {
  return plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INTERVAL, {plan.Column(first), plan.Column(second)});
}

bool CanBeUnsupportedLate(const PlanBuilder& plan) { return penumbra_plan_can_be_unsupported_late(plan.Finish()); }

TEST(PlanTest, UnsupportedValuesComeLateAboveTheLastBreakerOnly) {
  const std::vector<PenumbraType> types = {PENUMBRA_INTERVAL, PENUMBRA_INTERVAL, PENUMBRA_INT4};
  PlanBuilder streaming(types);
  streaming.Project({streaming.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {streaming.Column(2), streaming.Column(2)})});
  EXPECT_FALSE(CanBeUnsupportedLate(streaming));

  PlanBuilder projected(types);
  projected.Project({IntervalsSum(projected, 0, 1)});
  EXPECT_TRUE(CanBeUnsupportedLate(projected));

  for (bool is_projected_above : {false, true}) {
    PlanBuilder sorted(types);
    sorted.Project({IntervalsSum(sorted, 0, 1)});
    sorted.Sort({{sorted.Column(0), false, false}});
    if (is_projected_above) sorted.Project({IntervalsSum(sorted, 0, 0)});
    EXPECT_EQ(CanBeUnsupportedLate(sorted), is_projected_above);
  }

  for (bool is_grouped : {false, true}) {
    PlanBuilder grouped(types);
    grouped.Filter({grouped.Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, {IntervalsSum(grouped, 0, 1)})});
    if (is_grouped) grouped.Aggregate({grouped.Column(0)}, {CountStar()});
    EXPECT_EQ(CanBeUnsupportedLate(grouped), !is_grouped);
  }

  // One branch of a union is enough.
  PlanBuilder both(types);
  both.Aggregate({both.Column(0), both.Column(1), both.Column(2)}, {});
  const PenumbraOperator grouped = both.current();
  both.Scan();
  both.Project({IntervalsSum(both, 0, 1), both.Column(1), both.Column(2)});
  both.Union({grouped, both.current()});
  EXPECT_TRUE(CanBeUnsupportedLate(both));
}

}  // namespace
}  // namespace penumbra::test

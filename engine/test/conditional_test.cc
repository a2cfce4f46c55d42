// CASE and COALESCE against results of a server, and that guarded errors do not fire.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

TEST(ConditionalTest, GivesPostgresResults) {
  const auto is_conditional = [](const ExprCase& c) {
    return c.function == PENUMBRA_FN_CASE || c.function == PENUMBRA_FN_COALESCE;
  };
  const ExprCaseCounts counts = CheckExprCases(is_conditional);
  EXPECT_GT(counts.cases, 400);
}

}  // namespace
}  // namespace penumbra::test

// Three-valued logic against results of a server.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

TEST(LogicTest, GivesPostgresResults) {
  const auto is_logic = [](const ExprCase& c) {
    return c.function >= PENUMBRA_FN_AND && c.function <= PENUMBRA_FN_IS_NOT_FALSE;
  };
  const ExprCaseCounts counts = CheckExprCases(is_logic);
  EXPECT_GT(counts.cases, 80);
}

}  // namespace
}  // namespace penumbra::test

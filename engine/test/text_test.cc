// Functions on text against results of a server.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

TEST(TextTest, GivesPostgresResults) {
  const auto is_text = [](const ExprCase& c) {
    return c.function >= PENUMBRA_FN_LIKE && c.function <= PENUMBRA_FN_REVERSE;
  };
  const ExprCaseCounts counts = CheckExprCases(is_text);
  EXPECT_GT(counts.cases, 5000);
}

}  // namespace
}  // namespace penumbra::test

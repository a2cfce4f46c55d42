// Comparisons and IN lists against results of a server.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

bool IsComparison(const ExprCase& c) {
  return c.function <= PENUMBRA_FN_NOT_IN_LIST || c.function == PENUMBRA_FN_NULLIF ||
         c.function == PENUMBRA_FN_GREATEST || c.function == PENUMBRA_FN_LEAST;
}

TEST(CompareTest, GivesPostgresResults) {
  const ExprCaseCounts counts = CheckExprCases(IsComparison);
  EXPECT_GT(counts.cases, 5000);
}

}  // namespace
}  // namespace penumbra::test

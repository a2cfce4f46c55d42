// Arithmetic on integers and floats against results of a server.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

bool IsArithmetic(const ExprCase& c) {
  return c.function >= PENUMBRA_FN_ADD && c.function <= PENUMBRA_FN_LN && c.result >= PENUMBRA_INT2 &&
         c.result <= PENUMBRA_FLOAT8 && c.args[0].type <= PENUMBRA_FLOAT8;
}

TEST(ArithmeticTest, GivesPostgresResults) {
  const ExprCaseCounts counts = CheckExprCases(IsArithmetic);
  EXPECT_GT(counts.cases, 3000);
}

}  // namespace
}  // namespace penumbra::test

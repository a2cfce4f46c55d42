// Dates, timestamps and intervals against results of a server.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

bool IsTime(PenumbraType type) { return type >= PENUMBRA_DATE && type <= PENUMBRA_INTERVAL; }

bool IsDatetime(const ExprCase& c) {
  if (c.function >= PENUMBRA_FN_EXTRACT) return true;
  if (c.function < PENUMBRA_FN_ADD || c.function > PENUMBRA_FN_LN) return false;
  return IsTime(c.args[0].type) || IsTime(c.args.back().type);
}

TEST(DatetimeTest, GivesPostgresResults) {
  const ExprCaseCounts counts = CheckExprCases(IsDatetime);
  EXPECT_GT(counts.cases, 5000);
}

}  // namespace
}  // namespace penumbra::test

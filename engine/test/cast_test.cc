// Casts against results of a server.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

TEST(CastTest, GivesPostgresResults) {
  const auto is_cast = [](const ExprCase& c) {
    return c.function >= PENUMBRA_FN_CAST && c.function <= PENUMBRA_FN_BPCHAR_TYPMOD;
  };
  const ExprCaseCounts counts = CheckExprCases(is_cast);
  EXPECT_GT(counts.cases, 500);
}

}  // namespace
}  // namespace penumbra::test

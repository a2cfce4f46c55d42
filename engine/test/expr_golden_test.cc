// Every function of PENUMBRA_FUNCTION_LIST against results of a server; one without cases fails.
#include <gtest/gtest.h>

#include "support/expr_cases.h"

namespace penumbra::test {
namespace {

class ExprGoldenTest : public testing::TestWithParam<int> {};

TEST_P(ExprGoldenTest, GivesPostgresResults) {
  // PostgreSQL has it inside of its comparisons only: datetime_test.cc.
  if (GetParam() == PENUMBRA_FN_COMPARED_AS) GTEST_SKIP();
  // Its automata come from the adapter: regex_test.cc, test/differential/test_regex.py.
  if (GetParam() >= PENUMBRA_FN_REGEX_MATCHES && GetParam() <= PENUMBRA_FN_REGEX_INSTR) GTEST_SKIP();
  const ExprCaseCounts counts = CheckExprCases(static_cast<PenumbraFunction>(GetParam()));
  EXPECT_GT(counts.cases, 0) << "add cases to expr_cases.py and run make goldens";
}

INSTANTIATE_TEST_SUITE_P(Function, ExprGoldenTest, testing::Range(0, static_cast<int>(PENUMBRA_FN_COUNT_OF)),
                         [](const auto& parameter) { return std::string(kFunctionIds[parameter.param]); });

}  // namespace
}  // namespace penumbra::test

// Calls whose results a PostgreSQL server printed (expr_cases.py), and the ways to run them here: on
// constants, on flat vectors with and without a constant argument, on dictionaries, among null rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expression/expr.h"

namespace penumbra::test {

struct ExprCase {
  struct Argument {
    PenumbraType type;
    std::string value;  // hex of the binary format, numeric as text, "\N"
  };
  int line;
  std::string zone;
  PenumbraFunction function;
  PenumbraType result;
  std::string expected;  // like an argument's value, "!" and an SQLSTATE, or "~": differs between versions
  std::vector<Argument> args;

  bool is_error() const { return expected[0] == '!'; }
};

struct ExprCaseCounts {
  int cases = 0;
  int refused = 0;  // ended with PENUMBRA_UNSUPPORTED
};

// Runs all cases that `is_wanted`; failures are GoogleTest's. PENUMBRA_UNSUPPORTED must be the end where
// PostgreSQL's versions differ, and may be it where PostgreSQL fails.
ExprCaseCounts CheckExprCases(const std::function<bool(const ExprCase&)>& is_wanted);

// One value in the form of the cases.
std::string FormatRow(const Vector& v, uint32_t row);
// A flat vector of such values.
Vector VectorOf(PenumbraType type, const std::vector<std::string>& values, Arena& arena);
// The session of a zone of the cases ("-": none).
Session SessionOf(const std::string& zone);

}  // namespace penumbra::test

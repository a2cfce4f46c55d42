// Calls whose results a PostgreSQL server printed (expr_cases.py), and the ways to run them here: on
// constants, on flat vectors with and without a constant argument, on dictionaries, among null rows.
#pragma once

#include <string>
#include <vector>

#include "expression/expr.h"
#include "vector/error.h"

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

// Runs all cases of the function; failures are GoogleTest's. PENUMBRA_UNSUPPORTED must be the end where
// PostgreSQL's versions differ, and may be it where PostgreSQL fails.
ExprCaseCounts CheckExprCases(PenumbraFunction function);
// The functions' enumerators without their prefix.
extern const char* const kFunctionIds[PENUMBRA_FN_COUNT_OF];

// The parts of a golden file.
std::vector<std::string> SplitFields(const std::string& text, char separator = '\t');
PenumbraType TypeOf(const std::string& name);
// Whether two results in the form of the cases are the same; any NaN is like any other.
bool IsSameResult(PenumbraType type, const std::string& a, const std::string& b);
// "!" and the SQLSTATE, or "unsupported".
std::string Outcome(const EngineError& error);

// One value in the form of the cases.
std::string FormatRow(const Vector& v, uint32_t row);
// A flat vector of such values.
Vector VectorOf(PenumbraType type, const std::vector<std::string>& values, Arena& arena);
// The session of a zone of the cases ("-": none).
Session SessionOf(const std::string& zone);

}  // namespace penumbra::test

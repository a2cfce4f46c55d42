// What is known of NUMERIC expressions when the plan is built.
#pragma once

#include "expression/expr.h"

namespace penumbra {

// The functions' column "scale": the display scale of a NUMERIC result.
enum class NumericScale : uint8_t {
  kUnknown,    // differs by row, or the result is not NUMERIC
  kSum,        // the greater of two
  kProduct,    // the sum of two
  kQuotient,   // differs by row, but the digits before the point are bounded
  kRemainder,  // the greater of two, for a constant divisor
  kSame,       // the argument's
  kFirst,      // the first argument's
  kRounded,    // the second argument, 0 without it
  kDeclared,   // numeric(p, scale)
  kInteger,    // 0 of an integer
  kChoice,     // that of one of the values
};
NumericScale ScaleRuleOf(PenumbraFunction function);

// Of a column declared numeric(precision, scale); 0: of a precision that is not known.
NumericTraits TraitsOfDeclared(int precision, int scale);
NumericTraits TraitsOfConstant(const Vector& constant);
// Of values each of which has these or those.
NumericTraits TraitsOfEither(const NumericTraits& a, const NumericTraits& b);
// Of a call whose arguments have theirs.
NumericTraits TraitsOfCall(const Expr& call);

// The one display scale of the expression's finite values, if these have at most kMaxInt64Digits digits; otherwise, and
// for other types, -1.
int IntegerScale(const Expr& expr);

// Whether a call on NUMERIC that may fail in general cannot, because its result is known to be finite
// or NaN and far from what PostgreSQL's format can hold.
bool IsSafeNumericCall(const Expr& call);

}  // namespace penumbra

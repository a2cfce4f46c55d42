// What is known of NUMERIC expressions when the plan is built.
#pragma once

#include "expression/expr.h"

namespace penumbra {

// Of a column declared numeric(p, scale).
NumericTraits TraitsOfDeclared(int scale);
NumericTraits TraitsOfConstant(const Vector& constant);
// Of a call whose arguments have theirs.
NumericTraits TraitsOfCall(const Expr& call);

// Whether a call on NUMERIC that may fail in general cannot, because its result is known to be finite
// or NaN and far from what PostgreSQL's format can hold.
bool IsSafeNumericCall(const Expr& call);

}  // namespace penumbra

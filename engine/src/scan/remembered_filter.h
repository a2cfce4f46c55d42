// Which conditions are worth remembering, and under what name.
#pragma once

#include <string>

#include "expression/expr.h"

namespace penumbra {

// Bytes that two conditions share only if they give the same for the same value, in whatever plan of the server they
// are: functions, collations and constants, but not the column. Empty: it is not remembered. That is what can fail,
// what depends on more than the values of one column of strings, and what costs hardly more than looking it up.
std::string RememberedKey(const Expr& expr);

}  // namespace penumbra

// Constants of a plan: vectors of the kConstant form that own their memory.
#pragma once

#include "expr.h"
#include "penumbra/types.h"

namespace penumbra {

// Sets kind, type, constant and storage.
void SetConstant(PenumbraType type, const PenumbraValue& value, Expr* expr);
// The same from row 0 of a vector, which is copied with all that it points to.
void SetConstant(const Vector& value, Expr* expr);

}  // namespace penumbra

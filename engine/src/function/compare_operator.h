// The kernels' comparison that a function is.
#pragma once

#include "expression/expr.h"
#include "kernels/kernels.h"

namespace penumbra {

// Of a function that IsComparison().
inline kernels::Compare CompareOf(PenumbraFunction function) {
  using kernels::Compare;
  static constexpr Compare kCompares[] = {Compare::kEq, Compare::kNe, Compare::kLt,
                                          Compare::kLe, Compare::kGt, Compare::kGe};
  static_assert(PENUMBRA_FN_NE - PENUMBRA_FN_EQ == 1 && PENUMBRA_FN_LT - PENUMBRA_FN_EQ == 2 &&
                PENUMBRA_FN_LE - PENUMBRA_FN_EQ == 3 && PENUMBRA_FN_GT - PENUMBRA_FN_EQ == 4 &&
                PENUMBRA_FN_GE - PENUMBRA_FN_EQ == 5);
  return kCompares[function - PENUMBRA_FN_EQ];
}

// a op b as b op' a.
inline kernels::Compare Exchange(kernels::Compare op) {
  using kernels::Compare;
  switch (op) {
    case Compare::kEq:
    case Compare::kNe: return op;
    case Compare::kLt: return Compare::kGt;
    case Compare::kLe: return Compare::kGe;
    case Compare::kGt: return Compare::kLt;
    case Compare::kGe: return Compare::kLe;
  }
  return op;
}

}  // namespace penumbra

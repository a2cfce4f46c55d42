#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic.cc"
#include <hwy/foreach_target.h>

#include "arithmetic-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

#define PENUMBRA_EXPORT_ARITHMETIC(T, suffix)                                                                  \
  HWY_EXPORT(Wrapping##suffix);                                                                                \
  HWY_EXPORT(Checked##suffix);                                                                                 \
  template <>                                                                                                  \
  void RunArithmetic<T>(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out) {        \
    HWY_DYNAMIC_DISPATCH(Wrapping##suffix)(op, a, b, rows, out);                                               \
  }                                                                                                            \
  template <>                                                                                                  \
  bool RunArithmeticChecked<T>(Arithmetic op, const Operand<T>& a, const Operand<T>& b, size_t rows, T* out) { \
    return HWY_DYNAMIC_DISPATCH(Checked##suffix)(op, a, b, rows, out);                                         \
  }
PENUMBRA_ARITHMETIC_TYPES(PENUMBRA_EXPORT_ARITHMETIC)
#undef PENUMBRA_EXPORT_ARITHMETIC

HWY_EXPORT(NarrowColumns);
HWY_EXPORT(NarrowConstant);

void MultiplyNarrowColumns(const int64_t* a, const int64_t* b, size_t rows, int64_t* out) {
  HWY_DYNAMIC_DISPATCH(NarrowColumns)(a, b, rows, out);
}
void MultiplyNarrowConstant(const int64_t* a, int32_t b, size_t rows, int64_t* out) {
  HWY_DYNAMIC_DISPATCH(NarrowConstant)(a, b, rows, out);
}

}  // namespace penumbra::kernels
#endif

#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic.cc"
#include <hwy/foreach_target.h>

#include "arithmetic-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

#define PENUMBRA_EXPORT_ARITHMETIC(T, suffix)                                                    \
  HWY_EXPORT(Columns##suffix);                                                                   \
  HWY_EXPORT(Constant##suffix);                                                                  \
  HWY_EXPORT(FromConstant##suffix);                                                              \
  HWY_EXPORT(ColumnsChecked##suffix);                                                            \
  HWY_EXPORT(ConstantChecked##suffix);                                                           \
  HWY_EXPORT(FromConstantChecked##suffix);                                                       \
  template <>                                                                                    \
  void ArithmeticColumns<T>(Arithmetic op, const T* a, const T* b, size_t rows, T* out) {        \
    HWY_DYNAMIC_DISPATCH(Columns##suffix)(op, a, b, rows, out);                                  \
  }                                                                                              \
  template <>                                                                                    \
  void ArithmeticConstant<T>(Arithmetic op, const T* a, T b, size_t rows, T* out) {              \
    HWY_DYNAMIC_DISPATCH(Constant##suffix)(op, a, b, rows, out);                                 \
  }                                                                                              \
  template <>                                                                                    \
  void ArithmeticFromConstant<T>(Arithmetic op, T a, const T* b, size_t rows, T* out) {          \
    HWY_DYNAMIC_DISPATCH(FromConstant##suffix)(op, a, b, rows, out);                             \
  }                                                                                              \
  template <>                                                                                    \
  bool ArithmeticColumnsChecked<T>(Arithmetic op, const T* a, const T* b, size_t rows, T* out) { \
    return HWY_DYNAMIC_DISPATCH(ColumnsChecked##suffix)(op, a, b, rows, out);                    \
  }                                                                                              \
  template <>                                                                                    \
  bool ArithmeticConstantChecked<T>(Arithmetic op, const T* a, T b, size_t rows, T* out) {       \
    return HWY_DYNAMIC_DISPATCH(ConstantChecked##suffix)(op, a, b, rows, out);                   \
  }                                                                                              \
  template <>                                                                                    \
  bool ArithmeticFromConstantChecked<T>(Arithmetic op, T a, const T* b, size_t rows, T* out) {   \
    return HWY_DYNAMIC_DISPATCH(FromConstantChecked##suffix)(op, a, b, rows, out);               \
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

#include "kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compare.cc"
#include <hwy/foreach_target.h>

#include "compare-inl.h"

#if HWY_ONCE
namespace penumbra::kernels {

#define PENUMBRA_EXPORT_COMPARE(T, suffix)                                                        \
  HWY_EXPORT(CompareConstant##suffix);                                                            \
  HWY_EXPORT(CompareColumns##suffix);                                                             \
  HWY_EXPORT(CompareBetween##suffix);                                                             \
  template <>                                                                                     \
  void CompareConstant<T>(Compare op, const T* values, T constant, size_t rows, uint64_t* bits) { \
    HWY_DYNAMIC_DISPATCH(CompareConstant##suffix)(op, values, constant, rows, bits);              \
  }                                                                                               \
  template <>                                                                                     \
  void CompareColumns<T>(Compare op, const T* a, const T* b, size_t rows, uint64_t* bits) {       \
    HWY_DYNAMIC_DISPATCH(CompareColumns##suffix)(op, a, b, rows, bits);                           \
  }                                                                                               \
  template <>                                                                                     \
  void CompareBetween<T>(const T* values, T low, T high, size_t rows, uint64_t* bits) {           \
    HWY_DYNAMIC_DISPATCH(CompareBetween##suffix)(values, low, high, rows, bits);                  \
  }
PENUMBRA_COMPARE_TYPES(PENUMBRA_EXPORT_COMPARE)
#undef PENUMBRA_EXPORT_COMPARE

HWY_EXPORT(LookupToBitsU8);

template <>
void LookupToBits(const uint8_t* codes, const uint8_t* table, size_t table_size, size_t rows, uint64_t* bits) {
  HWY_DYNAMIC_DISPATCH(LookupToBitsU8)(codes, table, table_size, rows, bits);
}

namespace {

// Wider codes mean large tables, for which no shuffle helps: one load per row.
template <typename Code>
void LookupWideToBits(const Code* codes, const uint8_t* table, size_t rows, uint64_t* bits) {
  for (size_t begin = 0; begin < rows; begin += 64) {
    size_t end = begin + 64 < rows ? begin + 64 : rows;
    uint64_t word = 0;
    for (size_t i = begin; i < end; ++i) {
      word |= static_cast<uint64_t>(table[codes[i]] != 0) << (i - begin);
    }
    bits[begin / 64] = word;
  }
}

}  // namespace

template <>
void LookupToBits(const uint16_t* codes, const uint8_t* table, size_t, size_t rows, uint64_t* bits) {
  LookupWideToBits(codes, table, rows, bits);
}
template <>
void LookupToBits(const uint32_t* codes, const uint8_t* table, size_t, size_t rows, uint64_t* bits) {
  LookupWideToBits(codes, table, rows, bits);
}

}  // namespace penumbra::kernels
#endif

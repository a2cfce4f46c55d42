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

// Wider codes mean large tables, for which no shuffle helps: one load per row. Eight rows with fixed shifts at a time
// are four times as fast as a loop that shifts by the row, and as fast as gathers.
template <typename Code>
uint64_t LookupEight(const Code* codes, const uint8_t* table) {
  uint64_t truth = 0;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) truth |= uint64_t{table[codes[i]]} << i;
  return truth;
}

template <typename Code>
void LookupWideToBits(const Code* codes, const uint8_t* table, size_t rows, uint64_t* bits) {
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) {
    uint64_t word = 0;
    for (int i = 0; i < 64; i += 8) word |= LookupEight(codes + row + i, table) << i;
    bits[row / 64] = word;
  }
  if (row == rows) return;
  uint64_t word = 0;
  for (size_t i = row; i < rows; ++i) word |= uint64_t{table[codes[i]]} << (i - row);
  bits[row / 64] = word;
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

#define PENUMBRA_EXPORT_MEMBERS(T, suffix)                                                                \
  HWY_EXPORT(AndMembers##suffix);                                                                         \
  template <>                                                                                             \
  void AndMembers(const T* values, SetPlace<T> least, SetPlace<T> span, const uint64_t* set, size_t rows, \
                  uint64_t* bits) {                                                                       \
    HWY_DYNAMIC_DISPATCH(AndMembers##suffix)(values, least, span, set, rows, bits);                       \
  }
PENUMBRA_EXPORT_MEMBERS(uint16_t, U16)
PENUMBRA_EXPORT_MEMBERS(uint32_t, U32)
PENUMBRA_EXPORT_MEMBERS(uint64_t, U64)
#undef PENUMBRA_EXPORT_MEMBERS

}  // namespace penumbra::kernels
#endif

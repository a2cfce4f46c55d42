// Comparisons that produce bitmaps, and tables looked up by code.
#if defined(PENUMBRA_KERNELS_COMPARE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_COMPARE_INL_H_
#undef PENUMBRA_KERNELS_COMPARE_INL_H_
#else
#define PENUMBRA_KERNELS_COMPARE_INL_H_
#endif

#include <bit>

#include "kernels/kernels.h"
#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

// Two relations are enough: the other four are these with sides swapped or the result inverted,
// which holds for floating point too because PostgreSQL's order is total.
template <typename T>
struct Equal {
  template <class D, class V>
  static HWY_INLINE auto Test(D /*d*/, V a, V b) {
    auto equal = hn::Eq(a, b);
    if constexpr (hwy::IsFloat<T>()) equal = hn::Or(equal, hn::And(hn::IsNaN(a), hn::IsNaN(b)));
    return equal;
  }
};

template <typename T>
struct Less {
  template <class D, class V>
  static HWY_INLINE auto Test(D /*d*/, V a, V b) {
    auto less = hn::Lt(a, b);
    if constexpr (hwy::IsFloat<T>()) less = hn::Or(less, hn::AndNot(hn::IsNaN(a), hn::IsNaN(b)));
    return less;
  }
};

template <class Relation, typename T, class A, class B>
HWY_INLINE uint64_t CompareBlock(const A& a, const B& b, size_t row) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  uint64_t word = 0;
  for (size_t lane = 0; lane < 64; lane += lanes) {
    word |= WordFromMask(d, Relation::Test(d, a.Load(d, row + lane), b.Load(d, row + lane))) << lane;
  }
  return word;
}

// `inverted` is all ones to invert the relation, else zero.
template <class Relation, typename T, class A, class B>
HWY_INLINE void CompareRows(const A& a, const B& b, uint64_t inverted, size_t rows, uint64_t* bits) {
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) bits[row / 64] = CompareBlock<Relation, T>(a, b, row) ^ inverted;
  if (row < rows) {
    T tail_a[64] = {}, tail_b[64] = {};
    for (size_t i = row; i < rows; ++i) {
      tail_a[i - row] = a.At(i);
      tail_b[i - row] = b.At(i);
    }
    uint64_t word = CompareBlock<Relation, T>(ColumnOperand<T>{tail_a}, ColumnOperand<T>{tail_b}, 0);
    bits[row / 64] = (word ^ inverted) & LowBits(rows - row);
  }
}

template <typename T, class A, class B>
HWY_INLINE void CompareSides(Compare op, const A& a, const B& b, size_t rows, uint64_t* bits) {
  constexpr uint64_t kInverted = ~uint64_t{0};
  switch (op) {
    case Compare::kEq: return CompareRows<Equal<T>, T>(a, b, 0, rows, bits);
    case Compare::kNe: return CompareRows<Equal<T>, T>(a, b, kInverted, rows, bits);
    case Compare::kLt: return CompareRows<Less<T>, T>(a, b, 0, rows, bits);
    case Compare::kGe: return CompareRows<Less<T>, T>(a, b, kInverted, rows, bits);
    case Compare::kGt: return CompareRows<Less<T>, T>(b, a, 0, rows, bits);
    case Compare::kLe: return CompareRows<Less<T>, T>(b, a, kInverted, rows, bits);
  }
}

template <typename T>
HWY_INLINE uint64_t BetweenBlock(const T* values, T low, T high) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto low_lanes = hn::Set(d, low);
  const auto high_lanes = hn::Set(d, high);
  uint64_t outside = 0;
  for (size_t lane = 0; lane < 64; lane += lanes) {
    const auto v = hn::LoadU(d, values + lane);
    const auto mask = hn::Or(Less<T>::Test(d, v, low_lanes), Less<T>::Test(d, high_lanes, v));
    outside |= WordFromMask(d, mask) << lane;
  }
  return ~outside;
}

template <typename T>
HWY_INLINE void BetweenRows(const T* values, T low, T high, size_t rows, uint64_t* bits) {
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) bits[row / 64] = BetweenBlock(values + row, low, high);
  if (row < rows) {
    T tail[64] = {};
    std::memcpy(tail, values + row, (rows - row) * sizeof(T));
    bits[row / 64] = BetweenBlock(tail, low, high) & LowBits(rows - row);
  }
}

// A row's truth is bit (code % 8) of byte (code / 8) of a 256-bit table: two 16-byte shuffles find
// the byte, a third the bit.
struct BitTable {
  uint8_t bytes[32] = {};
};

HWY_INLINE uint64_t LookupBlock(const uint8_t* codes, const BitTable& table) {
  const BlockTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN static constexpr uint8_t kPowers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto low = hn::LoadDup128(d, table.bytes);
  const auto high = hn::LoadDup128(d, table.bytes + 16);
  const auto powers = hn::LoadDup128(d, kPowers);
  uint64_t word = 0;
  for (size_t lane = 0; lane < 64; lane += lanes) {
    const auto code = hn::LoadU(d, codes + lane);
    const auto index = hn::And(hn::ShiftRight<3>(code), hn::Set(d, uint8_t{15}));
    const auto is_high = hn::Gt(code, hn::Set(d, uint8_t{127}));
    const auto byte = hn::IfThenElse(is_high, hn::TableLookupBytes(high, index), hn::TableLookupBytes(low, index));
    const auto bit = hn::TableLookupBytes(powers, hn::And(code, hn::Set(d, uint8_t{7})));
    word |= WordFromMask(d, hn::TestBit(byte, bit)) << lane;
  }
  return word;
}

// Holds the table as 256 bits in registers. A code's upper bits choose the byte, its lower three the bit.
void LookupToBitsU8(const uint8_t* codes, const uint8_t* table, size_t table_size, size_t rows, uint64_t* bits) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t begin = 0; begin < rows; begin += 64) {
    uint64_t word = 0;
    for (size_t i = begin; i < rows && i < begin + 64; ++i) {
      word |= static_cast<uint64_t>(table[codes[i]] != 0) << (i - begin);
    }
    bits[begin / 64] = word;
  }
  (void)table_size;
#else
  BitTable bit_table;
  for (size_t code = 0; code < table_size; ++code) {
    if (table[code] != 0) bit_table.bytes[code / 8] |= static_cast<uint8_t>(1 << (code % 8));
  }
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) bits[row / 64] = LookupBlock(codes + row, bit_table);
  if (row < rows) {
    uint8_t tail[64] = {};
    std::memcpy(tail, codes + row, rows - row);
    bits[row / 64] = LookupBlock(tail, bit_table) & LowBits(rows - row);
  }
#endif
}

// A set as words of Place, in which bit n of the set is bit n % (bits of Place) of word n / (bits of Place).
template <typename T, typename Place>
HWY_INLINE uint64_t MembersBlock(const T* values, Place least, Place span, const Place* set) {
  const BlockTag<Place> d;
  const hn::RebindToSigned<decltype(d)> d_index;
  constexpr int kShift = sizeof(Place) == 8 ? 6 : 5;
  const auto least_lanes = hn::Set(d, least), span_lanes = hn::Set(d, span), one = hn::Set(d, Place{1});
  const auto last_bit = hn::Set(d, Place{sizeof(Place) * 8 - 1});
  // halves of a set's words are the other way round there
  const auto half = hn::Set(d, Place{sizeof(Place) == 4 && std::endian::native == std::endian::big});
  uint64_t word = 0;
  for (size_t lane = 0; lane < 64; lane += hn::Lanes(d)) {
    const auto place = hn::Min(hn::Sub(LoadWidened(d, values + lane), least_lanes), span_lanes);
    const auto index = hn::Xor(hn::ShiftRight<kShift>(place), half);
    const auto members = hn::GatherIndex(d, set, hn::BitCast(d_index, index));
    word |= WordFromMask(d, hn::TestBit(members, hn::Shl(one, hn::And(place, last_bit)))) << lane;
  }
  return word;
}

template <typename T>
HWY_INLINE void AndMembersRows(const T* values, SetPlace<T> least, SetPlace<T> span, const uint64_t* set, size_t rows,
                               uint64_t* bits) {
  const auto* words = reinterpret_cast<const SetPlace<T>*>(set);
  size_t row = 0;
  for (; row + 64 <= rows; row += 64) {
    if (bits[row / 64] != 0) bits[row / 64] &= MembersBlock(values + row, least, span, words);
  }
  if (row < rows) {
    T tail[64] = {};
    std::memcpy(tail, values + row, (rows - row) * sizeof(T));
    bits[row / 64] &= MembersBlock(tail, least, span, words) & LowBits(rows - row);
  }
}

void AndMembersU16(const uint16_t* values, uint32_t least, uint32_t span, const uint64_t* set, size_t rows,
                   uint64_t* bits) {
  AndMembersRows(values, least, span, set, rows, bits);
}
void AndMembersU32(const uint32_t* values, uint32_t least, uint32_t span, const uint64_t* set, size_t rows,
                   uint64_t* bits) {
  AndMembersRows(values, least, span, set, rows, bits);
}
void AndMembersU64(const uint64_t* values, uint64_t least, uint64_t span, const uint64_t* set, size_t rows,
                   uint64_t* bits) {
  AndMembersRows(values, least, span, set, rows, bits);
}

// clang-format off
#define PENUMBRA_COMPARE_TYPES(X) \
  X(uint8_t, U8) X(uint16_t, U16) X(uint32_t, U32) X(uint64_t, U64) X(int16_t, I16) X(int32_t, I32) \
  X(int64_t, I64) X(float, F32) X(double, F64)
// clang-format on

#define PENUMBRA_DEFINE_COMPARE(T, suffix)                                                             \
  void CompareConstant##suffix(Compare op, const T* values, T constant, size_t rows, uint64_t* bits) { \
    CompareSides<T>(op, ColumnOperand<T>{values}, ConstantOperand<T>{constant}, rows, bits);           \
  }                                                                                                    \
  void CompareColumns##suffix(Compare op, const T* a, const T* b, size_t rows, uint64_t* bits) {       \
    CompareSides<T>(op, ColumnOperand<T>{a}, ColumnOperand<T>{b}, rows, bits);                         \
  }                                                                                                    \
  void CompareBetween##suffix(const T* values, T low, T high, size_t rows, uint64_t* bits) {           \
    BetweenRows<T>(values, low, high, rows, bits);                                                     \
  }
PENUMBRA_COMPARE_TYPES(PENUMBRA_DEFINE_COMPARE)
#undef PENUMBRA_DEFINE_COMPARE

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// Sums and bounds.
#if defined(PENUMBRA_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_REDUCE_INL_H_
#undef PENUMBRA_KERNELS_REDUCE_INL_H_
#else
#define PENUMBRA_KERNELS_REDUCE_INL_H_
#endif

#include <hwy/base.h>

#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

template <class D, class V>
HWY_INLINE uint64_t AddLanes(D d, V v) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  uint64_t sum = 0;
  for (size_t i = 0; i < hn::Lanes(d); ++i) sum += lanes[i];
  return sum;
}

// Unsigned values. With kFlip, signed ones: their top bit is flipped, so that they are unsigned and
// 2^(bits - 1) too great, which the caller takes off again.
template <typename T, bool kFlip, typename Source>
HWY_INLINE uint64_t SumNarrow(const Source* values, const uint64_t* validity, size_t rows) {
  const BlockTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto flip = hn::Set(d, kFlip ? uint64_t{1} << (8 * sizeof(T) - 1) : uint64_t{0});
  auto sum = hn::Zero(d);
  uint64_t tail_sum = 0;
  for (size_t row = 0; row < rows; row += 64) {
    uint64_t word = WordOrOnes(validity, row / 64, rows);
    const T* block = reinterpret_cast<const T*>(values) + row;
    if (word == 0) continue;
    if (row + 64 > rows) {
      for (; word != 0; word &= word - 1) {
        tail_sum += static_cast<uint64_t>(block[__builtin_ctzll(word)]) ^ hn::GetLane(flip);
      }
    } else if (word == ~uint64_t{0}) {
      for (size_t lane = 0; lane < 64; lane += lanes) {
        sum = hn::Add(sum, hn::Xor(LoadWidened(d, block + lane), flip));
      }
    } else {
      for (size_t lane = 0; lane < 64; lane += lanes) {
        const auto value = hn::Xor(LoadWidened(d, block + lane), flip);
        sum = hn::Add(sum, hn::IfThenElseZero(MaskFromWord(d, word >> lane), value));
      }
    }
  }
  return AddLanes(d, sum) + tail_sum;
}

HWY_INLINE uint64_t CountRows(const uint64_t* validity, size_t rows) {
  if (validity == nullptr) return rows;
  uint64_t count = 0;
  for (size_t w = 0; w * 64 < rows; ++w) count += __builtin_popcountll(WordOrOnes(validity, w, rows));
  return count;
}

// Bytes have an instruction of their own. (The general form also trips over a bug of gcc 12.)
uint64_t SumU8(const uint8_t* values, const uint64_t* validity, size_t rows) {
  uint64_t tail_sum = 0;
  size_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const BlockTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> du64;
  const size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(du64);
  for (; row + 64 <= rows; row += 64) {
    uint64_t word = WordOrOnes(validity, row / 64, rows);
    for (size_t lane = 0; lane < 64; lane += lanes) {
      const auto value = hn::LoadU(d, values + row + lane);
      sum = hn::Add(sum, hn::SumsOf8(hn::IfThenElseZero(MaskFromWord(d, word >> lane), value)));
    }
  }
  tail_sum = AddLanes(du64, sum);
#endif
  for (; row < rows; ++row) {
    if (validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1) != 0) tail_sum += values[row];
  }
  return tail_sum;
}
uint64_t SumU16(const uint16_t* values, const uint64_t* validity, size_t rows) {
  return SumNarrow<uint16_t, false>(values, validity, rows);
}
uint64_t SumU32(const uint32_t* values, const uint64_t* validity, size_t rows) {
  return SumNarrow<uint32_t, false>(values, validity, rows);
}
int64_t SumI16(const int16_t* values, const uint64_t* validity, size_t rows) {
  uint64_t sum = SumNarrow<uint16_t, true>(values, validity, rows);
  return static_cast<int64_t>(sum - (CountRows(validity, rows) << 15));
}
int64_t SumI32(const int32_t* values, const uint64_t* validity, size_t rows) {
  uint64_t sum = SumNarrow<uint32_t, true>(values, validity, rows);
  return static_cast<int64_t>(sum - (CountRows(validity, rows) << 31));
}

// Two sums of 32-bit halves, which cannot overflow for 2^31 rows.
__int128 SumI64(const int64_t* values, const uint64_t* validity, size_t rows) {
  const BlockTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto flip = hn::Set(d, uint64_t{1} << 63);
  const auto low_half = hn::Set(d, uint64_t{0xffffffff});
  auto low = hn::Zero(d);
  auto high = hn::Zero(d);
  __int128 tail_sum = 0;
  uint64_t flipped = 0;
  for (size_t row = 0; row < rows; row += 64) {
    uint64_t word = WordOrOnes(validity, row / 64, rows);
    const uint64_t* block = reinterpret_cast<const uint64_t*>(values) + row;
    if (word == 0) continue;
    if (row + 64 > rows) {
      for (; word != 0; word &= word - 1) tail_sum += values[row + __builtin_ctzll(word)];
      continue;
    }
    flipped += __builtin_popcountll(word);
    const bool is_full = word == ~uint64_t{0};
    for (size_t lane = 0; lane < 64; lane += lanes) {
      auto value = hn::Xor(hn::LoadU(d, block + lane), flip);
      if (!is_full) value = hn::IfThenElseZero(MaskFromWord(d, word >> lane), value);
      low = hn::Add(low, hn::And(value, low_half));
      high = hn::Add(high, hn::ShiftRight<32>(value));
    }
  }
  __int128 sum = static_cast<__int128>(AddLanes(d, high)) << 32;
  sum += AddLanes(d, low);
  sum -= static_cast<__int128>(flipped) << 63;
  return sum + tail_sum;
}

// An incomplete last word is read value by value, so nothing beyond `rows` is read. Lanes of rows that are not valid
// count as neutral values.
template <typename T>
HWY_INLINE bool FindBoundsOf(const T* values, const uint64_t* validity, size_t rows, T* least, T* greatest) {
  const BlockTag<T> d;
  const size_t lanes = hn::Lanes(d);
  T low = hwy::LimitsMax<T>();
  T high = hwy::LimitsMin<T>();
  const auto none_low = hn::Set(d, low);
  const auto none_high = hn::Set(d, high);
  auto lows = none_low;
  auto highs = none_high;
  bool is_any = false;
  for (size_t row = 0; row < rows; row += 64) {
    uint64_t word = WordOrOnes(validity, row / 64, rows);
    if (word == 0) continue;
    is_any = true;
    if (row + 64 > rows) {
      for (; word != 0; word &= word - 1) {
        T value = values[row + __builtin_ctzll(word)];
        if (value < low) low = value;
        if (value > high) high = value;
      }
      continue;
    }
    const bool is_full = word == ~uint64_t{0};
    for (size_t lane = 0; lane < 64; lane += lanes) {
      const auto value = hn::LoadU(d, values + row + lane);
      const auto mask = MaskFromWord(d, word >> lane);
      lows = hn::Min(lows, is_full ? value : hn::IfThenElse(mask, value, none_low));
      highs = hn::Max(highs, is_full ? value : hn::IfThenElse(mask, value, none_high));
    }
  }
  if (!is_any) return false;
  HWY_ALIGN T lane_lows[hn::MaxLanes(BlockTag<T>())];
  HWY_ALIGN T lane_highs[hn::MaxLanes(BlockTag<T>())];
  hn::Store(lows, d, lane_lows);
  hn::Store(highs, d, lane_highs);
  for (size_t i = 0; i < lanes; ++i) {
    if (lane_lows[i] < low) low = lane_lows[i];
    if (lane_highs[i] > high) high = lane_highs[i];
  }
  *least = low;
  *greatest = high;
  return true;
}

// clang-format off
#define PENUMBRA_BOUNDS_TYPES(X) \
  X(uint8_t, U8) X(uint16_t, U16) X(uint32_t, U32) X(uint64_t, U64) X(int16_t, I16) X(int32_t, I32) X(int64_t, I64)
// clang-format on

#define PENUMBRA_DEFINE_BOUNDS(T, suffix)                                                                  \
  bool FindBounds##suffix(const T* values, const uint64_t* validity, size_t rows, T* least, T* greatest) { \
    return FindBoundsOf(values, validity, rows, least, greatest);                                          \
  }
PENUMBRA_BOUNDS_TYPES(PENUMBRA_DEFINE_BOUNDS)
#undef PENUMBRA_DEFINE_BOUNDS

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

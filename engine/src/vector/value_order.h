// PostgreSQL's order and equality of single values that are not plain numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "vector/vector.h"

namespace penumbra {

// As interval_cmp: a month counts 30 days, a day 24 hours.
inline int128 IntervalSpan(const PenumbraInterval& interval) {
  constexpr int64_t kDayUs = int64_t{86400} * 1000000;
  const int64_t days = int64_t{interval.month} * 30 + interval.day;
  return int128{interval.time_us} + int128{days} * kDayUs;
}

// As unsigned integers in PostgreSQL's order: NaN is the greatest, and there is one zero.
template <typename Bits, typename T>
Bits FloatBits(T value) {
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  if (value == 0) value = 0;
  Bits bits;
  std::memcpy(&bits, &value, sizeof(T));
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
}

// Length without trailing blanks or a tail: what of a BPCHAR counts.
inline uint32_t TrimmedLength(const char* bytes, uint32_t length) {
  if (const uint32_t tail = penumbra_tail_bytes(bytes, length); tail != 0) return length - tail;
  while (length > 0 && bytes[length - 1] == ' ') --length;
  return length;
}

// Bytewise, the shorter first where one is a prefix of the other.
inline int CompareBytes(const char* a, uint32_t a_length, const char* b, uint32_t b_length) {
  const int order = std::memcmp(a, b, std::min(a_length, b_length));
  if (order != 0) return order;
  return a_length < b_length ? -1 : a_length > b_length;
}

inline int CompareText(const StringRef& a, const StringRef& b) {
  uint32_t a_prefix, b_prefix;
  std::memcpy(&a_prefix, a.prefix, 4);
  std::memcpy(&b_prefix, b.prefix, 4);
  if (a_prefix != b_prefix) {
    // Bytes past a short string are zero, and so order it before a longer one; equal zeros never differ.
    return __builtin_bswap32(a_prefix) < __builtin_bswap32(b_prefix) ? -1 : 1;
  }
  if (a.is_inline() && b.is_inline()) {
    uint64_t a_rest, b_rest;
    std::memcpy(&a_rest, a.rest, 8);
    std::memcpy(&b_rest, b.rest, 8);
    if (a_rest == b_rest) return a.length < b.length ? -1 : a.length > b.length;
    return __builtin_bswap64(a_rest) < __builtin_bswap64(b_rest) ? -1 : 1;
  }
  return CompareBytes(a.data(), a.length, b.data(), b.length);
}

inline int CompareBpchar(const StringRef& a, const StringRef& b) {
  const char *a_bytes = a.data(), *b_bytes = b.data();
  return CompareBytes(a_bytes, TrimmedLength(a_bytes, a.length), b_bytes, TrimmedLength(b_bytes, b.length));
}

}  // namespace penumbra

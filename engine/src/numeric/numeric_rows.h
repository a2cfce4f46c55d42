// NUMERIC vectors row by row: the path of numeric functions for everything that the loops over
// int64 and int128 do not cover. Numbers that fit are handled as int128 integers, the others as
// Decimal.
#pragma once

#include "numeric/numeric.h"
#include "vector/arena.h"
#include "vector/vector.h"
#include "vector/vector_build.h"

namespace penumbra {

// What integer results are kept below, in magnitude: then every int128 of a vector has at most 38
// digits.
constexpr int128 kInt128Limit = int128{1000000000000000000} * int128{1000000000000000000} * 100;

// value / 10^scale.
struct SmallNumber {
  int128 value;
  int scale;
};

inline bool FitsInt64(int128 lower, int128 upper) { return lower >= INT64_MIN && upper <= INT64_MAX; }

// *product = a * b, false if its magnitude reaches kInt128Limit.
inline bool MultiplyInLimit(int128 a, int128 b, int128* product) {
  return !__builtin_mul_overflow(a, b, product) && *product < kInt128Limit && *product > -kInt128Limit;
}
inline bool AddInLimit(int128 a, int128 b, int128* sum) {
  return !__builtin_add_overflow(a, b, sum) && *sum < kInt128Limit && *sum > -kInt128Limit;
}
// Multiplies by 10^exponent, exponent >= 0.
inline bool ScaleUpInLimit(int128* value, int exponent) {
  if (exponent == 0 || *value == 0) return true;
  return exponent <= kMaxInt128Digits && MultiplyInLimit(*value, kPowersOfTen[exponent], value);
}

// How many decimal digits, of at most kMaxInt128Digits; 0 for zero.
int CountDecimals(uint128 magnitude);

// Row of a NUMERIC vector in any form; the row must not be null. False if it is not finite or too
// long.
bool ReadSmall(const Vector& v, uint32_t row, SmallNumber* number);
// The payload of such a row; may need `arena`.
StringRef PayloadAt(const Vector& v, uint32_t row, Arena& arena);
// A packed integer, copied to the arena unless it is inline.
StringRef IntegerPayloadRef(int128 value, int scale, Arena& arena);

// The operations of numeric.h on small numbers, with the same result, scale and errors. False: the
// operands or the result are too long for int128, so the caller takes Decimal.
bool AddSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result);
bool SubtractSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result);
bool MultiplySmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result);
bool DivideSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result);
bool ModuloSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result);
bool SquareRootSmall(const SmallNumber& a, SmallNumber* result);
// Decimal::ComputeSpread of finite sums; there are enough values.
bool SpreadSmall(Decimal::Spread spread, int64_t count, const SmallNumber& sum, const SmallNumber& sum_of_squares,
                 SmallNumber* result);
bool CompareSmall(const SmallNumber& a, const SmallNumber& b, int* order);
enum class Rounding : uint8_t { kHalfAway, kTruncate, kFloor, kCeil };
bool RoundSmall(const SmallNumber& a, int scale, Rounding rounding, SmallNumber* result);
// -1, 0 or 1 as Decimal::Compare, rows not null.
int CompareRows(const Vector& a, uint32_t row_a, const Vector& b, uint32_t row_b);

// Collects a result of which form and scale show only at the end.
class NumericWriter {
 public:
  NumericWriter(uint32_t rows, Arena& arena);
  void Set(uint32_t row, const SmallNumber& number);
  // Any int128.
  void SetInteger(uint32_t row, int128 value, int scale);
  void SetDecimal(uint32_t row, const Decimal& number);
  // The bytes are not copied.
  void SetPayload(uint32_t row, const StringRef& payload);
  // Copies a row of another vector.
  void SetFrom(uint32_t row, const Vector& source, uint32_t source_row);
  // sum / 10^scale / count, as avg gives it.
  void SetAverage(uint32_t row, int128 sum, int scale, int64_t count);

  // kInt64 or kInt128 when all rows are small and of one scale, else kPayload. Without validity
  // given, rows never set are null; those that it declares null need not be set.
  Vector Finish(const uint64_t* validity);
  Vector Finish();

 private:
  static constexpr int16_t kUnset = -1;
  static constexpr int16_t kPayloadRow = -2;

  Vector FinishIntegers() const;
  Vector FinishPayloads();

  uint32_t rows_;
  Arena& arena_;
  int128* values_;
  int16_t* scales_;
  StringRef* payloads_ = nullptr;  // allocated with the first
  int scale_ = kUnset;             // of the last row set
  bool has_one_scale_ = true;
  int128 lower_ = 0;
  int128 upper_ = 0;
};

}  // namespace penumbra

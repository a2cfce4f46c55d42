// NUMERIC vectors row by row: the path of numeric functions for everything that the loops over
// int64 and int128 do not cover. Numbers that fit are handled as int128 integers, the others as
// Decimal.
#pragma once

#include <algorithm>

#include "numeric/numeric.h"
#include "numeric/numeric_digits.h"
#include "numeric/numeric_words.h"
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
bool ReadAnySmall(const Vector& v, uint32_t row, SmallNumber* number);
inline bool ReadSmall(const Vector& v, uint32_t row, SmallNumber* number) {
  if (v.form != VectorForm::kFlat || v.numeric_form != NumericForm::kInt64) return ReadAnySmall(v, row, number);
  *number = {v.values<int64_t>()[row], v.scale};
  return true;
}
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
bool PowerSmall(const SmallNumber& a, const PowerRule& rule, SmallNumber* result);
// About log10 of the power of a number of these digits, in the very steps of PostgreSQL, which cuts it to an integer.
double PowerWeight(const int16_t* digits, uint32_t count, int weight, int exponent);
// The display scale of a power of about that weight; `scale` is the base's.
int PowerScaleOf(const PowerRule& rule, double weight, int scale);
// Decimal::ComputeSpread of finite sums; there are enough values.
bool SpreadSmall(Decimal::Spread spread, int64_t count, const SmallNumber& sum, const SmallNumber& sum_of_squares,
                 SmallNumber* result);
bool CompareSmall(const SmallNumber& a, const SmallNumber& b, int* order);
// Decimal::FromFloat of a number whose digits end at the point or behind it, up to the 32nd decimal. False: others.
bool SmallFromFloat(double value, SmallNumber* number);
bool SmallFromFloat(float value, SmallNumber* number);
// The same before zeros at the end are dropped, which tell of the scale alone.
bool DigitsOfFloat(double value, SmallNumber* number);
bool DigitsOfFloat(float value, SmallNumber* number);
enum class Rounding : uint8_t { kHalfAway, kTruncate, kFloor, kCeil };
bool RoundSmall(const SmallNumber& a, int scale, Rounding rounding, SmallNumber* result);

inline int128 WithSign(uint128 magnitude, bool negative) {
  return negative ? -static_cast<int128>(magnitude) : static_cast<int128>(magnitude);
}

// Weight and first digit in base 10,000 of a number; 0 and 0 for zero.
struct Leading {
  int weight;
  uint32_t digit;
};

// As select_div_scale: the greater of the display scales, or what makes 16 digits significant.
inline int DivisionScale(Leading a, Leading b, int scale) {
  const int quotient_weight = a.weight - b.weight - (a.digit <= b.digit);
  return std::min(std::max({kSignificantDigitsMin - quotient_weight * kBaseDecimals, scale, 0}), kDisplayScaleMax);
}

// What the functions of words take.
constexpr uint64_t kWordMagnitudeLimit = uint64_t{1} << 63;

// Of magnitude / 10^scale; magnitude < kWordMagnitudeLimit.
inline Leading LeadingOfWord(uint64_t magnitude, int scale) {
  if (magnitude == 0) return {0, 0};
  const int decimals = CountWordDecimals(magnitude);
  const int exponent = decimals - 1 - scale;
  const int shift = decimals - 1 - (exponent & (kBaseDecimals - 1));  // the digit is magnitude / 10^shift
  const uint64_t digit =
      shift > 0 ? kPowerOfTenDividers.of[shift].Divide(magnitude) : magnitude * kWordPowers.of_ten[-shift];
  return {exponent >> 2, static_cast<uint32_t>(digit)};
}

// DivideSmall by b, of whose magnitude are the divisor and the leading digit.
inline bool DivideByWord(const SmallNumber& a, const WordDivisor& divisor, Leading leading, const SmallNumber& b,
                         SmallNumber* result) {
  const uint128 magnitude = Magnitude(a.value);
  if (magnitude >= kWordMagnitudeLimit) return false;
  const uint64_t dividend = static_cast<uint64_t>(magnitude);
  const int scale = DivisionScale(LeadingOfWord(dividend, a.scale), leading, std::max(a.scale, b.scale));
  const int shift = scale + b.scale - a.scale;
  const int first = std::min(shift, kMaxInt128Digits - CountWordDecimals(dividend));
  const int second = shift - first;  // digits that the division goes on with from what the first have left
  if (shift < 0 || second > kMaxWordDigits) return false;
  uint64_t remainder;
  uint128 quotient = divisor.Divide(dividend * static_cast<uint128>(kPowersOfTen[first]), &remainder);
  if (second > 0) [[unlikely]] {
    if (CountDecimals(quotient) + second > kMaxInt128Digits) return false;
    quotient = quotient * static_cast<uint128>(kPowersOfTen[second]) +
               divisor.DivideToWord(static_cast<uint128>(remainder) * kWordPowers.of_ten[second], &remainder);
  }
  const bool is_up = remainder >= divisor.value() - remainder;
  *result = {WithSign(quotient + is_up, (a.value < 0) != (b.value < 0)), scale};
  return true;
}

// Such a quotient rounded to the scale, which is less than that of the quotient: PostgreSQL rounds twice. With c digits
// to cut, the first rounding brings what is left of the divisor d by a rest to the next number, or to this one, if
// twice as much is up to d / 10^c; and it makes a half of a rest below one if 10^c (d - 2 rest) <= d. The divisor is
// that of b at the scale `divisor_scale`, at least b's and a's less `scale`.
inline bool DivideByWordAndRound(const SmallNumber& a, const WordDivisor& divisor, int divisor_scale, Leading leading,
                                 const SmallNumber& b, int scale, Rounding rounding, SmallNumber* result) {
  const uint128 magnitude = Magnitude(a.value);
  if (magnitude >= kWordMagnitudeLimit) return false;
  const uint64_t dividend = static_cast<uint64_t>(magnitude);
  const int cut = DivisionScale(LeadingOfWord(dividend, a.scale), leading, std::max(a.scale, b.scale)) - scale;
  const int shift = scale + divisor_scale - a.scale;
  if (cut <= 0 || CountWordDecimals(dividend) + shift > kMaxInt128Digits) return false;
  uint64_t rest;
  const uint128 quotient = divisor.Divide(dividend * static_cast<uint128>(kPowersOfTen[shift]), &rest);
  const uint64_t missing = divisor.value() - rest;
  // At the first rounding's scale; beyond a word of digits the least part is more than the divisor.
  const auto at_scale = [cut](uint64_t part) {
    return cut <= kMaxWordDigits ? static_cast<uint128>(part) * kWordPowers.of_ten[cut] : ~uint128{0} >> 1;
  };
  const bool negative = (a.value < 0) != (b.value < 0);
  bool is_up;
  if (rounding == Rounding::kHalfAway) {
    is_up = rest >= missing || at_scale(missing - rest) <= divisor.value();
  } else if (rounding == (negative ? Rounding::kFloor : Rounding::kCeil)) {
    is_up = rest != 0 && 2 * at_scale(rest) >= divisor.value();
  } else {
    is_up = 2 * at_scale(missing) <= divisor.value();
  }
  *result = {WithSign(quotient + is_up, negative), scale};
  return true;
}

// -1, 0 or 1 as Decimal::Compare, rows not null.
int CompareRows(const Vector& a, uint32_t row_a, const Vector& b, uint32_t row_b);

// Collects a result of which form and scale show only at the end.
class NumericWriter {
 public:
  NumericWriter(uint32_t rows, Arena& arena);
  void Set(uint32_t row, const SmallNumber& number) {
    values_[row] = number.value;
    scales_[row] = static_cast<int16_t>(number.scale);
  }
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

  bool HasOneScale(int* scale) const;
  Vector FinishIntegers(int scale) const;
  Vector FinishPayloads();

  uint32_t rows_;
  Arena& arena_;
  int128* values_;
  int16_t* scales_;
  StringRef* payloads_ = nullptr;  // allocated with the first
};

}  // namespace penumbra

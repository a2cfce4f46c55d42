// Exact decimal numbers with PostgreSQL's semantics: value, display scale (dscale), NaN,
// infinities. The slow, always right path (Decimal) and the pieces that the int64/int128 paths
// need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

constexpr int kNumericScaleMax = 0x3FFF;  // the greatest display scale
constexpr int kMaxInt64Digits = 18;
constexpr int kMaxInt128Digits = 38;
extern const int128 kPowersOfTen[kMaxInt128Digits + 1];

// power(x, n) for a small whole n. PostgreSQL computes it by multiplications that may be rounded; they are not where
// IsPowerExact(), and then the result is the exact power, rounded once.
struct PowerRule {
  int exponent;
  int exponent_scale;    // the display scale that n is written with
  bool scale_by_result;  // as of 16: 16 significant digits; else 16 decimals. Never less than the arguments' scales
};
constexpr int kPowerExponentMax = 4;
// For bases of that scale or less. PostgreSQL multiplies at least to the digits of the result and 9 more, less the
// weights of the factors: the factors' own scales are less than that. A square also has two digits in base 10,000 more
// than it needs.
constexpr bool IsPowerExact(int scale, int exponent) {
  return exponent >= 0 && exponent <= kPowerExponentMax && scale * (exponent - 1) <= 8;
}

// Digits in base 10,000 as in PostgreSQL: value = sum digits[i] * 10000^(weight - i).
class Decimal {
 public:
  enum class Kind : uint8_t { kFinite, kNaN, kPositiveInfinity, kNegativeInfinity };

  Decimal() = default;  // zero, scale 0
  static Decimal FromInteger(int128 value, int scale = 0);
  // From and to PostgreSQL's packed format after the varlena header (short and long form).
  static Decimal FromPayload(std::string_view payload);
  StringRef ToPayload(Arena& arena) const;
  static Decimal FromString(std::string_view text);  // tests and constants
  std::string ToString() const;                      // as numeric_out
  static Decimal FromFloat(double value);            // as float8_numeric: 15 significant digits
  static Decimal FromFloat(float value);             // as float4_numeric: 6 significant digits
  double ToDouble() const;                           // as numeric_float8: correctly rounded

  Kind kind() const { return kind_; }
  int scale() const { return scale_; }
  // The integer value * 10^scale() if it fits; false if not (or not finite).
  bool ToScaledInteger(int128* value) const;

  static Decimal Add(const Decimal& a, const Decimal& b);
  static Decimal Subtract(const Decimal& a, const Decimal& b);
  static Decimal Multiply(const Decimal& a, const Decimal& b);
  static Decimal Divide(const Decimal& a, const Decimal& b);  // rscale as select_div_scale
  static Decimal Modulo(const Decimal& a, const Decimal& b);
  static Decimal Round(const Decimal& a, int scale);  // half away from zero
  static Decimal Truncate(const Decimal& a, int scale);
  static Decimal Floor(const Decimal& a);
  static Decimal Ceil(const Decimal& a);
  static Decimal Negate(const Decimal& a);
  static Decimal Abs(const Decimal& a);
  static Decimal Sign(const Decimal& a);
  static Decimal SquareRoot(const Decimal& a);  // rscale as numeric_sqrt
  static Decimal Power(const Decimal& a, const PowerRule& rule);
  // PostgreSQL's order: -inf < finite < inf < NaN, NaN = NaN, scale ignored.
  static int Compare(const Decimal& a, const Decimal& b);

  // Finals of aggregates, from exact sums: avg = sum / count; variance and stddev from n, sum, sum
  // of squares.
  static Decimal Average(const Decimal& sum, int64_t count);
  enum class Spread : uint8_t { kVarPop, kVarSamp, kStddevPop, kStddevSamp };
  // False: the result is NULL (too few rows).
  static bool ComputeSpread(Spread spread, int64_t count, const Decimal& sum, const Decimal& sum_of_squares,
                            Decimal* result);

  // A value stored in numeric(precision, scale): rounded; raises PENUMBRA_NUMERIC_FIELD_OVERFLOW
  // unless it is then below 10^(precision - scale).
  static Decimal ApplyTypmod(const Decimal& a, int precision, int scale);
  // Rounded half away from zero; false if it does not fit. Finite values only.
  bool ToInt64(int64_t* value) const;
  float ToFloat() const;  // as numeric_float4: correctly rounded

 private:
  // Restores the invariants of digits_ and weight_; zero loses its sign.
  void Strip();
  // Strips; raises PENUMBRA_NUMERIC_OVERFLOW if the packed format cannot hold it. Ends every
  // operation.
  Decimal Finish() &&;
  void RoundTo(int scale);
  void TruncateTo(int scale);
  int FirstDigit() const { return digits_.empty() ? 0 : digits_[0]; }
  // Exponent (of 10,000) of the last digit.
  int LowExponent() const { return weight_ - static_cast<int>(digits_.size()) + 1; }
  int SignNumber() const;
  int PowerScale(const PowerRule& rule) const;
  static Decimal Special(Kind kind);
  static int CompareMagnitude(const Decimal& a, const Decimal& b);
  static Decimal AddMagnitudes(const Decimal& a, const Decimal& b);
  static Decimal SubtractMagnitudes(const Decimal& a, const Decimal& b);  // |a| >= |b|
  static Decimal AddFinite(const Decimal& a, const Decimal& b, bool subtract);
  static Decimal AddAny(const Decimal& a, const Decimal& b, bool subtract);
  static Decimal MultiplyFinite(const Decimal& a, const Decimal& b);
  // b is not zero. The quotient rounded or truncated at scale.
  static Decimal DivideFinite(const Decimal& a, const Decimal& b, int scale, bool round);
  static Decimal SquareRootFinite(const Decimal& a, int scale);
  static int DivisionScale(const Decimal& a, const Decimal& b);

  Kind kind_ = Kind::kFinite;
  bool negative_ = false;
  int weight_ = 0;
  int scale_ = 0;
  std::vector<int16_t> digits_;  // no leading or trailing zero digits
};

// If the payload is finite with |value| * 10^dscale < 10^18: its integer and dscale. Fast: loading
// calls it per row.
bool PayloadToInt64(const char* payload, uint32_t length, int64_t* value, int* scale);
bool PayloadToInt128(const char* payload, uint32_t length, int128* value, int* scale);
// Packs an integer of the given scale; at most kIntegerPayloadBytes are written, the length is
// returned.
constexpr uint32_t kIntegerPayloadBytes = 32;
uint32_t IntegerToPayload(int128 value, int scale, char* out);
// Writes the text of a finite number, as numeric_out; returns its length. 0: it is not one, or the text may need more
// than `room` bytes.
uint32_t WritePayloadText(std::string_view payload, char* out, uint32_t room);
// The bytes of a number that are in the order of numbers, as ranges have them (penumbra/types.h); returns their end. At
// most the payload's bytes and kOrderedBytesMore are written.
constexpr uint32_t kOrderedBytesMore = 5;
char* WriteOrderedBytes(std::string_view payload, char* out);
// The same of an integer with a scale, at most kOrderedBytesMore more than its payload would have.
char* WriteOrderedBytes(int128 integer, int scale, char* out);
// Canonical bytes: equal values of any scale and form have equal bytes; short ones fit in a
// StringRef inline. For hashing and grouping only (not stored, not ordered).
constexpr uint32_t kCanonicalInlineBytes = 12;
StringRef CanonicalInteger(int128 value, int scale, Arena& arena);
StringRef CanonicalPayload(std::string_view payload, Arena& arena);
Decimal CanonicalToDecimal(std::string_view canonical);

// Row i of a NUMERIC vector in any form.
Decimal DecimalAt(const Vector& v, uint32_t row);

}  // namespace penumbra

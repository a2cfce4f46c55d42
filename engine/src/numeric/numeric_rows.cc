#include "numeric/numeric_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "kernels/kernels.h"
#include "numeric/numeric_digits.h"
#include "vector/error.h"

namespace penumbra {
namespace {

constexpr int kSquareDigitsMax = 44;

uint128 PowerOfTen(int exponent) { return static_cast<uint128>(kPowersOfTen[exponent]); }

// Most numbers fit in 64 bits, where dividing costs a fraction.
uint128 Divide(uint128 dividend, uint128 divisor, uint128* remainder) {
  if (divisor <= UINT64_MAX) {
    if (dividend <= UINT64_MAX) {
      *remainder = static_cast<uint64_t>(dividend) % static_cast<uint64_t>(divisor);
      return static_cast<uint64_t>(dividend) / static_cast<uint64_t>(divisor);
    }
    uint64_t rest;
    const uint128 quotient = WordDivisor(static_cast<uint64_t>(divisor)).Divide(dividend, &rest);
    *remainder = rest;
    return quotient;
  }
  const uint128 quotient = dividend <= UINT64_MAX ? 0 : dividend / divisor;
  *remainder = dividend - quotient * divisor;
  return quotient;
}

Leading LeadingOf(uint128 magnitude, int decimals, int scale) {
  if (magnitude == 0) return {0, 0};
  const int exponent = decimals - 1 - scale;
  int shift = decimals - 1 - (exponent & 3);  // the digit is magnitude / 10^shift
  uint64_t rest;
  if (shift >= kMaxWordDigits) {
    static constexpr WordDivisor kWordOfDigits(kWordPowers.of_ten[kMaxWordDigits]);
    magnitude = kWordOfDigits.Divide(magnitude, &rest);
    shift -= kMaxWordDigits;
  }
  uint128 unused;
  const uint128 digit = shift >= 0 ? Divide(magnitude, PowerOfTen(shift), &unused) : magnitude * PowerOfTen(-shift);
  return {exponent >> 2, static_cast<uint32_t>(digit)};
}

// Zeros at the end of a number of more than a word, up to so many, are divided out; their count is returned. A scale
// that a sum or a quotient has given makes many of them.
int StripZeros(uint128* magnitude, int count_max) {
  static constexpr WordDivisor kPowers[] = {WordDivisor(kWordPowers.of_ten[16]), WordDivisor(kWordPowers.of_ten[8]),
                                            WordDivisor(kWordPowers.of_ten[4]), WordDivisor(kWordPowers.of_ten[2]),
                                            WordDivisor(kWordPowers.of_ten[1])};
  int count = 0, zeros = 16;
  for (const WordDivisor& power : kPowers) {
    uint64_t rest = 1;
    const uint128 stripped = count + zeros <= count_max ? power.Divide(*magnitude, &rest) : 0;
    if (rest == 0) {
      *magnitude = stripped;
      count += zeros;
      if (stripped < kWordMagnitudeLimit) break;
    }
    zeros /= 2;
  }
  return count;
}

// dividend * 10^shift / divisor, of which the quotient has kMaxInt128Digits at most; else false. Divides as a pupil
// does: what is left is scaled up by as many digits as there is room for.
template <typename DivideBy>
bool DivideScaled(uint128 dividend, int shift, int divisor_decimals, const DivideBy& divide, uint128* quotient,
                  uint128* remainder) {
  const int step_max = kMaxInt128Digits - divisor_decimals;
  int step = std::min(shift, kMaxInt128Digits - CountDecimals(dividend));
  *quotient = divide(dividend * PowerOfTen(step), remainder);
  for (shift -= step; shift > 0; shift -= step) {
    step = std::min(shift, step_max);
    if (step == 0 || CountDecimals(*quotient) + step > kMaxInt128Digits) return false;
    const uint128 digits = divide(*remainder * PowerOfTen(step), remainder);
    *quotient = *quotient * PowerOfTen(step) + digits;
  }
  return true;
}

bool DivideScaled(uint128 dividend, int shift, uint128 divisor, uint128* quotient, uint128* remainder) {
  const int decimals = CountDecimals(divisor);
  if (divisor > UINT64_MAX) {
    const auto divide = [divisor](uint128 value, uint128* rest) { return Divide(value, divisor, rest); };
    return DivideScaled(dividend, shift, decimals, divide, quotient, remainder);
  }
  const WordDivisor word(static_cast<uint64_t>(divisor));
  const auto divide = [&word](uint128 value, uint128* rest) {
    uint64_t rest_of_word;
    const uint128 quotient_of_word = word.Divide(value, &rest_of_word);
    *rest = rest_of_word;
    return quotient_of_word;
  };
  return DivideScaled(dividend, shift, decimals, divide, quotient, remainder);
}

// Both at the greater scale.
bool Align(SmallNumber* a, SmallNumber* b) {
  const int scale = std::max(a->scale, b->scale);
  if (!ScaleUpInLimit(&a->value, scale - a->scale) || !ScaleUpInLimit(&b->value, scale - b->scale)) return false;
  a->scale = b->scale = scale;
  return true;
}

// The square root of a * b, rounded half up; 0 < a * b < 10^kSquareDigitsMax. With 64 bits of mantissa or more the
// first root is so close that what it leaves of the square fits in 128 bits, though the square does not: the overflows
// cancel.
uint128 RoundedSquareRoot(uint128 a, uint128 b) {
  uint128 root = static_cast<uint128>(std::sqrt(static_cast<long double>(a) * static_cast<long double>(b)));
  auto rest = [&] { return static_cast<int128>(a * b - root * root); };
  root = static_cast<uint128>(static_cast<int128>(root) + rest() / (2 * static_cast<int128>(root)));
  while (rest() < 0) --root;
  while (rest() > 2 * static_cast<int128>(root)) ++root;
  return rest() > static_cast<int128>(root) ? root + 1 : root;  // (root + 1/2)^2 = root^2 + root + 1/4
}

// The same for a square in a word and a half, whose root takes 58 bits: a root in double is then so close that what it
// leaves of the square, and the correction, are words.
constexpr int kNearSquareDigitsMax = 34;
uint64_t RoundedNearRoot(uint128 square) {
  const double estimate = std::sqrt(static_cast<double>(static_cast<uint64_t>(square >> 64)) * 0x1p64 +
                                    static_cast<double>(static_cast<uint64_t>(square)));
  uint64_t root = static_cast<uint64_t>(estimate);
  auto rest = [&] { return static_cast<int64_t>(static_cast<uint64_t>(square) - root * root); };
  root += static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>(rest()) / (2 * estimate)));
  while (rest() < 0) --root;
  while (rest() > static_cast<int64_t>(2 * root)) ++root;
  return root + (rest() > static_cast<int64_t>(root));
}

// The root of a number above zero at the scale.
bool RootAtScale(const SmallNumber& a, int scale, SmallNumber* result) {
  const auto magnitude = static_cast<uint128>(a.value);
  const int shift = 2 * scale - a.scale;
  if (shift < 0 || shift > kMaxInt128Digits) return false;
  const int digits = CountDecimals(magnitude) + shift;
  if (digits > kSquareDigitsMax) return false;
  const uint128 root = digits <= kNearSquareDigitsMax ? RoundedNearRoot(magnitude * PowerOfTen(shift))
                                                      : RoundedSquareRoot(magnitude, PowerOfTen(shift));
  *result = {static_cast<int128>(root), scale};
  return true;
}

// The element of data that holds the row.
const void* FindElement(const Vector& v, uint32_t* row) {
  if (v.form == VectorForm::kConstant) *row = 0;
  if (v.form != VectorForm::kDictionary) return v.data;
  *row = v.Code(*row);
  return v.dictionary->data;
}

}  // namespace

int CountDecimals(uint128 magnitude) {
  const uint64_t high = static_cast<uint64_t>(magnitude >> 64);
  if (high == 0) return CountWordDecimals(static_cast<uint64_t>(magnitude));
  const int bits = 64 + std::bit_width(high);
  const int estimate = bits * 1233 >> 12;  // log10(2) from below: right or one too low
  return magnitude >= PowerOfTen(estimate) ? estimate + 1 : estimate;
}

bool ReadAnySmall(const Vector& v, uint32_t row, SmallNumber* number) {
  const void* data = FindElement(v, &row);
  number->scale = v.scale;
  switch (v.numeric_form) {
    case NumericForm::kInt64: number->value = static_cast<const int64_t*>(data)[row]; return true;
    case NumericForm::kInt128:
      number->value = static_cast<const int128*>(data)[row];
      return number->value < kInt128Limit && number->value > -kInt128Limit;
    default: {
      const StringRef& payload = static_cast<const StringRef*>(data)[row];
      int64_t narrow;
      if (PayloadToInt64(payload.data(), payload.length, &narrow, &number->scale)) {
        number->value = narrow;
        return true;
      }
      return PayloadToInt128(payload.data(), payload.length, &number->value, &number->scale);
    }
  }
}

StringRef IntegerPayloadRef(int128 value, int scale, Arena& arena) {
  char bytes[kIntegerPayloadBytes];
  const uint32_t length = IntegerToPayload(value, scale, bytes);
  return StringRef(length <= StringRef::kInlineBytes ? bytes : arena.CopyBytes(bytes, length), length);
}

StringRef PayloadAt(const Vector& v, uint32_t row, Arena& arena) {
  const void* data = FindElement(v, &row);
  switch (v.numeric_form) {
    case NumericForm::kInt64: return IntegerPayloadRef(static_cast<const int64_t*>(data)[row], v.scale, arena);
    case NumericForm::kInt128: return IntegerPayloadRef(static_cast<const int128*>(data)[row], v.scale, arena);
    default: return static_cast<const StringRef*>(data)[row];
  }
}

// ---------------------------------------------------------------- small numbers ---------------

bool AddSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result) {
  SmallNumber x = a, y = b;
  if (!Align(&x, &y)) return false;
  result->scale = x.scale;
  return AddInLimit(x.value, y.value, &result->value);
}

bool SubtractSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result) {
  return AddSmall(a, {-b.value, b.scale}, result);
}

bool MultiplySmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result) {
  result->scale = a.scale + b.scale;
  return result->scale <= kNumericScaleMax && MultiplyInLimit(a.value, b.value, &result->value);
}

bool DivideSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result) {
  if (b.value == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
  const uint128 dividend = Magnitude(a.value);
  const uint128 divisor = Magnitude(b.value);
  if (divisor < kWordMagnitudeLimit) {
    const WordDivisor word(static_cast<uint64_t>(divisor));
    if (DivideByWord(a, word, LeadingOfWord(word.value(), b.scale), b, result)) return true;
  }
  const int decimals = CountDecimals(dividend);
  const int scale = DivisionScale(LeadingOf(dividend, decimals, a.scale),
                                  LeadingOf(divisor, CountDecimals(divisor), b.scale), std::max(a.scale, b.scale));
  result->scale = scale;
  result->value = 0;
  if (dividend == 0) return true;
  int shift = scale + b.scale - a.scale;
  if (shift < 0) return false;
  uint128 shortened = divisor, quotient, remainder;
  if (divisor >= kWordMagnitudeLimit) shift -= StripZeros(&shortened, shift);
  if (!DivideScaled(dividend, shift, shortened, &quotient, &remainder)) return false;
  quotient += remainder >= shortened - remainder;
  result->value = WithSign(quotient, (a.value < 0) != (b.value < 0));
  return quotient < static_cast<uint128>(kInt128Limit);
}

bool ModuloSmall(const SmallNumber& a, const SmallNumber& b, SmallNumber* result) {
  if (b.value == 0) throw EngineError(PENUMBRA_DIVISION_BY_ZERO);
  SmallNumber x = a, y = b;
  if (!Align(&x, &y)) return false;
  result->scale = x.scale;
  if (FitsInt64(std::min(x.value, y.value), std::max(x.value, y.value)) && y.value != -1) {
    result->value = static_cast<int64_t>(x.value) % static_cast<int64_t>(y.value);
  } else {
    result->value = x.value % y.value;
  }
  return true;
}

bool SquareRootSmall(const SmallNumber& a, SmallNumber* result) {
  if (a.value < 0) return false;  // Decimal raises the error
  const uint128 magnitude = Magnitude(a.value);
  const int weight = magnitude == 0 ? 0 : (CountDecimals(magnitude) - 1 - a.scale) >> 2;
  const int root_weight = (weight + 1) * kBaseDecimals / 2 - 1;
  const int scale = std::min(std::max({kSignificantDigitsMin - root_weight, a.scale, 0}), kDisplayScaleMax);
  *result = {0, scale};
  return magnitude == 0 || RootAtScale(a, scale, result);
}

double PowerWeight(const int16_t* digits, uint32_t count, int weight, int exponent) {
  double leading = digits[0];
  int shift = weight * kBaseDecimals;
  for (uint32_t i = 1; i < count && i * kBaseDecimals < kSignificantDigitsMin; ++i) {
    leading = leading * kBase + digits[i];
    shift -= kBaseDecimals;
  }
  return exponent * (std::log10(leading) + shift);
}

int PowerScaleOf(const PowerRule& rule, double weight, int scale) {
  const int least = rule.scale_by_result ? std::max(rule.exponent_scale, 0) : 0;
  return std::min(std::max({kSignificantDigitsMin - static_cast<int>(weight), scale, least, 0}), kDisplayScaleMax);
}

bool PowerSmall(const SmallNumber& a, const PowerRule& rule, SmallNumber* result) {
  double weight = 0;
  if (rule.scale_by_result && a.value != 0) {
    BaseDigits digits;
    IntegerToDigits(Magnitude(a.value), a.scale, &digits);
    weight = PowerWeight(digits.first, digits.count, digits.weight, rule.exponent);
  }
  SmallNumber power = {1, 0};
  for (int i = 0; i < rule.exponent; ++i) {
    if (!MultiplySmall(power, a, &power)) return false;
  }
  return RoundSmall(power, PowerScaleOf(rule, weight, a.scale), Rounding::kHalfAway, result);
}

bool SpreadSmall(Decimal::Spread spread, int64_t count, const SmallNumber& sum, const SmallNumber& sum_of_squares,
                 SmallNumber* result) {
  const bool is_sample = spread == Decimal::Spread::kVarSamp || spread == Decimal::Spread::kStddevSamp;
  const bool is_deviation = spread == Decimal::Spread::kStddevPop || spread == Decimal::Spread::kStddevSamp;
  SmallNumber scaled, square, numerator, variance;
  if (!MultiplySmall(sum_of_squares, {count, 0}, &scaled) || !MultiplySmall(sum, sum, &square) ||
      !SubtractSmall(scaled, square, &numerator)) {
    return false;
  }
  *result = {0, 0};
  if (numerator.value <= 0) return true;
  const int128 denominator = int128{count} * (is_sample ? count - 1 : count);
  if (denominator >= kInt128Limit || !DivideSmall(numerator, {denominator, 0}, &variance)) return false;
  *result = variance;
  return !is_deviation || variance.value == 0 || RootAtScale(variance, variance.scale, result);
}

bool CompareSmall(const SmallNumber& a, const SmallNumber& b, int* order) {
  SmallNumber x = a, y = b;
  if (x.scale != y.scale && !Align(&x, &y)) return false;
  *order = x.value < y.value ? -1 : (x.value > y.value ? 1 : 0);
  return true;
}

// Returns false where the result exceeds the limit of int128. The test for a half does not double the remainder, which
// could overflow.
bool RoundSmall(const SmallNumber& a, int scale, Rounding rounding, SmallNumber* result) {
  scale = std::clamp(scale, -(kWeightMax + 1) * kBaseDecimals, kNumericScaleMax);
  result->scale = std::max(scale, 0);
  result->value = a.value;
  if (scale >= a.scale) return ScaleUpInLimit(&result->value, scale - a.scale);
  const int cut = a.scale - scale;
  const uint128 magnitude = Magnitude(a.value);
  uint128 quotient = 0, remainder = magnitude;
  bool is_half = false;
  if (magnitude < kWordMagnitudeLimit && cut <= kMaxInt64Digits) {
    const uint64_t whole = kPowerOfTenDividers.of[cut].Divide(static_cast<uint64_t>(magnitude));
    const uint64_t unit = kWordPowers.of_ten[cut], rest = static_cast<uint64_t>(magnitude) - whole * unit;
    quotient = whole;
    remainder = rest;
    is_half = rest >= unit - rest;
  } else if (cut <= kMaxInt128Digits) {
    const uint128 unit = PowerOfTen(cut);
    quotient = Divide(magnitude, unit, &remainder);
    is_half = remainder >= unit - remainder;
  }
  const bool negative = a.value < 0;
  quotient +=
      (rounding == Rounding::kHalfAway && is_half) ||
      (remainder != 0 && ((rounding == Rounding::kFloor && negative) || (rounding == Rounding::kCeil && !negative)));
  result->value = WithSign(quotient, negative);
  return scale >= 0 || ScaleUpInLimit(&result->value, -scale);
}

int CompareRows(const Vector& a, uint32_t row_a, const Vector& b, uint32_t row_b) {
  SmallNumber x, y;
  int order;
  if (ReadSmall(a, row_a, &x) && ReadSmall(b, row_b, &y) && CompareSmall(x, y, &order)) return order;
  return Decimal::Compare(DecimalAt(a, row_a), DecimalAt(b, row_b));
}

// ---------------------------------------------------------------- writer ----------------------

NumericWriter::NumericWriter(uint32_t rows, Arena& arena)
    : rows_(rows),
      arena_(arena),
      values_(arena.AllocateArray<int128>(rows)),
      scales_(arena.AllocateArray<int16_t>(rows)) {
  std::fill_n(values_, rows, 0);
  std::fill_n(scales_, rows, kUnset);
}

void NumericWriter::SetInteger(uint32_t row, int128 value, int scale) {
  if (value < kInt128Limit && value > -kInt128Limit) {
    Set(row, {value, scale});
  } else {
    SetPayload(row, IntegerPayloadRef(value, scale, arena_));
  }
}

void NumericWriter::SetAverage(uint32_t row, int128 sum, int scale, int64_t count) {
  SmallNumber average;
  if (sum < kInt128Limit && sum > -kInt128Limit && DivideSmall({sum, scale}, {count, 0}, &average)) {
    Set(row, average);
  } else {
    SetDecimal(row, Decimal::Average(Decimal::FromInteger(sum, scale), count));
  }
}

void NumericWriter::SetDecimal(uint32_t row, const Decimal& number) {
  SmallNumber small;
  if (number.ToScaledInteger(&small.value)) {
    small.scale = number.scale();
    Set(row, small);
  } else {
    SetPayload(row, number.ToPayload(arena_));
  }
}

void NumericWriter::SetFrom(uint32_t row, const Vector& source, uint32_t source_row) {
  SmallNumber small;
  if (ReadSmall(source, source_row, &small)) {
    Set(row, small);
  } else {
    SetPayload(row, PayloadAt(source, source_row, arena_));
  }
}

void NumericWriter::SetPayload(uint32_t row, const StringRef& payload) {
  if (payloads_ == nullptr) {
    payloads_ = arena_.AllocateArray<StringRef>(rows_);
    std::uninitialized_default_construct_n(payloads_, rows_);
  }
  payloads_[row] = payload;
  scales_[row] = kPayloadRow;
}

Vector NumericWriter::Finish(const uint64_t* validity) {
  int scale;
  Vector result = payloads_ == nullptr && HasOneScale(&scale) ? FinishIntegers(scale) : FinishPayloads();
  result.validity = validity;
  return result;
}

// Of the rows that were set; 0 if there are none.
bool NumericWriter::HasOneScale(int* scale) const {
  int16_t least = INT16_MAX, greatest = kUnset;
  for (uint32_t i = 0; i < rows_; ++i) {
    least = std::min(least, scales_[i] == kUnset ? int16_t{INT16_MAX} : scales_[i]);
    greatest = std::max(greatest, scales_[i]);
  }
  *scale = std::max<int>(greatest, 0);
  return least >= greatest;
}

Vector NumericWriter::Finish() {
  uint64_t* validity = nullptr;
  for (uint32_t i = 0; i < rows_; ++i) {
    if (scales_[i] != kUnset) continue;
    if (validity == nullptr) {
      validity = arena_.AllocateArray<uint64_t>(BitWords(rows_));
      kernels::SetBits(validity, rows_);
    }
    validity[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  return Finish(validity);
}

// Rows that were not set are zero.
Vector NumericWriter::FinishIntegers(int scale) const {
  int128 lower = 0, upper = 0;
  for (uint32_t i = 0; i < rows_; ++i) {
    lower = std::min(lower, values_[i]);
    upper = std::max(upper, values_[i]);
  }
  Vector result = FlatVector(PENUMBRA_NUMERIC, values_, nullptr);
  result.numeric_form = NumericForm::kInt128;
  result.scale = static_cast<int16_t>(scale);
  result.lower = lower;
  result.upper = upper;
  if (FitsInt64(lower, upper)) {
    int64_t* narrow = arena_.AllocateArray<int64_t>(rows_);
    for (uint32_t i = 0; i < rows_; ++i) narrow[i] = static_cast<int64_t>(values_[i]);
    result.numeric_form = NumericForm::kInt64;
    result.data = narrow;
  }
  return result;
}

Vector NumericWriter::FinishPayloads() {
  if (payloads_ == nullptr) {
    payloads_ = arena_.AllocateArray<StringRef>(rows_);
    std::uninitialized_default_construct_n(payloads_, rows_);
  }
  for (uint32_t i = 0; i < rows_; ++i) {
    if (scales_[i] != kPayloadRow) payloads_[i] = IntegerPayloadRef(values_[i], std::max<int>(scales_[i], 0), arena_);
  }
  Vector result = FlatVector(PENUMBRA_NUMERIC, payloads_, nullptr);
  result.numeric_form = NumericForm::kPayload;
  return result;
}

}  // namespace penumbra

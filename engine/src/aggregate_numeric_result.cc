#include "aggregate_numeric_result.h"

#include <algorithm>

#include "numeric_digits.h"

namespace penumbra {
namespace {


// Weight and first digit of value / 10^scale in base 10,000.
void LeadingDigit(uint128 value, int scale, int* weight, int* first_digit) {
  *weight = 0;
  *first_digit = 0;
  if (value == 0) return;
  int digits = CountDecimalDigits(value);
  int exponent = digits - 1 - scale;
  *weight = exponent >= 0 ? exponent / kBaseDecimals : -((-exponent + kBaseDecimals - 1) / kBaseDecimals);
  int lead = exponent - *weight * kBaseDecimals + 1;
  *first_digit = static_cast<int>(lead <= digits ? value / static_cast<uint128>(kPowersOfTen[digits - lead])
                                                 : value * static_cast<uint128>(kPowersOfTen[lead - digits]));
}

}  // namespace

int CountDecimalDigits(uint128 value) {
  uint64_t high = static_cast<uint64_t>(value >> 64);
  int bits = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(static_cast<uint64_t>(value) | 1);
  int digits = bits * 1233 >> 12;  // log10(2), never too large
  return digits < kMaxInt128Digits + 1 && value >= static_cast<uint128>(kPowersOfTen[digits]) ? digits + 1 : digits;
}

bool AverageInteger(int128 sum, int scale, int64_t count, int128* average, int* average_scale) {
  uint128 magnitude = Magnitude(sum);
  int weight, first_digit, count_weight, count_first_digit;
  LeadingDigit(magnitude, scale, &weight, &first_digit);
  LeadingDigit(static_cast<uint128>(count), 0, &count_weight, &count_first_digit);
  int quotient_weight = weight - count_weight - (first_digit <= count_first_digit ? 1 : 0);
  int result_scale = std::max({kSignificantDigitsMin - quotient_weight * kBaseDecimals, scale, 0});
  result_scale = std::min(result_scale, kDisplayScaleMax);
  const int shift = result_scale - scale;
  // The remainder is below 2^63: times 10^19 it still fits.
  if (shift < 0 || shift > 19) return false;
  const uint128 divisor = static_cast<uint128>(count), power = static_cast<uint128>(kPowersOfTen[shift]);
  uint128 whole = magnitude / divisor;
  uint128 remainder = magnitude - whole * divisor;
  uint128 scaled;
  if (__builtin_mul_overflow(whole, power, &scaled)) return false;
  uint128 fraction = remainder * power / divisor;
  uint128 rest = remainder * power - fraction * divisor;
  if (rest >= divisor - rest) ++fraction;  // half away from zero
  if (__builtin_add_overflow(scaled, fraction, &scaled)) return false;
  if (scaled >= static_cast<uint128>(kPowersOfTen[kMaxInt128Digits])) return false;
  *average = sum < 0 ? -static_cast<int128>(scaled) : static_cast<int128>(scaled);
  *average_scale = result_scale;
  return true;
}

NumericResult::NumericResult(uint32_t rows, Arena& arena)
    : rows_(rows),
      arena_(arena),
      kinds_(arena.AllocateArray<Kind>(rows)),
      scales_(arena.AllocateArray<int16_t>(rows)),
      integers_(arena.AllocateArray<int128>(rows)) {
  std::fill_n(kinds_, rows, Kind::kNull);
}

void NumericResult::SetInteger(uint32_t row, int128 value, int scale) {
  if (Magnitude(value) >= static_cast<uint128>(kPowersOfTen[kMaxInt128Digits])) {
    SetDecimal(row, Decimal::FromInteger(value, scale));
    return;
  }
  kinds_[row] = Kind::kInteger;
  integers_[row] = value;
  scales_[row] = static_cast<int16_t>(scale);
}

void NumericResult::SetDecimal(uint32_t row, const Decimal& value) { SetPayload(row, value.ToPayload(arena_)); }

void NumericResult::SetPayload(uint32_t row, const StringRef& payload) {
  if (payloads_ == nullptr) payloads_ = arena_.AllocateArray<StringRef>(rows_);
  kinds_[row] = Kind::kPayload;
  payloads_[row] = payload;
}

void NumericResult::SetAverage(uint32_t row, int128 sum, int scale, int64_t count) {
  int128 average;
  int average_scale;
  if (AverageInteger(sum, scale, count, &average, &average_scale)) {
    SetInteger(row, average, average_scale);
  } else {
    SetDecimal(row, Decimal::Average(Decimal::FromInteger(sum, scale), count));
  }
}

Vector NumericResult::FinishIntegers(bool fits_int64) {
  Vector result;
  result.type = PENUMBRA_NUMERIC;
  result.numeric_form = fits_int64 ? NumericForm::kInt64 : NumericForm::kInt128;
  bool is_first = true;
  for (uint32_t i = 0; i < rows_; ++i) {
    if (kinds_[i] == Kind::kNull) {
      integers_[i] = 0;
      continue;
    }
    result.scale = scales_[i];
    result.lower = is_first ? integers_[i] : std::min(result.lower, integers_[i]);
    result.upper = is_first ? integers_[i] : std::max(result.upper, integers_[i]);
    is_first = false;
  }
  result.data = integers_;
  if (fits_int64) {
    int64_t* values = arena_.AllocateArray<int64_t>(rows_);
    for (uint32_t i = 0; i < rows_; ++i) values[i] = static_cast<int64_t>(integers_[i]);
    result.data = values;
  }
  return result;
}

Vector NumericResult::Finish() {
  ResultVector out;
  bool is_integer = true, fits_int64 = true;
  int scale = -1;
  for (uint32_t i = 0; i < rows_; ++i) {
    if (kinds_[i] == Kind::kNull) continue;
    if (kinds_[i] == Kind::kPayload || (scale >= 0 && scales_[i] != scale)) is_integer = false;
    scale = scales_[i];
    fits_int64 &= kinds_[i] == Kind::kInteger &&
                  Magnitude(integers_[i]) < static_cast<uint128>(kPowersOfTen[kMaxInt64Digits]);
  }
  if (is_integer) {
    out.vector = FinishIntegers(fits_int64);
  } else {
    if (payloads_ == nullptr) payloads_ = arena_.AllocateArray<StringRef>(rows_);
    for (uint32_t i = 0; i < rows_; ++i) {
      if (kinds_[i] == Kind::kPayload) continue;
      if (kinds_[i] == Kind::kNull) {
        payloads_[i] = StringRef();
        continue;
      }
      char* bytes = static_cast<char*>(arena_.Allocate(kIntegerPayloadBytes));
      payloads_[i] = StringRef(bytes, IntegerToPayload(integers_[i], scales_[i], bytes));
    }
    out.vector.type = PENUMBRA_NUMERIC;
    out.vector.numeric_form = NumericForm::kPayload;
    out.vector.data = payloads_;
  }
  for (uint32_t i = 0; i < rows_; ++i) {
    if (kinds_[i] == Kind::kNull) out.SetNull(i, arena_);
  }
  return out.vector;
}

}  // namespace penumbra

#include "numeric/integer_codes.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "numeric/numeric_rows.h"

namespace penumbra {
namespace {

constexpr int64_t kNaN = INT64_MAX, kPositiveInfinity = INT64_MAX - 1, kNegativeInfinity = INT64_MIN;

bool IsFinite(int64_t code) { return code > kNegativeInfinity && code < kPositiveInfinity; }

int64_t CodeAt(const Vector& v, uint32_t row, int scale) {
  SmallNumber number;
  if (ReadAnySmall(v, row, &number)) {
    const bool fits = number.value > -kPowersOfTen[kMaxInt64Digits] && number.value < kPowersOfTen[kMaxInt64Digits];
    if (fits && number.scale == scale) return static_cast<int64_t>(number.value);
  } else {
    switch (DecimalAt(v, row).kind()) {
      case Decimal::Kind::kNaN: return kNaN;
      case Decimal::Kind::kPositiveInfinity: return kPositiveInfinity;
      case Decimal::Kind::kNegativeInfinity: return kNegativeInfinity;
      case Decimal::Kind::kFinite: break;
    }
  }
  throw EngineError(PENUMBRA_UNSUPPORTED, "a NUMERIC value that its declared type does not allow");
}

Decimal DecimalOf(int64_t code, int scale) {
  switch (code) {
    case kNaN: return Decimal::FromString("NaN");
    case kPositiveInfinity: return Decimal::FromString("Infinity");
    case kNegativeInfinity: return Decimal::FromString("-Infinity");
    default: return Decimal::FromInteger(code, scale);
  }
}

}  // namespace

Vector ToIntegerCodes(const Vector& v, uint32_t rows, int scale, Arena& arena) {
  if (v.is_null_constant()) return NullConstant(PENUMBRA_INT8);
  Vector codes = v;
  codes.type = PENUMBRA_INT8;
  codes.scale = 0;
  if (v.form == VectorForm::kDictionary) {
    codes.dictionary =
        new (arena.Allocate(sizeof(Vector))) Vector(ToIntegerCodes(*v.dictionary, v.dictionary_size, scale, arena));
    return codes;
  }
  if (v.numeric_form == NumericForm::kInt64 && v.scale == scale) return codes;
  const uint32_t count = v.is_constant() ? 1 : rows;
  auto* values = arena.AllocateArray<int64_t>(count);
  for (uint32_t i = 0; i < count; ++i) values[i] = v.IsValid(i) ? CodeAt(v, i, scale) : 0;
  codes.data = values;
  codes.numeric_form = NumericForm::kInt64;
  return codes;
}

Vector FromIntegerCodes(const Vector& codes, uint32_t rows, int scale, Arena& arena) {
  if (codes.is_null_constant()) return NullConstant(PENUMBRA_NUMERIC);
  const int64_t* values = codes.values<int64_t>();
  int64_t lower = INT64_MAX, upper = INT64_MIN;
  for (uint32_t i = 0; i < rows; ++i) {
    const int64_t value = codes.IsValid(i) ? values[i] : 0;
    lower = std::min(lower, value);
    upper = std::max(upper, value);
  }
  if (IsFinite(lower) && IsFinite(upper)) {
    Vector v = codes;
    v.type = PENUMBRA_NUMERIC;
    v.scale = static_cast<int16_t>(scale);
    v.lower = lower;
    v.upper = upper;
    return v;
  }
  NumericWriter result(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (codes.IsValid(i)) result.SetDecimal(i, DecimalOf(values[i], scale));
  }
  return result.Finish();
}

}  // namespace penumbra

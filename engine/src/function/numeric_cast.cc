// Casts from and to NUMERIC.
#include <cmath>
#include <limits>

#include "function/numeric_functions.h"
#include "vector/error.h"

namespace penumbra {
namespace {

template <typename T>
Vector WidenIntegers(const Vector& flat, uint32_t rows, Arena& arena) {
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  const T* values = flat.values<T>();
  for (uint32_t i = 0; i < rows; ++i) out[i] = values[i];
  return IntegerVector(out, 0, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), flat.validity);
}

[[noreturn]] void ThrowOutOfRange(PenumbraType type) {
  throw EngineError(type == PENUMBRA_INT2   ? PENUMBRA_INT2_OUT_OF_RANGE
                    : type == PENUMBRA_INT4 ? PENUMBRA_INT4_OUT_OF_RANGE
                                            : PENUMBRA_INT8_OUT_OF_RANGE);
}

// The integer nearest to a row, halves away from zero.
int64_t RoundRow(const Vector& v, uint32_t row, PenumbraType type) {
  SmallNumber x, rounded;
  int64_t value;
  if (ReadSmall(v, row, &x) && RoundSmall(x, 0, Rounding::kHalfAway, &rounded)) {
    if (!FitsInt64(rounded.value, rounded.value)) ThrowOutOfRange(type);
    return static_cast<int64_t>(rounded.value);
  }
  const Decimal number = DecimalAt(v, row);
  if (number.kind() != Decimal::Kind::kFinite) {
    const char* target = type == PENUMBRA_INT2 ? "smallint" : type == PENUMBRA_INT4 ? "integer" : "bigint";
    throw EngineError(
        PENUMBRA_CANNOT_CONVERT,
        std::string("cannot convert ") + (number.kind() == Decimal::Kind::kNaN ? "NaN" : "infinity") + " to " + target);
  }
  if (!number.ToInt64(&value)) ThrowOutOfRange(type);
  return value;
}

// For rounded int64 values the bounds decide for all rows, and are tightened if they are too wide. Other values are
// cast one by one.
template <typename T>
Vector NarrowIntegers(const NumericOperand& a, PenumbraType type, uint32_t rows, Arena& arena) {
  constexpr int64_t kMin = std::numeric_limits<T>::min();
  constexpr int64_t kMax = std::numeric_limits<T>::max();
  T* out = arena.AllocateArray<T>(rows);
  Vector rounded;
  if (!a.is_constant() && RoundIntegers(a, 0, Rounding::kHalfAway, rows, arena, &rounded) &&
      rounded.numeric_form == NumericForm::kInt64) {
    NumericOperand exact{rounded};
    if (rounded.lower < kMin || rounded.upper > kMax) exact.Tighten(rows);
    if (exact.vector.lower < kMin || exact.vector.upper > kMax) ThrowOutOfRange(type);
    const int64_t* values = rounded.values<int64_t>();
    for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<T>(values[i]);
    return FlatVector(type, out, a.vector.validity);
  }
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = 0;
    if (!IsRowValid(a.vector.validity, i)) continue;
    const int64_t value = RoundRow(a.vector, i, type);
    if (value < kMin || value > kMax) ThrowOutOfRange(type);
    out[i] = static_cast<T>(value);
  }
  return FlatVector(type, out, a.vector.validity);
}

// Powers of ten that double holds exactly: dividing two exact doubles rounds correctly.
constexpr int kExactPowers = 22;
constexpr int64_t kExactDouble = int64_t{1} << 53;

double PowerOfTen(int exponent) { return static_cast<double>(kPowersOfTen[exponent]); }

// Whether the number is such a quotient, if need be without the zeros that end its decimals: a division has more of
// them than most quotients need.
bool MakeExactQuotient(SmallNumber* x) {
  const auto is_exact = [](int128 value) { return value <= kExactDouble && value >= -kExactDouble; };
  for (int zeros = 4; !is_exact(x->value) && zeros > 0;) {
    const int128 unit = kPowersOfTen[zeros];
    const int128 shorter = x->value / unit;
    if (x->scale >= zeros && shorter * unit == x->value) {
      *x = {shorter, x->scale - zeros};
    } else {
      zeros = zeros == 4 ? 1 : 0;
    }
  }
  return x->scale <= kExactPowers && is_exact(x->value);
}

void ToFloat(const Vector& v, uint32_t row, double* out) {
  SmallNumber x;
  *out = ReadSmall(v, row, &x) && MakeExactQuotient(&x)
             ? static_cast<double>(static_cast<int64_t>(x.value)) / PowerOfTen(x.scale)
             : DecimalAt(v, row).ToDouble();
}

// Rounding the rounded double to float is wrong only where the double looks like a tie of two
// floats, and among float's denormals.
void ToFloat(const Vector& v, uint32_t row, float* out) {
  SmallNumber x;
  if (ReadSmall(v, row, &x) && MakeExactQuotient(&x)) {
    const double quotient = static_cast<double>(static_cast<int64_t>(x.value)) / PowerOfTen(x.scale);
    uint64_t bits;
    std::memcpy(&bits, &quotient, sizeof(bits));
    constexpr uint64_t kDropped = (uint64_t{1} << 29) - 1;
    const bool is_tie = (bits & kDropped) == (uint64_t{1} << 28);
    if (quotient == 0 || (!is_tie && std::fabs(quotient) >= std::numeric_limits<float>::min() * 2)) {
      *out = static_cast<float>(quotient);
      return;
    }
  }
  *out = DecimalAt(v, row).ToFloat();
}

template <typename T>
Vector ToFloats(const NumericOperand& a, PenumbraType type, uint32_t rows, Arena& arena) {
  const Vector& v = a.vector;
  T* out = arena.AllocateArray<T>(rows);
  if (sizeof(T) == sizeof(double) && !a.is_constant() && v.numeric_form == NumericForm::kInt64 &&
      v.scale <= kExactPowers && v.lower >= -kExactDouble && v.upper <= kExactDouble) {
    const double power = PowerOfTen(v.scale);
    const int64_t* values = v.values<int64_t>();
    for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<T>(static_cast<double>(values[i]) / power);
    return FlatVector(type, out, v.validity);
  }
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = 0;
    if (IsRowValid(v.validity, i)) ToFloat(v, i, &out[i]);
  }
  return FlatVector(type, out, v.validity);
}

template <typename T>
Vector FromFloats(const Vector& flat, uint32_t rows, Arena& arena) {
  NumericWriter writer(rows, arena);
  const T* values = flat.values<T>();
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(flat.validity, i)) continue;
    SmallNumber number;
    if (SmallFromFloat(values[i], &number)) {
      writer.Set(i, number);
    } else {
      writer.SetDecimal(i, Decimal::FromFloat(values[i]));
    }
  }
  return writer.Finish(flat.validity);
}

// As numeric_out; at most 64 characters for a scale of up to 19.
constexpr int kFormattedScaleMax = 19;
uint32_t FormatInteger(int64_t value, int scale, char* out) {
  char reversed[32];
  uint32_t count = 0;
  uint64_t magnitude = static_cast<uint64_t>(value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  for (int digit = 0; magnitude != 0 || digit <= scale; ++digit, magnitude /= 10) {
    if (digit == scale && scale > 0) reversed[count++] = '.';
    reversed[count++] = static_cast<char>('0' + magnitude % 10);
  }
  if (value < 0) reversed[count++] = '-';
  for (uint32_t i = 0; i < count; ++i) out[i] = reversed[count - 1 - i];
  return count;
}

}  // namespace

Vector EvaluateIntegerToNumeric(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector flat = Flatten(args[0], rows, context.arena);
  if (flat.type == PENUMBRA_INT2) return WidenIntegers<int16_t>(flat, rows, context.arena);
  if (flat.type == PENUMBRA_INT4) return WidenIntegers<int32_t>(flat, rows, context.arena);
  return IntegerVector(flat.values<int64_t>(), 0, INT64_MIN, INT64_MAX, flat.validity);
}

Vector EvaluateNumericToInteger(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const NumericOperand a = MakeOperand(args[0], rows, context.arena);
  if (expr.type == PENUMBRA_INT2) return NarrowIntegers<int16_t>(a, expr.type, rows, context.arena);
  if (expr.type == PENUMBRA_INT4) return NarrowIntegers<int32_t>(a, expr.type, rows, context.arena);
  return NarrowIntegers<int64_t>(a, expr.type, rows, context.arena);
}

Vector EvaluateFloatToNumeric(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector flat = Flatten(args[0], rows, context.arena);
  return flat.type == PENUMBRA_FLOAT4 ? FromFloats<float>(flat, rows, context.arena)
                                      : FromFloats<double>(flat, rows, context.arena);
}

Vector EvaluateNumericToFloat(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const NumericOperand a = MakeOperand(args[0], rows, context.arena);
  return expr.type == PENUMBRA_FLOAT4 ? ToFloats<float>(a, expr.type, rows, context.arena)
                                      : ToFloats<double>(a, expr.type, rows, context.arena);
}

Vector EvaluateNumericToText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  const NumericOperand a = MakeOperand(args[0], rows, arena);
  StringRef* out = arena.AllocateArray<StringRef>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = StringRef();
    if (!IsRowValid(a.vector.validity, i)) continue;
    SmallNumber x;
    if (ReadSmall(a.vector, i, &x) && FitsInt64(x.value, x.value) && x.scale <= kFormattedScaleMax) {
      char text[64];
      const uint32_t length = FormatInteger(static_cast<int64_t>(x.value), x.scale, text);
      out[i] = StringRef(length <= StringRef::kInlineBytes ? text : arena.CopyBytes(text, length), length);
    } else {
      const std::string text = DecimalAt(a.vector, i).ToString();
      out[i] = StringRef(arena.CopyBytes(text.data(), text.size()), static_cast<uint32_t>(text.size()));
    }
  }
  return FlatVector(expr.type, out, a.vector.validity);
}

}  // namespace penumbra

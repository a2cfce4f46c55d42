// round, trunc, floor, ceil and the cast to numeric(precision, scale).
#include <algorithm>

#include "function/numeric_functions.h"
#include "function/rounded_division.h"

namespace penumbra {
namespace {

// scales: flat, or constant.
Vector RoundRows(const Vector& a, const Vector& scales, Rounding rounding, uint32_t rows, Arena& arena) {
  const uint64_t* validity = AndValidity(a.validity, scales.validity, rows, arena);
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(validity, i)) continue;
    const int32_t scale = scales.values<int32_t>()[scales.is_constant() ? 0 : i];
    SmallNumber x, result;
    if (ReadSmall(a, i, &x) && RoundSmall(x, scale, rounding, &result)) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, RoundDecimal(DecimalAt(a, i), scale, rounding));
    }
  }
  return writer.Finish(validity);
}

Vector Int32Constant(const int32_t* value) {
  Vector v;
  v.type = PENUMBRA_INT4;
  v.form = VectorForm::kConstant;
  v.data = value;
  return v;
}

Vector EvaluateRounding(Rounding rounding, const Vector& argument, const Vector& scales, uint32_t rows, Arena& arena) {
  const NumericOperand a = MakeOperand(argument, rows, arena);
  Vector result;
  if (scales.is_constant() && RoundIntegers(a, *scales.values<int32_t>(), rounding, rows, arena, &result)) {
    return result;
  }
  const Vector flat_scales = scales.is_constant() ? scales : Flatten(scales, rows, arena);
  return RoundRows(a.vector, flat_scales, rounding, rows, arena);
}

constexpr int32_t kZeroDigits = 0;

}  // namespace

Decimal RoundDecimal(const Decimal& a, int scale, Rounding rounding) {
  switch (rounding) {
    case Rounding::kHalfAway: return Decimal::Round(a, scale);
    case Rounding::kTruncate: return Decimal::Truncate(a, scale);
    case Rounding::kFloor: return Decimal::Floor(a);
    case Rounding::kCeil: return Decimal::Ceil(a);
  }
  return a;
}

bool RoundIntegers(const NumericOperand& operand, int scale, Rounding rounding, uint32_t rows, Arena& arena,
                   Vector* result) {
  const Vector& v = operand.vector;
  if (operand.is_integer() && scale == v.scale) {
    *result = v;
    return true;
  }
  if (operand.is_constant() || v.numeric_form != NumericForm::kInt64) return false;
  // Rounding is monotonic: the bounds of the result are the rounded bounds.
  SmallNumber lower, upper;
  if (!RoundSmall({v.lower, v.scale}, scale, rounding, &lower) ||
      !RoundSmall({v.upper, v.scale}, scale, rounding, &upper) || !FitsInt64(lower.value, upper.value)) {
    return false;
  }
  if (scale > v.scale) {
    const int64_t* values = ScaledInt64(operand, lower.scale - v.scale, rows, arena);
    *result = IntegerVector(values, lower.scale, lower.value, upper.value, v.validity);
    return true;
  }
  const int64_t cut = int64_t{v.scale} - scale;
  if (cut > kMaxInt64Digits) return false;
  RoundedDivision division{.divisor = kWordPowers.of_ten[cut], .rounding = rounding};
  if (scale < 0) division.back = kWordPowers.of_ten[-scale];
  if (!division.Takes(v)) return false;
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  division.Compute(v.values<int64_t>(), rows, out);
  *result = IntegerVector(out, lower.scale, lower.value, upper.value, v.validity);
  return true;
}

Vector EvaluateNumericRound(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector scales = expr.args.size() > 1 ? args[1] : Int32Constant(&kZeroDigits);
  return EvaluateRounding(Rounding::kHalfAway, args[0], scales, rows, context.arena);
}

Vector EvaluateNumericTruncate(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector scales = expr.args.size() > 1 ? args[1] : Int32Constant(&kZeroDigits);
  return EvaluateRounding(Rounding::kTruncate, args[0], scales, rows, context.arena);
}

Vector EvaluateNumericFloor(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  return EvaluateRounding(Rounding::kFloor, args[0], Int32Constant(&kZeroDigits), rows, context.arena);
}

Vector EvaluateNumericCeil(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  return EvaluateRounding(Rounding::kCeil, args[0], Int32Constant(&kZeroDigits), rows, context.arena);
}

Vector EvaluateNumericTypmod(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  const NumericOperand a = MakeOperand(args[0], rows, arena);
  const int precision = *args[1].values<int32_t>();
  const int scale = *args[2].values<int32_t>();
  // |value| < 10^(precision - scale), as an integer of the result's scale; past int128 anything
  // small fits.
  const int digits = precision - std::min(scale, 0);
  const int128 limit = digits <= kMaxInt128Digits ? kPowersOfTen[digits] : kInt128Limit;
  const auto is_in_limit = [limit](const Vector& v) { return v.lower > -limit && v.upper < limit; };
  Vector rounded;
  if (RoundIntegers(a, scale, Rounding::kHalfAway, rows, arena, &rounded)) {
    if (is_in_limit(rounded)) return rounded;
    NumericOperand exact{rounded};
    exact.Tighten(rows);
    if (is_in_limit(exact.vector)) return exact.vector;
  }
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(a.vector.validity, i)) continue;
    SmallNumber x, result;
    if (ReadSmall(a.vector, i, &x) && RoundSmall(x, scale, Rounding::kHalfAway, &result) && result.value < limit &&
        result.value > -limit) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, Decimal::ApplyTypmod(DecimalAt(a.vector, i), precision, scale));
    }
  }
  return writer.Finish(a.vector.validity);
}

}  // namespace penumbra

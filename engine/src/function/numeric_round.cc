// round, trunc, floor, ceil and the cast to numeric(precision, scale).
#include <algorithm>

#include "function/numeric_functions.h"

namespace penumbra {
namespace {

// What is added to a magnitude below zero and to one above before the division truncates it.
struct RoundingAddends {
  uint64_t negative;
  uint64_t positive;
};

RoundingAddends AddendsFor(Rounding rounding, uint64_t unit) {
  switch (rounding) {
    case Rounding::kHalfAway: return {unit / 2, unit / 2};
    case Rounding::kTruncate: return {0, 0};
    case Rounding::kFloor: return {unit - 1, 0};
    case Rounding::kCeil: return {0, unit - 1};
  }
  return {0, 0};
}

using DecimalRounding = Decimal (*)(const Decimal&, int scale);

Decimal FloorAt(const Decimal& a, int) { return Decimal::Floor(a); }
Decimal CeilAt(const Decimal& a, int) { return Decimal::Ceil(a); }

DecimalRounding DecimalRoundingFor(Rounding rounding) {
  switch (rounding) {
    case Rounding::kHalfAway: return Decimal::Round;
    case Rounding::kTruncate: return Decimal::Truncate;
    case Rounding::kFloor: return FloorAt;
    case Rounding::kCeil: return CeilAt;
  }
  return CeilAt;
}

// scales: flat, or constant.
Vector RoundRows(const Vector& a, const Vector& scales, Rounding rounding, uint32_t rows, Arena& arena) {
  const uint64_t* validity = AndValidity(a.validity, scales.validity, rows, arena);
  const DecimalRounding round_decimal = DecimalRoundingFor(rounding);
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(validity, i)) continue;
    const int32_t scale = scales.values<int32_t>()[scales.is_constant() ? 0 : i];
    SmallNumber x, result;
    if (ReadSmall(a, i, &x) && RoundSmall(x, scale, rounding, &result)) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, round_decimal(DecimalAt(a, i), scale));
    }
  }
  return writer.Finish(validity);
}

// The divisor of the row before, which is often that of the next one.
class QuotientRounding {
 public:
  explicit QuotientRounding(int32_t scale) : scale_(scale) {}
  bool Compute(const SmallNumber& a, const SmallNumber& b, SmallNumber* result) {
    const uint128 magnitude = Magnitude(b.value);
    const int divisor_scale = std::max(b.scale, a.scale - scale_);
    const int shift = divisor_scale - b.scale;
    if (shift > kMaxInt64Digits || magnitude >= kWordMagnitudeLimit / kWordPowers.of_ten[shift] || magnitude == 0) {
      return false;
    }
    const uint64_t divisor = static_cast<uint64_t>(magnitude) * kWordPowers.of_ten[shift];
    if (divisor != divisor_.value()) divisor_ = WordDivisor(divisor);
    const Leading leading = LeadingOfWord(static_cast<uint64_t>(magnitude), b.scale);
    return DivideByWordAndRound(a, divisor_, divisor_scale, leading, b, scale_, result);
  }

 private:
  int32_t scale_;
  WordDivisor divisor_{1};
};

Vector DivideAndRoundRows(const Vector& a, const Vector& b, int32_t scale, uint32_t rows, Arena& arena) {
  const uint64_t* validity = AndValidity(a.validity, b.validity, rows, arena);
  QuotientRounding rounding(scale);
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(validity, i)) continue;
    SmallNumber x, y, quotient, result;
    const bool is_small = ReadSmall(a, i, &x) && ReadSmall(b, i, &y);
    if (is_small && (rounding.Compute(x, y, &result) ||
                     (DivideSmall(x, y, &quotient) && RoundSmall(quotient, scale, Rounding::kHalfAway, &result)))) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, Decimal::Round(Decimal::Divide(DecimalAt(a, i), DecimalAt(b, i)), scale));
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
  const uint64_t unit = static_cast<uint64_t>(kPowersOfTen[cut]);
  // What PowerOfTenDivider divides stays below 2^63.
  if (v.upper > INT64_MAX - static_cast<int64_t>(unit) || v.lower < INT64_MIN + static_cast<int64_t>(unit) + 1) {
    return false;
  }
  const PowerOfTenDivider divider = kPowerOfTenDividers.of[cut];
  const RoundingAddends addends = AddendsFor(rounding, unit);
  const uint64_t back = scale < 0 ? static_cast<uint64_t>(kPowersOfTen[-scale]) : 1;
  const int64_t* values = v.values<int64_t>();
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    const uint64_t sign = values[i] < 0 ? ~uint64_t{0} : 0;
    const uint64_t magnitude = (static_cast<uint64_t>(values[i]) ^ sign) - sign;
    const uint64_t addend = values[i] < 0 ? addends.negative : addends.positive;
    const uint64_t rounded = divider.Divide(magnitude + addend) * back;
    out[i] = static_cast<int64_t>((rounded ^ sign) - sign);
  }
  *result = IntegerVector(out, lower.scale, lower.value, upper.value, v.validity);
  return true;
}

Vector EvaluateNumericRound(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector scales = expr.args.size() > 1 ? args[1] : Int32Constant(&kZeroDigits);
  return EvaluateRounding(Rounding::kHalfAway, args[0], scales, rows, context.arena);
}

// The scale of the quotient differs by row, so that it would be packed for nothing.
Vector EvaluateNumericRoundedQuotient(const Expr& expr, const Batch& batch, EvalContext& context) {
  const Expr& division = *expr.args[0];
  const Vector scale = expr.args.size() > 1 ? expr.args[1]->constant : Int32Constant(&kZeroDigits);
  const auto round = [&](const Vector& quotient) {
    const Vector args[] = {quotient, scale};
    return Apply(expr, args, batch.rows, context);
  };
  if (division.memo_slot >= 0) return round(Evaluate(division, batch, context));
  const Vector operands[] = {Evaluate(*division.args[0], batch, context), Evaluate(*division.args[1], batch, context)};
  const Vector& a = operands[0];
  const Vector& b = operands[1];
  if (a.form != VectorForm::kFlat || b.form == VectorForm::kDictionary) {
    return round(Apply(division, operands, batch.rows, context));
  }
  if (b.is_null_constant()) return NullConstant(PENUMBRA_NUMERIC);
  return DivideAndRoundRows(a, b, *scale.values<int32_t>(), batch.rows, context.arena);
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

// What is asked of a quotient without the quotient: round, trunc, floor, ceil, the cast to an integer; and remainders.
// The scale of the quotient differs by row, so that it would be packed for nothing. So does that of a float as NUMERIC.
//
// PostgreSQL rounds the quotient to its own scale first. That moves it to the number wanted, or to a half between two,
// only if it is nearer than half a unit of that scale. A quotient by the divisor d that is no such number itself is
// 1 / d away from it at least (1 / 2d from a half), so with 10^c > d, where c is how many digits of that scale are cut,
// the first rounding changes nothing.
#include <algorithm>

#include "function/numeric_functions.h"
#include "function/registry.h"
#include "function/rounded_division.h"
#include "vector/error.h"

namespace penumbra {
namespace {

constexpr int32_t kZeroDigits = 0;

Rounding RoundingOf(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_TRUNC: return Rounding::kTruncate;
    case PENUMBRA_FN_FLOOR: return Rounding::kFloor;
    case PENUMBRA_FN_CEIL: return Rounding::kCeil;
    default: return Rounding::kHalfAway;
  }
}

// A constant divisor that is a word and not zero.
bool ReadDivisor(const Vector& b, SmallNumber* divisor) {
  return b.is_constant() && ReadSmall(b, 0, divisor) && divisor->value != 0 &&
         Magnitude(divisor->value) < kWordMagnitudeLimit;
}

// False: 10^exponent times the value is no word.
bool ScaleWord(uint64_t value, int exponent, uint64_t* scaled) {
  return exponent <= kMaxInt64Digits && !__builtin_mul_overflow(value, kWordPowers.of_ten[exponent], scaled) &&
         *scaled < kWordMagnitudeLimit;
}

// How many digits PostgreSQL's first rounding leaves at least of the quotients of values that are not zero.
int LeastScale(const Vector& v, const SmallNumber& b) {
  const uint128 greatest = std::max(Magnitude(v.lower), Magnitude(v.upper));
  const Leading dividend = LeadingOfWord(static_cast<uint64_t>(greatest), v.scale);
  const Leading divisor = LeadingOfWord(static_cast<uint64_t>(Magnitude(b.value)), b.scale);
  return DivisionScale({dividend.weight, kBase}, divisor, std::max<int>(v.scale, b.scale));
}

// Of integers by a constant, where one rounding is enough. False: take the rows.
bool DivideAndRoundIntegers(NumericOperand& a, const Vector& b, int scale, Rounding rounding, uint32_t rows,
                            Arena& arena, Vector* result) {
  const Vector& v = a.vector;
  SmallNumber divisor;
  if (a.is_constant() || v.numeric_form != NumericForm::kInt64 || !ReadDivisor(b, &divisor)) return false;
  const int divisor_scale = std::max(divisor.scale, v.scale - scale);
  RoundedDivision division{.rounding = rounding, .is_negated = divisor.value < 0};
  if (!ScaleWord(1, scale + divisor_scale - v.scale, &division.factor) ||
      !ScaleWord(static_cast<uint64_t>(Magnitude(divisor.value)), divisor_scale - divisor.scale, &division.divisor)) {
    return false;
  }
  if (!division.Takes(v)) {
    a.Tighten(rows);
    if (!division.Takes(v)) return false;
  }
  const int cut = LeastScale(v, divisor) - scale;
  if (cut <= 0 || (cut <= kMaxInt64Digits && kWordPowers.of_ten[cut] <= division.divisor)) return false;
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  division.Compute(v.values<int64_t>(), rows, out);
  const auto [lower, upper] = std::minmax({division.ComputeOne(v.lower), division.ComputeOne(v.upper)});
  *result = IntegerVector(out, scale, lower, upper, v.validity);
  return true;
}

// The divisor of the row before, which is often that of the next one.
class QuotientRounding {
 public:
  QuotientRounding(int32_t scale, Rounding rounding) : scale_(scale), rounding_(rounding) {}
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
    return DivideByWordAndRound(a, divisor_, divisor_scale, leading, b, scale_, rounding_, result);
  }

 private:
  int32_t scale_;
  Rounding rounding_;
  WordDivisor divisor_{1};
};

Vector DivideAndRoundRows(const Vector& a, const Vector& b, int32_t scale, Rounding rounding, uint32_t rows,
                          Arena& arena) {
  const uint64_t* validity = AndValidity(a.validity, b.validity, rows, arena);
  QuotientRounding division(scale, rounding);
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(validity, i)) continue;
    SmallNumber x, y, quotient, result;
    const bool is_small = ReadSmall(a, i, &x) && ReadSmall(b, i, &y);
    if (is_small && (division.Compute(x, y, &result) ||
                     (DivideSmall(x, y, &quotient) && RoundSmall(quotient, scale, rounding, &result)))) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, RoundDecimal(Decimal::Divide(DecimalAt(a, i), DecimalAt(b, i)), scale, rounding));
    }
  }
  return writer.Finish(validity);
}

int32_t ScaleOf(const Expr& call) { return call.args.size() > 1 ? *call.args[1]->constant.values<int32_t>() : 0; }

// The call of an argument that has been computed.
Vector ApplyTo(const Vector& value, const Expr& call, uint32_t rows, EvalContext& context) {
  const Vector args[] = {value, call.args.size() > 1 ? call.args[1]->constant : Vector()};
  return Apply(call, args, rows, context);
}

template <typename T>
Vector RoundFloats(const Vector& v, int32_t scale, Rounding rounding, uint32_t rows, Arena& arena) {
  const T* values = v.values<T>();
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(v.validity, i)) continue;
    SmallNumber number, result;
    if (DigitsOfFloat(values[i], &number) && RoundSmall(number, scale, rounding, &result)) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, RoundDecimal(Decimal::FromFloat(values[i]), scale, rounding));
    }
  }
  return writer.Finish(v.validity);
}

Vector EvaluateRoundedFloat(const Expr& expr, const Batch& batch, EvalContext& context) {
  const Expr& cast = *expr.args[0];
  if (cast.memo_slot >= 0) return ApplyTo(Evaluate(cast, batch, context), expr, batch.rows, context);
  const Vector v = Evaluate(*cast.args[0], batch, context);
  if (v.form != VectorForm::kFlat) return ApplyTo(Apply(cast, &v, batch.rows, context), expr, batch.rows, context);
  const auto round = v.type == PENUMBRA_FLOAT4 ? RoundFloats<float> : RoundFloats<double>;
  const Vector rounded = round(v, ScaleOf(expr), RoundingOf(expr.function), batch.rows, context.arena);
  return expr.type == PENUMBRA_NUMERIC ? rounded : ApplyTo(rounded, expr, batch.rows, context);
}

Vector EvaluateRoundedQuotient(const Expr& expr, const Batch& batch, EvalContext& context) {
  const Expr& division = *expr.args[0];
  const int32_t scale = ScaleOf(expr);
  const auto apply = [&](const Vector& value) { return ApplyTo(value, expr, batch.rows, context); };
  if (division.memo_slot >= 0) return apply(Evaluate(division, batch, context));
  const Vector operands[] = {Evaluate(*division.args[0], batch, context), Evaluate(*division.args[1], batch, context)};
  const Vector& a = operands[0];
  const Vector& b = operands[1];
  if (a.form != VectorForm::kFlat || b.form == VectorForm::kDictionary) {
    return apply(Apply(division, operands, batch.rows, context));
  }
  if (b.is_null_constant()) return NullConstant(expr.type);
  const Rounding rounding = RoundingOf(expr.function);
  NumericOperand dividend{a};
  Vector rounded;
  if (!DivideAndRoundIntegers(dividend, b, scale, rounding, batch.rows, context.arena, &rounded)) {
    rounded = DivideAndRoundRows(a, b, scale, rounding, batch.rows, context.arena);
  }
  return expr.type == PENUMBRA_NUMERIC ? rounded : apply(rounded);
}

}  // namespace

EvaluateLazyFunction RoundedArgumentOf(const CallSite& call) {
  const Expr& argument = *call.args[0];
  const int32_t* scale = call.args.size() > 1 ? KnownValue<int32_t>(*call.args[1]) : &kZeroDigits;
  if (argument.kind != Expr::Kind::kCall || scale == nullptr || *scale < 0 || *scale > kMaxInt128Digits) return nullptr;
  if (argument.function == PENUMBRA_FN_DIV) return EvaluateRoundedQuotient;
  const bool is_float = argument.function == PENUMBRA_FN_CAST && IsFloat(argument.args[0]->type);
  return is_float ? EvaluateRoundedFloat : nullptr;
}

// The sign is the dividend's.
bool RemainderOfIntegers(NumericOperand& a, const Vector& b, uint32_t rows, Arena& arena, Vector* result) {
  const Vector& v = a.vector;
  SmallNumber constant;
  if (a.is_constant() || v.numeric_form != NumericForm::kInt64 || !ReadDivisor(b, &constant)) return false;
  const int scale = std::max<int>(v.scale, constant.scale);
  RoundedDivision division;
  if (!ScaleWord(1, scale - v.scale, &division.factor) ||
      !ScaleWord(static_cast<uint64_t>(Magnitude(constant.value)), scale - constant.scale, &division.divisor)) {
    return false;
  }
  if (!division.Takes(v)) {
    a.Tighten(rows);
    if (!division.Takes(v)) return false;
  }
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  division.Compute(v.values<int64_t>(), rows, out);
  const int64_t* values = v.values<int64_t>();
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(values[i]) * division.factor -
                                  static_cast<uint64_t>(out[i]) * division.divisor);
  }
  const int128 greatest = static_cast<int128>(division.divisor) - 1;
  const int128 factor = static_cast<int128>(division.factor);
  *result = IntegerVector(out, scale, v.lower < 0 ? std::max(v.lower * factor, -greatest) : 0,
                          v.upper > 0 ? std::min(v.upper * factor, greatest) : 0, v.validity);
  return true;
}

}  // namespace penumbra

// The evaluators behind BindNumeric (numeric_functions.cc), one file per topic.
//
// A function over integer forms first computes the bounds of its result from the bounds of its
// arguments. If those fit in int64 the loop is an unchecked int64 kernel; if they fit in int128 it
// is an int128 loop; else the rows are computed one by one, each as small as it is, and the form is
// chosen at the end.
#pragma once

#include "expression/expr.h"
#include "numeric/numeric_rows.h"
#include "vector/vector.h"

namespace penumbra {

struct CallSite;

// A NUMERIC argument that is flat or constant.
struct NumericOperand {
  Vector vector;

  bool is_integer() const { return vector.numeric_form != NumericForm::kPayload; }
  bool is_constant() const { return vector.is_constant(); }
  // Of an integer constant.
  int128 constant() const;
  // Replaces the bounds by the least and greatest value of the rows; worth it when int64 is at
  // stake.
  void Tighten(uint32_t rows);
};
NumericOperand MakeOperand(const Vector& v, uint32_t rows, Arena& arena);

// The values of a flat integer operand times 10^exponent as int64: the bounds say that they fit.
const int64_t* ScaledInt64(const NumericOperand& operand, int exponent, uint32_t rows, Arena& arena);

// A flat vector of integers; the caller fills bounds' promise.
Vector IntegerVector(const int64_t* values, int scale, int128 lower, int128 upper, const uint64_t* validity);
Vector IntegerVector(const int128* values, int scale, int128 lower, int128 upper, const uint64_t* validity);

// numeric_arithmetic.cc
Vector EvaluateNumericAdd(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericSubtract(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericMultiply(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericDivide(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericModulo(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericNegate(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericAbs(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericSign(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericSquareRoot(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
// To a power that is constant: the state is a PowerRule.
Vector EvaluateNumericPower(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);

// numeric_round.cc
Vector EvaluateNumericRound(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericTruncate(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericFloor(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericCeil(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericTypmod(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
// The rounded values of an integer operand, as a flat or constant vector. False: take the rows.
bool RoundIntegers(const NumericOperand& operand, int scale, Rounding rounding, uint32_t rows, Arena& arena,
                   Vector* result);
Decimal RoundDecimal(const Decimal& a, int scale, Rounding rounding);

// numeric_quotient.cc
// How a call of round, trunc, floor, ceil or a cast to an integer runs whose argument is a division, or a float that
// was cast; null: as of others.
EvaluateLazyFunction RoundedArgumentOf(const CallSite& call);
// a % b of an integer operand and a constant. False: take the rows.
bool RemainderOfIntegers(NumericOperand& a, const Vector& b, uint32_t rows, Arena& arena, Vector* result);

// numeric_compare.cc: the comparison is expr.function
void EvaluateNumericComparison(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth);
Vector EvaluateNumericDistinct(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericNullIf(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericExtreme(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);

// numeric_cast.cc
Vector EvaluateIntegerToNumeric(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericToInteger(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateFloatToNumeric(const Expr&, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericToFloat(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);
Vector EvaluateNumericToText(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context);

}  // namespace penumbra

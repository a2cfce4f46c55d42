// + - * / % and the like over NUMERIC vectors.
#include <algorithm>

#include "function/numeric_functions.h"
#include "kernels/kernels.h"

namespace penumbra {
namespace {

using kernels::Arithmetic;

using DecimalBinary = Decimal (*)(const Decimal&, const Decimal&);

template <typename Small>
Vector EvaluateRows(const Vector& a, const Vector& b, uint32_t rows, Arena& arena, Small small, DecimalBinary decimal) {
  const uint64_t* validity = AndValidity(a.validity, b.validity, rows, arena);
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(validity, i)) continue;
    SmallNumber x, y, result;
    if (ReadSmall(a, i, &x) && ReadSmall(b, i, &y) && small(x, y, &result)) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, decimal(DecimalAt(a, i), DecimalAt(b, i)));
    }
  }
  return writer.Finish(validity);
}

template <typename Small, typename DecimalUnary>
Vector EvaluateRows(const Vector& a, uint32_t rows, Arena& arena, Small small, DecimalUnary decimal) {
  NumericWriter writer(rows, arena);
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsRowValid(a.validity, i)) continue;
    SmallNumber x, result;
    if (ReadSmall(a, i, &x) && small(x, &result)) {
      writer.Set(i, result);
    } else {
      writer.SetDecimal(i, decimal(DecimalAt(a, i)));
    }
  }
  return writer.Finish(a.validity);
}

struct Bounds {
  int128 lower;
  int128 upper;

  bool FitInt64() const { return FitsInt64(lower, upper); }
};

bool ScaleUp(const Vector& v, int exponent, Bounds* bounds) {
  *bounds = {v.lower, v.upper};
  return ScaleUpInLimit(&bounds->lower, exponent) && ScaleUpInLimit(&bounds->upper, exponent);
}

bool FitsInt32(const Vector& v) { return v.lower >= INT32_MIN && v.upper <= INT32_MAX; }

// ---------------------------------------------------------------- loops -----------------------

// Unsigned, so that what stands in null rows may wrap.
template <typename T>
uint128 Widen(T value) {
  return static_cast<uint128>(static_cast<int128>(value));
}

// Calls loop(a, stride_a, b, stride_b) with typed pointers; a constant has stride 0.
template <typename Loop>
void WithTypes(const Vector& a, const Vector& b, Loop loop) {
  const size_t stride_a = a.is_constant() ? 0 : 1;
  const size_t stride_b = b.is_constant() ? 0 : 1;
  const auto with_b = [&](const auto* x) {
    if (b.numeric_form == NumericForm::kInt64) {
      loop(x, stride_a, b.values<int64_t>(), stride_b);
    } else {
      loop(x, stride_a, b.values<int128>(), stride_b);
    }
  };
  if (a.numeric_form == NumericForm::kInt64) {
    with_b(a.values<int64_t>());
  } else {
    with_b(a.values<int128>());
  }
}

// out = a * factor_a + b * factor_b
int128* SumInt128(const Vector& a, uint128 factor_a, const Vector& b, uint128 factor_b, uint32_t rows, Arena& arena) {
  int128* out = arena.AllocateArray<int128>(rows);
  WithTypes(a, b, [&](const auto* x, size_t stride_x, const auto* y, size_t stride_y) {
    for (uint32_t i = 0; i < rows; ++i) {
      out[i] = static_cast<int128>(Widen(x[i * stride_x]) * factor_a + Widen(y[i * stride_y]) * factor_b);
    }
  });
  return out;
}

int128* ProductInt128(const Vector& a, const Vector& b, uint32_t rows, Arena& arena) {
  int128* out = arena.AllocateArray<int128>(rows);
  WithTypes(a, b, [&](const auto* x, size_t stride_x, const auto* y, size_t stride_y) {
    for (uint32_t i = 0; i < rows; ++i) {
      out[i] = static_cast<int128>(Widen(x[i * stride_x]) * Widen(y[i * stride_y]));
    }
  });
  return out;
}

// At most one of a and b is constant.
int64_t* SumInt64(bool subtract, const NumericOperand& a, int exponent_a, const NumericOperand& b, int exponent_b,
                  uint32_t rows, Arena& arena) {
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  const Arithmetic op = subtract ? Arithmetic::kSubtract : Arithmetic::kAdd;
  if (b.is_constant()) {
    const int64_t constant = static_cast<int64_t>(b.constant() * kPowersOfTen[exponent_b]);
    kernels::ArithmeticConstant<int64_t>(op, ScaledInt64(a, exponent_a, rows, arena), constant, rows, out);
  } else if (a.is_constant()) {
    const int64_t constant = static_cast<int64_t>(a.constant() * kPowersOfTen[exponent_a]);
    kernels::ArithmeticFromConstant<int64_t>(op, constant, ScaledInt64(b, exponent_b, rows, arena), rows, out);
  } else {
    kernels::ArithmeticColumns<int64_t>(op, ScaledInt64(a, exponent_a, rows, arena),
                                        ScaledInt64(b, exponent_b, rows, arena), rows, out);
  }
  return out;
}

// The caller's bounds prove that no product exceeds int64, so nothing is checked here.
int64_t* ProductInt64(const NumericOperand& a, const NumericOperand& b, uint32_t rows, Arena& arena) {
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  const bool is_narrow = FitsInt32(a.vector) && FitsInt32(b.vector);
  if (a.is_constant() || b.is_constant()) {
    const NumericOperand& column = a.is_constant() ? b : a;
    const int64_t constant = static_cast<int64_t>((a.is_constant() ? a : b).constant());
    const int64_t* values = ScaledInt64(column, 0, rows, arena);
    if (is_narrow) {
      kernels::MultiplyNarrowConstant(values, static_cast<int32_t>(constant), rows, out);
    } else {
      kernels::ArithmeticConstant<int64_t>(Arithmetic::kMultiply, values, constant, rows, out);
    }
    return out;
  }
  const int64_t* x = ScaledInt64(a, 0, rows, arena);
  const int64_t* y = ScaledInt64(b, 0, rows, arena);
  if (is_narrow) {
    kernels::MultiplyNarrowColumns(x, y, rows, out);
  } else {
    kernels::ArithmeticColumns<int64_t>(Arithmetic::kMultiply, x, y, rows, out);
  }
  return out;
}

// ---------------------------------------------------------------- sums, products --------------

// False: the bounds exceed int128.
bool SumIntegers(bool subtract, NumericOperand& a, NumericOperand& b, uint32_t rows, Arena& arena, Vector* result) {
  const int scale = std::max(a.vector.scale, b.vector.scale);
  const int exponent_a = scale - a.vector.scale;
  const int exponent_b = scale - b.vector.scale;
  if (exponent_a > kMaxInt128Digits || exponent_b > kMaxInt128Digits) return false;
  for (bool is_tight = false;; is_tight = true) {
    Bounds x, y, sum;
    const bool fits = ScaleUp(a.vector, exponent_a, &x) && ScaleUp(b.vector, exponent_b, &y) &&
                      AddInLimit(x.lower, subtract ? -y.upper : y.lower, &sum.lower) &&
                      AddInLimit(x.upper, subtract ? -y.lower : y.upper, &sum.upper);
    const uint64_t* validity = AndValidity(a.vector.validity, b.vector.validity, rows, arena);
    if (fits && x.FitInt64() && y.FitInt64() && sum.FitInt64()) {
      const int64_t* values = SumInt64(subtract, a, exponent_a, b, exponent_b, rows, arena);
      *result = IntegerVector(values, scale, sum.lower, sum.upper, validity);
      return true;
    }
    if (is_tight) {
      if (!fits) return false;
      const uint128 factor_a = static_cast<uint128>(kPowersOfTen[exponent_a]);
      const uint128 factor_b = static_cast<uint128>(kPowersOfTen[exponent_b]);
      const int128* values = SumInt128(a.vector, factor_a, b.vector, subtract ? -factor_b : factor_b, rows, arena);
      *result = IntegerVector(values, scale, sum.lower, sum.upper, validity);
      return true;
    }
    a.Tighten(rows);
    b.Tighten(rows);
  }
}

Vector EvaluateSum(bool subtract, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  NumericOperand a = MakeOperand(args[0], rows, arena);
  NumericOperand b = MakeOperand(args[1], rows, arena);
  Vector result;
  if (a.is_integer() && b.is_integer() && !(a.is_constant() && b.is_constant()) &&
      SumIntegers(subtract, a, b, rows, arena, &result)) {
    return result;
  }
  return subtract ? EvaluateRows(a.vector, b.vector, rows, arena, SubtractSmall, Decimal::Subtract)
                  : EvaluateRows(a.vector, b.vector, rows, arena, AddSmall, Decimal::Add);
}

bool MultiplyBounds(const Vector& a, const Vector& b, Bounds* product) {
  int128 corners[4];
  if (!MultiplyInLimit(a.lower, b.lower, &corners[0]) || !MultiplyInLimit(a.lower, b.upper, &corners[1]) ||
      !MultiplyInLimit(a.upper, b.lower, &corners[2]) || !MultiplyInLimit(a.upper, b.upper, &corners[3])) {
    return false;
  }
  product->lower = *std::min_element(corners, corners + 4);
  product->upper = *std::max_element(corners, corners + 4);
  return true;
}

// Tries the bounds at hand, then tight ones, to multiply in int64; int128 is the last resort.
bool MultiplyIntegers(NumericOperand& a, NumericOperand& b, uint32_t rows, Arena& arena, Vector* result) {
  const int scale = a.vector.scale + b.vector.scale;
  if (scale > kNumericScaleMax) return false;
  for (bool is_tight = false;; is_tight = true) {
    Bounds product;
    const bool fits = MultiplyBounds(a.vector, b.vector, &product);
    const uint64_t* validity = AndValidity(a.vector.validity, b.vector.validity, rows, arena);
    if (fits && product.FitInt64() && FitsInt64(a.vector.lower, a.vector.upper) &&
        FitsInt64(b.vector.lower, b.vector.upper)) {
      *result = IntegerVector(ProductInt64(a, b, rows, arena), scale, product.lower, product.upper, validity);
      return true;
    }
    if (is_tight) {
      if (!fits) return false;
      *result =
          IntegerVector(ProductInt128(a.vector, b.vector, rows, arena), scale, product.lower, product.upper, validity);
      return true;
    }
    a.Tighten(rows);
    b.Tighten(rows);
  }
}

bool NegateSmall(const SmallNumber& a, SmallNumber* result) {
  *result = {-a.value, a.scale};
  return true;
}

bool AbsSmall(const SmallNumber& a, SmallNumber* result) {
  *result = {a.value < 0 ? -a.value : a.value, a.scale};
  return true;
}

bool SignSmall(const SmallNumber& a, SmallNumber* result) {
  *result = {a.value < 0 ? -1 : (a.value > 0 ? 1 : 0), 0};
  return true;
}

// Whether an int64 loop can negate the values.
bool IsFlatInt64(const NumericOperand& a) {
  return !a.is_constant() && a.vector.numeric_form == NumericForm::kInt64 && a.vector.lower > INT64_MIN;
}

Vector NegateInt64(const Vector& v, uint32_t rows, Arena& arena) {
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  kernels::ArithmeticFromConstant<int64_t>(Arithmetic::kSubtract, 0, v.values<int64_t>(), rows, out);
  return IntegerVector(out, v.scale, -v.upper, -v.lower, v.validity);
}

}  // namespace

// ---------------------------------------------------------------- operands --------------------

int128 NumericOperand::constant() const {
  return vector.numeric_form == NumericForm::kInt64 ? *vector.values<int64_t>() : *vector.values<int128>();
}

void NumericOperand::Tighten(uint32_t rows) {
  if (is_constant() || vector.numeric_form != NumericForm::kInt64) return;
  int64_t least = 0, greatest = 0;
  kernels::FindBounds<int64_t>(vector.values<int64_t>(), vector.validity, rows, &least, &greatest);
  vector.lower = least;
  vector.upper = greatest;
}

NumericOperand MakeOperand(const Vector& v, uint32_t rows, Arena& arena) {
  NumericOperand operand{v.form == VectorForm::kDictionary ? Flatten(v, rows, arena) : v};
  if (operand.is_constant() && operand.is_integer()) {
    operand.vector.lower = operand.vector.upper = operand.constant();
  }
  return operand;
}

const int64_t* ScaledInt64(const NumericOperand& operand, int exponent, uint32_t rows, Arena& arena) {
  const Vector& v = operand.vector;
  if (v.numeric_form == NumericForm::kInt64 && exponent == 0) return v.values<int64_t>();
  int64_t* out = arena.AllocateArray<int64_t>(rows);
  const int64_t* values = v.values<int64_t>();
  if (v.numeric_form == NumericForm::kInt128) {
    const int128* wide = v.values<int128>();
    for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<int64_t>(wide[i]);
    values = out;
  }
  if (exponent != 0) {
    const int64_t factor = exponent <= kMaxInt64Digits ? static_cast<int64_t>(kPowersOfTen[exponent]) : 0;
    kernels::ArithmeticConstant<int64_t>(Arithmetic::kMultiply, values, factor, rows, out);
  }
  return out;
}

Vector IntegerVector(const int64_t* values, int scale, int128 lower, int128 upper, const uint64_t* validity) {
  Vector v = FlatVector(PENUMBRA_NUMERIC, values, validity);
  v.scale = static_cast<int16_t>(scale);
  v.lower = lower;
  v.upper = upper;
  return v;
}

Vector IntegerVector(const int128* values, int scale, int128 lower, int128 upper, const uint64_t* validity) {
  Vector v = FlatVector(PENUMBRA_NUMERIC, values, validity);
  v.numeric_form = NumericForm::kInt128;
  v.scale = static_cast<int16_t>(scale);
  v.lower = lower;
  v.upper = upper;
  return v;
}

// ---------------------------------------------------------------- evaluators ------------------

Vector EvaluateNumericAdd(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  return EvaluateSum(false, args, rows, context);
}

Vector EvaluateNumericSubtract(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  return EvaluateSum(true, args, rows, context);
}

Vector EvaluateNumericMultiply(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  Arena& arena = context.arena;
  NumericOperand a = MakeOperand(args[0], rows, arena);
  NumericOperand b = MakeOperand(args[1], rows, arena);
  Vector result;
  if (a.is_integer() && b.is_integer() && !(a.is_constant() && b.is_constant()) &&
      MultiplyIntegers(a, b, rows, arena, &result)) {
    return result;
  }
  return EvaluateRows(a.vector, b.vector, rows, arena, MultiplySmall, Decimal::Multiply);
}

Vector EvaluateNumericDivide(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const Vector& a = args[0];
  const Vector& b = args[1];
  SmallNumber constant;
  if (b.is_constant() && ReadSmall(b, 0, &constant) && constant.value != 0 &&
      Magnitude(constant.value) < kWordMagnitudeLimit) {
    const WordDivisor divisor(static_cast<uint64_t>(Magnitude(constant.value)));
    const Leading leading = LeadingOfWord(divisor.value(), constant.scale);
    const auto divide = [&](const SmallNumber& x, const SmallNumber& y, SmallNumber* result) {
      return DivideByWord(x, divisor, leading, y, result) || DivideSmall(x, y, result);
    };
    return EvaluateRows(a, b, rows, context.arena, divide, Decimal::Divide);
  }
  return EvaluateRows(a, b, rows, context.arena, DivideSmall, Decimal::Divide);
}

Vector EvaluateNumericModulo(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  NumericOperand a = MakeOperand(args[0], rows, context.arena);
  Vector result;
  if (RemainderOfIntegers(a, args[1], rows, context.arena, &result)) return result;
  return EvaluateRows(a.vector, args[1], rows, context.arena, ModuloSmall, Decimal::Modulo);
}

Vector EvaluateNumericNegate(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const NumericOperand a = MakeOperand(args[0], rows, context.arena);
  if (IsFlatInt64(a)) return NegateInt64(a.vector, rows, context.arena);
  return EvaluateRows(a.vector, rows, context.arena, NegateSmall, Decimal::Negate);
}

Vector EvaluateNumericAbs(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const NumericOperand a = MakeOperand(args[0], rows, context.arena);
  const Vector& v = a.vector;
  if (a.is_integer() && v.lower >= 0) return v;
  if (!IsFlatInt64(a)) return EvaluateRows(v, rows, context.arena, AbsSmall, Decimal::Abs);
  if (v.upper <= 0) return NegateInt64(v, rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  const int64_t* values = v.values<int64_t>();
  for (uint32_t i = 0; i < rows; ++i) {
    const uint64_t value = static_cast<uint64_t>(values[i]);
    const uint64_t sign = values[i] < 0 ? ~uint64_t{0} : 0;
    out[i] = static_cast<int64_t>((value ^ sign) - sign);
  }
  return IntegerVector(out, v.scale, 0, std::max(-v.lower, v.upper), v.validity);
}

Vector EvaluateNumericSign(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  const NumericOperand a = MakeOperand(args[0], rows, context.arena);
  const Vector& v = a.vector;
  if (a.is_constant() || v.numeric_form != NumericForm::kInt64) {
    return EvaluateRows(v, rows, context.arena, SignSmall, Decimal::Sign);
  }
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  const int64_t* values = v.values<int64_t>();
  for (uint32_t i = 0; i < rows; ++i) out[i] = (values[i] > 0) - (values[i] < 0);
  return IntegerVector(out, 0, -1, 1, v.validity);
}

Vector EvaluateNumericSquareRoot(const Expr&, const Vector* args, uint32_t rows, EvalContext& context) {
  return EvaluateRows(args[0], rows, context.arena, SquareRootSmall, Decimal::SquareRoot);
}

Vector EvaluateNumericPower(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const PowerRule& rule = *static_cast<const PowerRule*>(expr.state.get());
  const auto small = [&rule](const SmallNumber& a, SmallNumber* result) { return PowerSmall(a, rule, result); };
  const auto decimal = [&rule](const Decimal& a) { return Decimal::Power(a, rule); };
  return EvaluateRows(args[0], rows, context.arena, small, decimal);
}

}  // namespace penumbra

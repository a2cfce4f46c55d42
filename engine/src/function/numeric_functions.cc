// Which functions of NUMERIC there are.
#include "function/numeric_functions.h"

#include <algorithm>

#include "function/registry.h"

namespace penumbra {
namespace {

Binding Strict(EvaluateFunction evaluate, bool can_fail) {
  Binding binding;
  binding.evaluate = evaluate;
  binding.can_fail = can_fail;
  return binding;
}

Binding NotStrict(EvaluateFunction evaluate) {
  Binding binding;
  binding.evaluate = evaluate;
  binding.is_strict = false;
  return binding;
}

Binding Refuse(std::string reason) {
  Binding binding;
  binding.reason = std::move(reason);
  return binding;
}

bool IsKnownConstant(const Expr& expr) {
  return expr.kind == Expr::Kind::kConstant && !expr.constant.is_null_constant();
}

Binding BindCastOfNumeric(PenumbraType from, PenumbraType to) {
  if (from == PENUMBRA_NUMERIC) {
    if (IsInteger(to)) return Strict(EvaluateNumericToInteger, true);
    if (IsFloat(to)) return Strict(EvaluateNumericToFloat, true);
    if (to == PENUMBRA_TEXT) return Strict(EvaluateNumericToText, false);
  } else if (to == PENUMBRA_NUMERIC) {
    if (IsInteger(from)) return Strict(EvaluateIntegerToNumeric, false);
    if (IsFloat(from)) return Strict(EvaluateFloatToNumeric, false);
  }
  return {};
}

struct NumericFunction {
  PenumbraFunction function;
  EvaluateFunction evaluate;
  bool can_fail;
};

constexpr NumericFunction kOfOne[] = {
    {PENUMBRA_FN_NEG, EvaluateNumericNegate, false},
    {PENUMBRA_FN_ABS, EvaluateNumericAbs, false},
    {PENUMBRA_FN_SIGN, EvaluateNumericSign, false},
    {PENUMBRA_FN_SQRT, EvaluateNumericSquareRoot, true},
};
constexpr NumericFunction kOfTwo[] = {
    {PENUMBRA_FN_ADD, EvaluateNumericAdd, true},      {PENUMBRA_FN_SUB, EvaluateNumericSubtract, true},
    {PENUMBRA_FN_MUL, EvaluateNumericMultiply, true}, {PENUMBRA_FN_DIV, EvaluateNumericDivide, true},
    {PENUMBRA_FN_MOD, EvaluateNumericModulo, true},
};
constexpr NumericFunction kRounding[] = {
    {PENUMBRA_FN_FLOOR, EvaluateNumericFloor, true},
    {PENUMBRA_FN_CEIL, EvaluateNumericCeil, true},
};
// Of NUMERIC, or of NUMERIC and int4.
constexpr NumericFunction kRoundingToScale[] = {
    {PENUMBRA_FN_ROUND, EvaluateNumericRound, true},
    {PENUMBRA_FN_TRUNC, EvaluateNumericTruncate, true},
};

template <size_t kCount>
Binding Find(const NumericFunction (&functions)[kCount], PenumbraFunction function) {
  for (const NumericFunction& known : functions) {
    if (known.function == function) return Strict(known.evaluate, known.can_fail);
  }
  return {};
}

// Of some arguments it is computed at once.
Binding WithArgument(Binding binding, const CallSite& call) {
  if (binding.evaluate != nullptr) binding.evaluate_lazily = RoundedArgumentOf(call);
  return binding;
}

// Of a base whose scale is known. Other powers are refused: their last digits follow from PostgreSQL's series or from
// products that it rounds.
Binding BindPower(const CallSite& call) {
  Binding binding;
  binding.reason = "power of numeric";
  const Expr& base = *call.args[0];
  const Expr& exponent = *call.args[1];
  int64_t power;
  if (!base.numeric.has_scale() || base.numeric.integer_digits < 0 || !IsKnownConstant(exponent)) return binding;
  const Decimal number = DecimalAt(exponent.constant, 0);
  if (number.kind() != Decimal::Kind::kFinite || !number.ToInt64(&power) ||
      Decimal::Compare(number, Decimal::FromInteger(power)) != 0 || power < 0 || power > kPowerExponentMax ||
      !IsPowerExact(base.numeric.scale_greatest, static_cast<int>(power))) {
    return binding;
  }
  binding = Strict(EvaluateNumericPower, true);
  binding.evaluated_args = 1;
  binding.state = std::make_shared<PowerRule>(
      PowerRule{static_cast<int>(power), number.scale(), call.session.power_scale_by_result});
  return binding;
}

// Of two NUMERICs, to a boolean.
Binding BindTruth(const CallSite& call) {
  if (IsComparison(call.function)) {
    Binding binding = Strict(EvaluateByTruth, false);
    binding.evaluate_truth = EvaluateNumericComparison;
    return binding;
  }
  const bool is_distinct = call.function == PENUMBRA_FN_IS_DISTINCT || call.function == PENUMBRA_FN_IS_NOT_DISTINCT;
  return is_distinct ? NotStrict(EvaluateNumericDistinct) : Binding();
}

}  // namespace

// exp and ln of numeric, and most powers, are refused by name, so that EXPLAIN shows the reason.
Binding BindNumeric(const CallSite& call) {
  const std::vector<const Expr*>& args = call.args;
  if (args.empty()) return {};
  if (call.function == PENUMBRA_FN_CAST && args.size() == 1) {
    const Binding binding = BindCastOfNumeric(args[0]->type, call.result);
    return args[0]->type == PENUMBRA_NUMERIC && IsInteger(call.result) ? WithArgument(binding, call) : binding;
  }
  if (args[0]->type != PENUMBRA_NUMERIC) return {};
  const bool all_numeric =
      std::all_of(args.begin(), args.end(), [](const Expr* arg) { return arg->type == PENUMBRA_NUMERIC; });
  if (call.result == PENUMBRA_BOOL && args.size() == 2 && all_numeric) return BindTruth(call);
  if (call.result != PENUMBRA_NUMERIC) return {};
  if (all_numeric && (call.function == PENUMBRA_FN_GREATEST || call.function == PENUMBRA_FN_LEAST)) {
    return NotStrict(EvaluateNumericExtreme);
  }
  if (all_numeric && args.size() == 2 && call.function == PENUMBRA_FN_POWER) return BindPower(call);
  if (all_numeric && (call.function == PENUMBRA_FN_EXP || call.function == PENUMBRA_FN_LN)) {
    return Refuse(std::string(FunctionName(call.function)) + " of numeric");
  }
  const bool is_of_scale = args.size() == 2 && args[1]->type == PENUMBRA_INT4;
  if (args.size() == 1 || is_of_scale) {
    Binding binding = WithArgument(Find(kRoundingToScale, call.function), call);
    if (binding.evaluate == nullptr && args.size() == 1) binding = WithArgument(Find(kRounding, call.function), call);
    if (binding.evaluate != nullptr) return binding;
  }
  if (args.size() == 1) return Find(kOfOne, call.function);
  if (args.size() == 2 && all_numeric) {
    return call.function == PENUMBRA_FN_NULLIF ? NotStrict(EvaluateNumericNullIf) : Find(kOfTwo, call.function);
  }
  if (args.size() == 3 && call.function == PENUMBRA_FN_NUMERIC_TYPMOD && args[1]->type == PENUMBRA_INT4 &&
      args[2]->type == PENUMBRA_INT4) {
    if (!IsKnownConstant(*args[1]) || !IsKnownConstant(*args[2])) return Refuse("numeric() with a varying precision");
    return Strict(EvaluateNumericTypmod, true);
  }
  return {};
}

}  // namespace penumbra

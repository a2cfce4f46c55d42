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

Binding BindOneArgument(const CallSite& call) {
  if (call.result != PENUMBRA_NUMERIC) return {};
  switch (call.function) {
    case PENUMBRA_FN_NEG:
      return Strict(EvaluateNumericNegate, false);
    case PENUMBRA_FN_ABS:
      return Strict(EvaluateNumericAbs, false);
    case PENUMBRA_FN_SIGN:
      return Strict(EvaluateNumericSign, false);
    case PENUMBRA_FN_ROUND:
      return Strict(EvaluateNumericRound, true);
    case PENUMBRA_FN_TRUNC:
      return Strict(EvaluateNumericTruncate, true);
    case PENUMBRA_FN_FLOOR:
      return Strict(EvaluateNumericFloor, true);
    case PENUMBRA_FN_CEIL:
      return Strict(EvaluateNumericCeil, true);
    case PENUMBRA_FN_SQRT:
      return Strict(EvaluateNumericSquareRoot, true);
    case PENUMBRA_FN_EXP:
    case PENUMBRA_FN_LN:
      return Refuse(std::string(FunctionName(call.function)) + " of numeric");
    default:
      return {};
  }
}

// Both arguments are NUMERIC.
Binding BindTwoArguments(const CallSite& call) {
  if (IsComparison(call.function)) {
    Binding binding = Strict(EvaluateByTruth, false);
    binding.evaluate_truth = EvaluateNumericComparison;
    return binding;
  }
  switch (call.function) {
    case PENUMBRA_FN_ADD:
      return Strict(EvaluateNumericAdd, true);
    case PENUMBRA_FN_SUB:
      return Strict(EvaluateNumericSubtract, true);
    case PENUMBRA_FN_MUL:
      return Strict(EvaluateNumericMultiply, true);
    case PENUMBRA_FN_DIV:
      return Strict(EvaluateNumericDivide, true);
    case PENUMBRA_FN_MOD:
      return Strict(EvaluateNumericModulo, true);
    case PENUMBRA_FN_POWER:
      return Refuse("power of numeric");
    case PENUMBRA_FN_IS_DISTINCT:
    case PENUMBRA_FN_IS_NOT_DISTINCT:
      return NotStrict(EvaluateNumericDistinct);
    case PENUMBRA_FN_NULLIF:
      return NotStrict(EvaluateNumericNullIf);
    default:
      return {};
  }
}

}  // namespace

Binding BindNumeric(const CallSite& call) {
  const std::vector<const Expr*>& args = call.args;
  if (args.empty()) return {};
  if (call.function == PENUMBRA_FN_CAST && args.size() == 1)
    return BindCastOfNumeric(args[0]->type, call.result);
  if (args[0]->type != PENUMBRA_NUMERIC) return {};
  const bool all_numeric = std::all_of(
      args.begin(), args.end(), [](const Expr* arg) { return arg->type == PENUMBRA_NUMERIC; });
  if (call.function == PENUMBRA_FN_GREATEST || call.function == PENUMBRA_FN_LEAST) {
    return all_numeric ? NotStrict(EvaluateNumericExtreme) : Binding();
  }
  if (args.size() == 1) return BindOneArgument(call);
  if (args.size() == 2 && all_numeric) return BindTwoArguments(call);
  if (args.size() == 2 && args[1]->type == PENUMBRA_INT4 && call.function == PENUMBRA_FN_ROUND) {
    return Strict(EvaluateNumericRound, true);
  }
  if (args.size() == 2 && args[1]->type == PENUMBRA_INT4 && call.function == PENUMBRA_FN_TRUNC) {
    return Strict(EvaluateNumericTruncate, true);
  }
  if (args.size() == 3 && call.function == PENUMBRA_FN_NUMERIC_TYPMOD &&
      args[1]->type == PENUMBRA_INT4 && args[2]->type == PENUMBRA_INT4) {
    if (!IsKnownConstant(*args[1]) || !IsKnownConstant(*args[2]))
      return Refuse("numeric() with a varying precision");
    return Strict(EvaluateNumericTypmod, true);
  }
  return {};
}

}  // namespace penumbra

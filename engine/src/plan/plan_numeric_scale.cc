// NUMERIC values whose display scale nobody sees.
//
// The values of COALESCE(x, 0) have no common display scale, so that they would be kept one by one. Where
// only their value matters (they are compared, rounded, cast, or added to what has at least their scale)
// a branch may be written with more decimal zeros: then all have one scale and stay integers. Such a node
// is a "relaxed" one; it differs from the ordinary one in Expr::hides_scale.
//
// A sum shows the greatest scale of its inputs. It is the sum of the relaxed argument, with
// as many decimals as the greatest scale that a row has; which that is, is an expression over the same
// conditions:
//
//   sum(COALESCE(x, 0)) = round(sum(relaxed), max(CASE WHEN x IS NOT NULL THEN 2 ELSE 0 END))
//
// and an average is that sum divided by the count, as in PostgreSQL.
#include <algorithm>

#include "function/numeric_traits.h"
#include "plan/plan.h"

namespace penumbra {
namespace {

bool IsNumeric(const Expr& expr) { return expr.type == PENUMBRA_NUMERIC; }
bool IsNullConstant(const Expr& expr) { return expr.kind == Expr::Kind::kConstant && expr.constant.is_null_constant(); }
bool IsConstant(const Expr& expr) { return expr.kind == Expr::Kind::kConstant && !IsNullConstant(expr); }

// Of CASE and COALESCE: whether argument i is one of the values.
bool IsValueArgument(const Expr& expr, size_t i) {
  return expr.function == PENUMBRA_FN_COALESCE || i % 2 == 1 || i + 1 == expr.args.size();
}

}  // namespace

// Which arguments of a call count by their value only.
bool Plan::IsScaleHidden(PenumbraFunction function, PenumbraType result, const std::vector<const Expr*>& args,
                         size_t i) const {
  if (!IsNumeric(*args[i])) return false;
  if (IsComparison(function)) return true;
  switch (function) {
    case PENUMBRA_FN_IS_DISTINCT:
    case PENUMBRA_FN_IS_NOT_DISTINCT:
    case PENUMBRA_FN_IN_LIST:
    case PENUMBRA_FN_NOT_IN_LIST: return true;
    case PENUMBRA_FN_CAST: return result != PENUMBRA_TEXT;
    case PENUMBRA_FN_ROUND:
    case PENUMBRA_FN_TRUNC: return i == 0;
    case PENUMBRA_FN_NUMERIC_TYPMOD: return i == 0;
    case PENUMBRA_FN_ADD:
    case PENUMBRA_FN_SUB: {
      if (args.size() != 2) return false;
      const NumericTraits& other = args[1 - i]->numeric;
      const NumericTraits& own = args[i]->numeric;
      return other.has_scale() && own.has_scale() && other.scale_least >= own.scale_greatest;
    }
    default: return false;
  }
}

PenumbraExpr Plan::Relax(PenumbraExpr id) {
  const Expr& expr = *exprs_[id];
  if (expr.kind != Expr::Kind::kCall || !IsNumeric(expr) || expr.numeric.has_one_scale()) return id;
  const NumericScale rule = ScaleRuleOf(expr.function);
  const bool is_choice = rule == NumericScale::kChoice;
  if (!is_choice && rule != NumericScale::kSum && rule != NumericScale::kProduct && rule != NumericScale::kSame) {
    return id;
  }
  const PenumbraFunction function = expr.function;
  std::vector<PenumbraExpr> args;
  for (size_t i = 0; i < exprs_[id]->args.size(); ++i) {
    const PenumbraExpr arg = IdOf(exprs_[id]->args[i]);
    args.push_back(is_choice && !IsValueArgument(*exprs_[id], i) ? arg : Relax(arg));
  }
  const PenumbraExpr relaxed =
      CallAs(function, PENUMBRA_NUMERIC, args.data(), static_cast<int>(args.size()), nullptr, is_choice);
  return relaxed < 0 ? id : relaxed;
}

PenumbraExpr Plan::Int4(int value) {
  PenumbraValue constant = {};
  constant.integer = value;
  return Constant(PENUMBRA_INT4, constant);
}

// By induction over the expression: sums show the greater scale, products the sum, choices that of the branch taken,
// which is asked the same conditions again. -1: no expression says it.
PenumbraExpr Plan::ScaleOf(PenumbraExpr id) {
  const Expr& expr = *exprs_[id];
  if (!expr.numeric.has_scale()) return -1;
  if (expr.numeric.has_one_scale()) return Int4(expr.numeric.scale_greatest);
  const std::vector<const Expr*> args = expr.args;
  const PenumbraFunction function = expr.function;
  const NumericScale rule = ScaleRuleOf(function);
  if (rule == NumericScale::kSame) return ScaleOf(IdOf(args[0]));
  if (rule == NumericScale::kSum || rule == NumericScale::kProduct) {
    const PenumbraExpr scales[] = {ScaleOf(IdOf(args[0])), ScaleOf(IdOf(args[1]))};
    if (scales[0] < 0 || scales[1] < 0) return -1;
    return Call(rule == NumericScale::kProduct ? PENUMBRA_FN_ADD : PENUMBRA_FN_GREATEST, PENUMBRA_INT4, scales, 2);
  }
  if (rule != NumericScale::kChoice) return -1;
  PenumbraValue null_value = {};
  null_value.is_null = true;
  std::vector<PenumbraExpr> branches;
  for (size_t i = 0; i < args.size(); ++i) {
    const PenumbraExpr arg = IdOf(args[i]);
    if (function == PENUMBRA_FN_CASE && i % 2 == 0 && i + 1 < args.size()) {
      branches.push_back(arg);
      continue;
    }
    if (function == PENUMBRA_FN_COALESCE && i + 1 < args.size()) {
      branches.push_back(Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &arg, 1));
    }
    branches.push_back(IsNullConstant(*args[i]) ? Constant(PENUMBRA_INT4, null_value) : ScaleOf(arg));
  }
  if (std::any_of(branches.begin(), branches.end(), [](PenumbraExpr branch) { return branch < 0; })) return -1;
  return Call(PENUMBRA_FN_CASE, PENUMBRA_INT4, branches.data(), static_cast<int>(branches.size()));
}

// The scale that a row's value shows; null where the value is.
PenumbraExpr Plan::ScaleOfValue(PenumbraExpr id, PenumbraExpr relaxed) {
  const PenumbraExpr scale = ScaleOf(id);
  if (scale < 0) return -1;
  const Expr& expr = *exprs_[id];
  const bool is_never_null = expr.function == PENUMBRA_FN_COALESCE && IsConstant(*expr.args.back());
  if (is_never_null) return scale;
  const PenumbraExpr branches[] = {Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &relaxed, 1), scale};
  return branches[0] < 0 ? -1 : Call(PENUMBRA_FN_CASE, PENUMBRA_INT4, branches, 2);
}

FinishCall Plan::RewriteVaryingScale(size_t place, std::vector<PenumbraAggregateCall>* calls) {
  const PenumbraAggregateCall call = (*calls)[place];
  if ((call.function != PENUMBRA_AGG_SUM && call.function != PENUMBRA_AGG_AVG) || call.distinct ||
      call.argument_count != 1 || !IsExpr(call.arguments[0]) || !IsNumeric(*exprs_[call.arguments[0]])) {
    return nullptr;
  }
  const PenumbraExpr relaxed = Relax(call.arguments[0]);
  if (relaxed == call.arguments[0]) return nullptr;
  const PenumbraExpr scale = ScaleOfValue(call.arguments[0], relaxed);
  if (scale < 0) return nullptr;
  const size_t scales = calls->size();
  (*calls)[place] = {PENUMBRA_AGG_SUM, PENUMBRA_NUMERIC, {relaxed}, 1, call.filter, false};
  calls->push_back({PENUMBRA_AGG_MAX, PENUMBRA_INT4, {scale}, 1, call.filter, false});
  calls->push_back({PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {relaxed}, 1, call.filter, false});
  return [=, this](const std::vector<PenumbraExpr>& values) {
    return FinishVaryingScale(call.function, values[place], values[scales], values[scales + 1]);
  };
}

// From the columns of the aggregation.
PenumbraExpr Plan::FinishVaryingScale(PenumbraAggregate function, PenumbraExpr sum, PenumbraExpr scale,
                                      PenumbraExpr count) {
  const PenumbraExpr rounding[] = {sum, scale};
  sum = Call(PENUMBRA_FN_ROUND, PENUMBRA_NUMERIC, rounding, 2);
  if (function == PENUMBRA_AGG_SUM) return sum;
  const PenumbraExpr division[] = {sum, Call(PENUMBRA_FN_CAST, PENUMBRA_NUMERIC, &count, 1)};
  return Call(PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, division, 2);
}

}  // namespace penumbra

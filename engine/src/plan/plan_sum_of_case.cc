// sum(CASE WHEN c THEN x ELSE 0 END) over NUMERIC. The 0 has another display scale than x, so that the
// values of the CASE would have no common one and leave the integer paths.
// The sum without the zeros is that of CASE WHEN c THEN x END; its scale is right too, because a sum has
// the greatest scale of its inputs and the zeros have the least. Only where nothing but zeros (and nulls)
// was summed is that null, and then the sum is the 0. So the aggregation computes
//
//   others = sum(CASE WHEN c THEN x END)    zeros = count(CASE WHEN c THEN null ELSE true END)
//
// and a projection above it COALESCE(others, CASE WHEN zeros > 0 THEN 0 END).
#include <algorithm>

#include "plan/plan.h"

namespace penumbra {
namespace {

bool IsZeroOfScaleZero(const Expr& expr) {
  const Vector& value = expr.constant;
  return expr.kind == Expr::Kind::kConstant && expr.type == PENUMBRA_NUMERIC && !value.is_null_constant() &&
         value.numeric_form == NumericForm::kInt64 && value.scale == 0 && *value.values<int64_t>() == 0;
}

}  // namespace

PenumbraExpr Plan::IdOf(const Expr* expr) const {
  auto found = std::find_if(exprs_.begin(), exprs_.end(), [expr](const auto& kept) { return kept.get() == expr; });
  return static_cast<PenumbraExpr>(found - exprs_.begin());
}

// False when the argument is not such a CASE.
bool Plan::SplitCaseOfZero(const Expr& argument, PenumbraExpr* others, PenumbraExpr* is_zero, PenumbraExpr* zero) {
  if (argument.kind != Expr::Kind::kCall || argument.function != PENUMBRA_FN_CASE ||
      argument.type != PENUMBRA_NUMERIC) {
    return false;
  }
  PenumbraValue null_value = {};
  null_value.is_null = true;
  PenumbraValue true_value = {};
  true_value.integer = 1;
  const PenumbraExpr null_numeric = Constant(PENUMBRA_NUMERIC, null_value);
  const PenumbraExpr null_bool = Constant(PENUMBRA_BOOL, null_value);
  const PenumbraExpr true_bool = Constant(PENUMBRA_BOOL, true_value);
  std::vector<PenumbraExpr> other_args;
  std::vector<PenumbraExpr> zero_args;
  *zero = -1;
  for (size_t i = 0; i < argument.args.size(); ++i) {
    const PenumbraExpr arg = IdOf(argument.args[i]);
    const bool is_condition = i % 2 == 0 && i + 1 < argument.args.size();
    const bool is_zero_value = !is_condition && IsZeroOfScaleZero(*argument.args[i]);
    if (is_zero_value) *zero = arg;
    other_args.push_back(is_zero_value ? null_numeric : arg);
    zero_args.push_back(is_condition ? arg : is_zero_value ? true_bool : null_bool);
  }
  if (*zero < 0) return false;
  const int count = static_cast<int>(other_args.size());
  *others = Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC, other_args.data(), count);
  *is_zero = Call(PENUMBRA_FN_CASE, PENUMBRA_BOOL, zero_args.data(), count);
  return *others >= 0 && *is_zero >= 0;
}

// COALESCE(others, CASE WHEN zeros > 0 THEN zero END)
PenumbraExpr Plan::FinishCaseOfZero(PenumbraExpr others, PenumbraExpr zeros, PenumbraExpr zero) {
  PenumbraValue null_value = {};
  null_value.is_null = true;
  const PenumbraExpr comparison[] = {zeros, Constant(PENUMBRA_INT8, PenumbraValue{})};
  const PenumbraExpr branches[] = {Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, comparison, 2), zero,
                                   Constant(PENUMBRA_NUMERIC, null_value)};
  const PenumbraExpr values[] = {others, Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC, branches, 3)};
  return Call(PENUMBRA_FN_COALESCE, PENUMBRA_NUMERIC, values, 2);
}

FinishCall Plan::RewriteSumOfCase(size_t place, std::vector<PenumbraAggregateCall>* calls) {
  const PenumbraAggregateCall call = (*calls)[place];
  PenumbraExpr others, is_zero, zero;
  if (call.function != PENUMBRA_AGG_SUM || call.distinct || call.argument_count != 1 || !IsExpr(call.arguments[0]) ||
      !SplitCaseOfZero(*exprs_[call.arguments[0]], &others, &is_zero, &zero)) {
    return nullptr;
  }
  const size_t zeros = calls->size();
  (*calls)[place].arguments[0] = others;
  calls->push_back({PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {is_zero}, 1, call.filter, false});
  return [=, this](const std::vector<PenumbraExpr>& values) {
    return FinishCaseOfZero(values[place], values[zeros], zero);
  };
}

}  // namespace penumbra

// sum(x + 1), sum(x + 2), ... over an integer x, where there are several of one x: each is
//
//   CASE WHEN min(x) + c IS NOT NULL AND max(x) + c IS NOT NULL THEN sum(x) + c * count(x) END
//
// and so is x - c. The two additions fail just when the addition of some row does, since all others lie between; they
// are null where no x is. A sum of int4 has 64 bits, which fewer than 2^32 rows cannot exceed.
#include <algorithm>
#include <map>
#include <tuple>

#include "plan/plan.h"

namespace penumbra {
namespace {

// Four states and what is computed of them cost as much as three sums with their additions.
constexpr int kShiftsMin = 4;

bool IsSmallInteger(PenumbraType type) { return type == PENUMBRA_INT2 || type == PENUMBRA_INT4; }

// The place of the argument that is added to or subtracted from; -1: not so.
int ShiftedArgument(const Expr& sum) {
  if (sum.kind != Expr::Kind::kCall || !IsSmallInteger(sum.type)) return -1;
  if (sum.function != PENUMBRA_FN_ADD && sum.function != PENUMBRA_FN_SUB) return -1;
  const auto is_shift = [](const Expr& expr) {
    return expr.kind == Expr::Kind::kConstant && IsSmallInteger(expr.type) && !expr.constant.is_null_constant();
  };
  const auto is_shifted = [](const Expr& expr) { return !expr.is_constant() && IsSmallInteger(expr.type); };
  if (is_shifted(*sum.args[0]) && is_shift(*sum.args[1])) return 0;
  return sum.function == PENUMBRA_FN_ADD && is_shift(*sum.args[0]) && is_shifted(*sum.args[1]) ? 1 : -1;
}

int64_t IntegerOf(const Expr& constant) {
  const Vector& value = constant.constant;
  return constant.type == PENUMBRA_INT2 ? *value.values<int16_t>() : *value.values<int32_t>();
}

}  // namespace

void Plan::RewriteSumsOfShifts(std::vector<PenumbraAggregateCall>* calls, std::vector<FinishCall>* finishes) {
  std::map<std::pair<const Expr*, PenumbraExpr>, std::vector<size_t>> shifted;  // by x and filter
  for (size_t i = 0; i < calls->size(); ++i) {
    const PenumbraAggregateCall& call = (*calls)[i];
    if (call.function != PENUMBRA_AGG_SUM || call.result != PENUMBRA_INT8 || call.distinct ||
        call.argument_count != 1 || !IsExpr(call.arguments[0])) {
      continue;
    }
    const Expr& sum = *exprs_[call.arguments[0]];
    if (const int place = ShiftedArgument(sum); place >= 0) shifted[{sum.args[place], call.filter}].push_back(i);
  }
  for (const auto& [of, places] : shifted) {
    if (places.size() < kShiftsMin) continue;
    const auto& [x, filter] = of;
    const PenumbraExpr argument = IdOf(x);
    const size_t helpers = calls->size();
    calls->push_back({PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {argument}, 1, filter, false});
    calls->push_back({PENUMBRA_AGG_MIN, x->type, {argument}, 1, filter, false});
    calls->push_back({PENUMBRA_AGG_MAX, x->type, {argument}, 1, filter, false});
    for (size_t place : places) {
      const Expr* sum = exprs_[(*calls)[place].arguments[0]].get();
      (*calls)[place].arguments[0] = argument;
      (*finishes)[place] = [this, sum, place, helpers](const std::vector<PenumbraExpr>& values) {
        return FinishShift(*sum, values[place], &values[helpers]);
      };
    }
  }
}

// Of the sum, the count, the least and the greatest of x.
PenumbraExpr Plan::FinishShift(const Expr& shift, PenumbraExpr sum, const PenumbraExpr* count_and_bounds) {
  const int place = ShiftedArgument(shift);
  PenumbraExpr args[] = {IdOf(shift.args[0]), IdOf(shift.args[1])};
  PenumbraValue by = {};
  by.integer = IntegerOf(*shift.args[1 - place]);
  const PenumbraFunction function = shift.function;
  const PenumbraType type = shift.type;
  PenumbraExpr exist[2];
  for (int bound = 0; bound < 2; ++bound) {
    args[place] = count_and_bounds[1 + bound];
    const PenumbraExpr shifted = Call(function, type, args, 2);
    exist[bound] = Call(PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &shifted, 1);
  }
  const PenumbraExpr times[] = {count_and_bounds[0], Constant(PENUMBRA_INT8, by)};
  const PenumbraExpr total[] = {sum, Call(PENUMBRA_FN_MUL, PENUMBRA_INT8, times, 2)};
  const PenumbraExpr branch[] = {Call(PENUMBRA_FN_AND, PENUMBRA_BOOL, exist, 2),
                                 Call(function, PENUMBRA_INT8, total, 2)};
  return Call(PENUMBRA_FN_CASE, PENUMBRA_INT8, branch, 2);
}

}  // namespace penumbra

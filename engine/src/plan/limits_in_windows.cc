// A condition `rank <= constant` right above a window is told to it: rows of higher ranks need not come out.
//
// Functions of the window must not see what may be missing: rows after the row itself. PostgreSQL does not compute the
// window for those rows either (a run condition). The filter stays where it is.
#include <algorithm>
#include <optional>

#include "plan/passes.h"

namespace penumbra {
namespace {

// Beyond it nearly all rows of most tables come out.
constexpr int64_t kLimitMax = 10000;

bool IsRank(const WindowFunctionSpec& function) {
  return function.function == PENUMBRA_WINDOW_ROW_NUMBER || function.function == PENUMBRA_WINDOW_RANK ||
         function.function == PENUMBRA_WINDOW_DENSE_RANK;
}

// Peers may be missing, too: of equal row numbers there are none.
bool SeesNoLaterRow(const WindowFunctionSpec& function) {
  if (function.count_value != nullptr) return false;
  switch (function.function) {
    case PENUMBRA_WINDOW_ROW_NUMBER:
    case PENUMBRA_WINDOW_RANK:
    case PENUMBRA_WINDOW_DENSE_RANK: return true;
    case PENUMBRA_WINDOW_LAG: return function.count >= 0;
    case PENUMBRA_WINDOW_LEAD: return function.count <= 0;
    case PENUMBRA_WINDOW_PERCENT_RANK:
    case PENUMBRA_WINDOW_CUME_DIST:
    case PENUMBRA_WINDOW_NTILE: return false;
    case PENUMBRA_WINDOW_FIRST_VALUE:
    case PENUMBRA_WINDOW_LAST_VALUE:
    case PENUMBRA_WINDOW_NTH_VALUE:
    case PENUMBRA_WINDOW_AGGREGATE: break;
  }
  return function.mode == PENUMBRA_FRAME_ROWS &&
         (function.end.kind == PENUMBRA_FRAME_CURRENT_ROW || function.end.kind == PENUMBRA_FRAME_PRECEDING);
}

std::optional<int64_t> IntegerOf(const Expr& expr) {
  if (expr.kind != Expr::Kind::kConstant || expr.constant.data == nullptr) return {};
  switch (expr.type) {
    case PENUMBRA_INT2: return *expr.constant.values<int16_t>();
    case PENUMBRA_INT4: return *expr.constant.values<int32_t>();
    case PENUMBRA_INT8: return *expr.constant.values<int64_t>();
    default: return {};
  }
}

std::optional<WindowLimit> LimitOf(const Expr& condition, const WindowSpec& window) {
  if (condition.kind != Expr::Kind::kCall || condition.args.size() != 2) return {};
  const bool is_turned = condition.args[0]->kind != Expr::Kind::kColumn;
  const Expr& column = *condition.args[is_turned ? 1 : 0];
  const std::optional<int64_t> bound = IntegerOf(*condition.args[is_turned ? 0 : 1]);
  const int first = static_cast<int>(window.column_types.size());
  if (column.kind != Expr::Kind::kColumn || column.column < first || !bound) return {};
  const WindowFunctionSpec& function = window.functions[static_cast<size_t>(column.column - first)];
  // By the whole order the window finds which rows come first.
  if (!IsRank(function) || (function.order.later_keys > 0 && function.function != PENUMBRA_WINDOW_ROW_NUMBER))
    return {};
  const bool is_less = condition.function == (is_turned ? PENUMBRA_FN_GT : PENUMBRA_FN_LT);
  const bool is_up_to = condition.function == (is_turned ? PENUMBRA_FN_GE : PENUMBRA_FN_LE);
  if (!is_less && !is_up_to && condition.function != PENUMBRA_FN_EQ) return {};
  if (*bound < (is_less ? 2 : 1) || *bound > kLimitMax) return {};
  return WindowLimit{function.function, is_less ? *bound - 1 : *bound};
}

}  // namespace

void TellWindowsLimits(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    const Operator& filter = (*operators)[id];
    if (filter.kind != Operator::Kind::kFilter) continue;
    Operator& input = (*operators)[filter.inputs[0]];
    if (input.kind != Operator::Kind::kWindow || input.users > 1) continue;
    WindowSpec& window = input.window;
    const auto& functions = window.functions;
    if (window.order_keys.empty() || !std::all_of(functions.begin(), functions.end(), SeesNoLaterRow)) continue;
    for (const Expr* condition : filter.exprs) {
      const std::optional<WindowLimit> limit = LimitOf(*condition, window);
      if (limit && (window.limit.count == 0 || limit->count < window.limit.count)) window.limit = *limit;
    }
  }
}

}  // namespace penumbra

// A window right above another one over the same partitions is computed with it, if the order of one begins with the
// keys of the other's: rows are sorted once, by the longer order.
//
// The result is the same: rows in the longer order are in the shorter one, too, and a function's peers are the rows
// that are equal in the keys of its own order (WindowFunctionSpec::later_keys). Which of its peers come first is open,
// and PostgreSQL sorts such windows once, too.
#include <algorithm>

#include "plan/passes.h"

namespace penumbra {
namespace {

bool IsColumn(const Expr& expr, const Expr& other) {
  return expr.kind == Expr::Kind::kColumn && other.kind == Expr::Kind::kColumn && expr.column == other.column;
}

bool IsSameKey(const SortKeySpec& key, const SortKeySpec& other) {
  return IsColumn(*key.expr, *other.expr) && key.descending == other.descending &&
         key.nulls_first == other.nulls_first && key.collation == other.collation;
}

bool SortAlike(const WindowSpec& window, const WindowSpec& other) {
  const size_t common = std::min(window.order_keys.size(), other.order_keys.size());
  return std::equal(window.partition_keys.begin(), window.partition_keys.end(), other.partition_keys.begin(),
                    other.partition_keys.end(), [](const Expr* a, const Expr* b) { return IsColumn(*a, *b); }) &&
         std::equal(window.order_keys.begin(), window.order_keys.begin() + static_cast<ptrdiff_t>(common),
                    other.order_keys.begin(), IsSameKey);
}

// Whether some function reads a column from `first` on.
bool ReadsFrom(size_t first, const WindowSpec& window) {
  std::vector<int> columns;
  for (const WindowFunctionSpec& function : window.functions) {
    ForEachExpr(function, [&columns](const Expr& expr) { CollectColumns(expr, &columns); });
  }
  return std::any_of(columns.begin(), columns.end(),
                     [first](int column) { return static_cast<size_t>(column) >= first; });
}

// Of a window whose order has `count` keys now.
void HaveOrderKeys(size_t count, WindowSpec* window) {
  for (WindowFunctionSpec& function : window->functions) function.later_keys += count - window->order_keys.size();
}

}  // namespace

void ShareSortsOfWindows(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    Operator& above = (*operators)[id];
    if (above.kind != Operator::Kind::kWindow) continue;
    Operator& below = (*operators)[above.inputs[0]];
    if (below.kind != Operator::Kind::kWindow || below.users > 1) continue;
    WindowSpec &window = above.window, &other = below.window;
    if (window.limit.count > 0 || other.limit.count > 0 || !SortAlike(window, other) ||
        ReadsFrom(other.column_types.size(), window)) {
      continue;
    }
    const size_t keys = std::max(window.order_keys.size(), other.order_keys.size());
    HaveOrderKeys(keys, &window);
    HaveOrderKeys(keys, &other);
    if (other.order_keys.size() == keys) window.order_keys = other.order_keys;
    window.functions.insert(window.functions.begin(), other.functions.begin(), other.functions.end());
    window.column_types = other.column_types;
    above.inputs = below.inputs;
  }
}

}  // namespace penumbra

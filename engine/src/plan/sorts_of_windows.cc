// A window right above another one is computed with it, if rows in the order of one, by its partition keys and then its
// order keys, are in the other's order, too: rows are sorted once, by the longer order.
//
// The result is the same: a function's partitions are the rows that are equal in its own partition keys, and its peers
// those that are equal in the keys of its own order (WindowOrder). Which of its peers come first is open, and
// PostgreSQL sorts such windows once, too.
#include <algorithm>
#include <optional>

#include "plan/passes.h"

namespace penumbra {
namespace {

using Keys = std::vector<SortKeySpec>;

bool IsColumn(const Expr& expr, const Expr& other) {
  return expr.kind == Expr::Kind::kColumn && other.kind == Expr::Kind::kColumn && expr.column == other.column;
}

Keys KeysOf(const WindowSpec& window) {
  Keys keys;
  for (const Expr* key : window.partition_keys) keys.push_back({key});
  keys.insert(keys.end(), window.order_keys.begin(), window.order_keys.end());
  return keys;
}

// Keys by which rows are in both orders. Partitions of texts that are told by the one are ordered as the other wants.
std::optional<Keys> SharedKeys(const WindowSpec& window, const WindowSpec& other) {
  Keys keys = KeysOf(window);
  const Keys others = KeysOf(other);
  for (size_t i = 0; i < std::min(keys.size(), others.size()); ++i) {
    if (!IsColumn(*keys[i].expr, *others[i].expr) || keys[i].descending != others[i].descending ||
        keys[i].nulls_first != others[i].nulls_first) {
      return {};
    }
    const bool is_of_order = i >= window.partition_keys.size(), is_of_other_order = i >= other.partition_keys.size();
    if (is_of_order && is_of_other_order && keys[i].collation != others[i].collation) return {};
    if (is_of_other_order) keys[i].collation = others[i].collation;
  }
  if (others.size() > keys.size()) {
    keys.insert(keys.end(), others.begin() + static_cast<ptrdiff_t>(keys.size()), others.end());
  }
  return keys;
}

// Partitions are what readers divide rows by, and without an order they are hashed.
bool LosesPartitions(const WindowSpec& window, const WindowSpec& other) {
  if (window.partition_keys.size() == other.partition_keys.size()) return false;
  return window.partition_keys.empty() || other.partition_keys.empty() ||
         (window.order_keys.empty() && other.order_keys.empty());
}

// Whether the window reads a column from `first` on.
bool ReadsFrom(size_t first, const WindowSpec& window) {
  std::vector<int> columns;
  for (const SortKeySpec& key : KeysOf(window)) CollectColumns(*key.expr, &columns);
  for (const WindowFunctionSpec& function : window.functions) {
    ForEachExpr(function, [&columns](const Expr& expr) { CollectColumns(expr, &columns); });
  }
  return std::any_of(columns.begin(), columns.end(),
                     [first](int column) { return static_cast<size_t>(column) >= first; });
}

// Has the window sort by `keys`, of which the first `partition_keys` tell its partitions; its functions keep theirs.
void SortBy(const Keys& keys, size_t partition_keys, WindowSpec* window) {
  const size_t own_keys = window->partition_keys.size() + window->order_keys.size();
  for (WindowFunctionSpec& function : window->functions) {
    function.order.earlier_keys += window->partition_keys.size() - partition_keys;
    function.order.later_keys += keys.size() - own_keys;
  }
  window->partition_keys.resize(partition_keys);
  window->order_keys.assign(keys.begin() + static_cast<ptrdiff_t>(partition_keys), keys.end());
}

}  // namespace

void ShareSortsOfWindows(Operators* operators, const std::vector<PenumbraOperator>& order) {
  for (PenumbraOperator id : order) {
    Operator& above = (*operators)[id];
    if (above.kind != Operator::Kind::kWindow) continue;
    Operator& below = (*operators)[above.inputs[0]];
    if (below.kind != Operator::Kind::kWindow || below.users > 1) continue;
    WindowSpec &window = above.window, &other = below.window;
    if (window.limit.count > 0 || other.limit.count > 0 || LosesPartitions(window, other) ||
        ReadsFrom(other.column_types.size(), window)) {
      continue;
    }
    const std::optional<Keys> keys = SharedKeys(window, other);
    if (!keys) continue;
    const size_t partition_keys = std::min(window.partition_keys.size(), other.partition_keys.size());
    SortBy(*keys, partition_keys, &window);
    SortBy(*keys, partition_keys, &other);
    window.functions.insert(window.functions.begin(), other.functions.begin(), other.functions.end());
    window.column_types = other.column_types;
    above.inputs = below.inputs;
  }
}

}  // namespace penumbra

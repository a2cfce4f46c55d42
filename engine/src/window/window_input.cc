#include "window/window_input.h"

#include <algorithm>

namespace penumbra {

WindowInput::WindowInput(const WindowSpec& spec) : spec_(spec) {
  for (const Expr* key : spec_.partition_keys) Add(key);
  for (const SortKeySpec& key : spec_.order_keys) Add(key.expr);
  for (const WindowFunctionSpec& function : spec_.functions) {
    Add(function.value);
    Add(function.default_value);
    Add(function.range_key);
    Add(function.start_edge);
    Add(function.end_edge);
    for (const Expr* argument : function.aggregate.arguments) Add(argument);
    Add(function.aggregate.filter);
  }
  sort_.column_types = spec_.column_types;
  for (const Expr* expr : added_) sort_.column_types.push_back(expr->type);
  for (const Expr* key : spec_.partition_keys) sort_.keys.push_back({Column(*key)});
  for (const SortKeySpec& key : spec_.order_keys) {
    sort_.keys.push_back({Column(*key.expr), key.descending, key.nulls_first, key.collation});
  }
}

void WindowInput::Add(const Expr* expr) {
  if (expr == nullptr || expr->kind == Expr::Kind::kColumn) return;
  if (std::find(added_.begin(), added_.end(), expr) == added_.end()) added_.push_back(expr);
}

int WindowInput::ColumnOf(const Expr& expr) const {
  if (expr.kind == Expr::Kind::kColumn) return expr.column;
  const auto found = std::find(added_.begin(), added_.end(), &expr);
  return static_cast<int>(spec_.column_types.size() + static_cast<size_t>(found - added_.begin()));
}

const Expr* WindowInput::Column(const Expr& expr) {
  Expr& column = columns_.emplace_back();
  column.kind = Expr::Kind::kColumn;
  column.type = expr.type;
  column.column = ColumnOf(expr);
  return &column;
}

std::vector<PenumbraType> WindowInput::partition_types() const {
  std::vector<PenumbraType> types;
  for (const Expr* key : spec_.partition_keys) types.push_back(key->type);
  return types;
}

Batch WindowInput::Extend(const Batch& batch, EvalContext& context, std::vector<Vector>* columns) const {
  columns->assign(batch.columns, batch.columns + batch.column_count);
  if (context.memo != nullptr) context.memo->Begin(batch);
  for (const Expr* expr : added_) columns->push_back(Evaluate(*expr, batch, context));
  return {batch.rows, static_cast<uint32_t>(columns->size()), columns->data()};
}

bool ShouldSpill(const MemoryBudget& budget, size_t bytes) {
  // Less is not worth it: another operator holds the memory.
  constexpr size_t kBytesMin = size_t{128} << 10;
  return budget.IsExceeded() && bytes >= std::min(kBytesMin, budget.budget_bytes() / 4);
}

}  // namespace penumbra

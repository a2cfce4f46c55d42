#include "window/window_input.h"

#include <algorithm>

#include "vector/vector_build.h"

namespace penumbra {

WindowInput::WindowInput(const WindowSpec& spec, bool numbers_partitions) : spec_(spec) {
  for (const Expr* key : spec_.partition_keys) Add(key);
  for (const SortKeySpec& key : spec_.order_keys) Add(key.expr);
  for (const WindowFunctionSpec& function : spec_.functions) {
    ForEachExpr(function, [this](const Expr& expr) { Add(&expr); });
    if (std::find(orders_.begin(), orders_.end(), function.order) == orders_.end()) orders_.push_back(function.order);
  }
  if (orders_.empty()) orders_.push_back({});
  std::stable_sort(orders_.begin(), orders_.end(), [](const WindowOrder& order, const WindowOrder& other) {
    return order.earlier_keys < other.earlier_keys;
  });
  sort_.column_types = spec_.column_types;
  for (const Expr* expr : added_) sort_.column_types.push_back(expr->type);
  if (numbers_partitions) {
    AddNumbers();
  } else {
    for (const Expr* key : spec_.partition_keys)
      sort_.keys.push_back({Column(ColumnOf(*key), key->type, key->numeric)});
  }
  for (const SortKeySpec& key : spec_.order_keys) {
    const Expr* column = Column(ColumnOf(*key.expr), key.expr->type, key.expr->numeric);
    sort_.keys.push_back({column, key.descending, key.nulls_first, key.collation});
  }
}

void WindowInput::AddNumbers() {
  std::vector<PenumbraType> types = {PENUMBRA_INT4};
  for (const Expr* key : spec_.partition_keys) types.push_back(key->type);
  for (PenumbraType type : types) {
    sort_.keys.push_back({Column(static_cast<int>(sort_.column_types.size()), type, {})});
    sort_.column_types.push_back(type);
  }
  std::vector<int> read;
  for (size_t c = 0; c < spec_.column_types.size(); ++c) {
    if (spec_.needed[c]) read.push_back(static_cast<int>(c));
  }
  for (const SortKeySpec& key : spec_.order_keys) read.push_back(ColumnOf(*key.expr));
  for (const WindowFunctionSpec& function : spec_.functions) {
    ForEachExpr(function, [&](const Expr& expr) { read.push_back(ColumnOf(expr)); });
  }
  for (const Expr* key : spec_.partition_keys) {
    const int column = ColumnOf(*key);
    if (std::find(read.begin(), read.end(), column) == read.end()) columns_numbered_.push_back(column);
  }
}

void WindowInput::Add(const Expr* expr) {
  if (expr->kind == Expr::Kind::kColumn) return;
  if (std::find(added_.begin(), added_.end(), expr) == added_.end()) added_.push_back(expr);
}

int WindowInput::ColumnOf(const Expr& expr) const {
  if (expr.kind == Expr::Kind::kColumn) return expr.column;
  const auto found = std::find(added_.begin(), added_.end(), &expr);
  return static_cast<int>(spec_.column_types.size() + static_cast<size_t>(found - added_.begin()));
}

const Expr* WindowInput::Column(int column, PenumbraType type, const NumericTraits& numeric) {
  Expr& expr = columns_.emplace_back();
  expr.kind = Expr::Kind::kColumn;
  expr.type = type;
  expr.column = column;
  expr.numeric = numeric;
  return &expr;
}

std::vector<PenumbraType> WindowInput::partition_types() const {
  std::vector<PenumbraType> types;
  for (const Expr* key : spec_.partition_keys) types.push_back(key->type);
  return types;
}

void WindowInput::Extend(const Batch& batch, EvalContext& context, std::vector<Vector>* columns) const {
  columns->assign(batch.columns, batch.columns + batch.column_count);
  if (context.memo != nullptr) context.memo->Begin(batch);
  for (const Expr* expr : added_) columns->push_back(Evaluate(*expr, batch, context));
}

void WindowInput::ReadPassed(const RowLayout& layout, char* const* rows, uint32_t count, Arena& arena,
                             std::vector<Vector>* columns) const {
  for (size_t c = 0; c < spec_.column_types.size(); ++c) {
    columns->push_back(spec_.needed[c] ? layout.Read(static_cast<int>(c), rows, count, arena)
                                       : NullConstant(spec_.column_types[c]));
  }
}

bool ShouldSpill(const MemoryBudget& budget, size_t bytes) {
  // Less is not worth it: another operator holds the memory.
  constexpr size_t kBytesMin = size_t{128} << 10;
  return budget.IsExceeded() && bytes >= std::min(kBytesMin, budget.budget_bytes() / 4);
}

}  // namespace penumbra

#include "sort/sort_input.h"

namespace penumbra {

SortInput::Columns SortInput::ChooseColumns(const SortSpec& spec) {
  Columns columns;
  columns.types = spec.column_types;
  for (const SortKeySpec& key : spec.keys) {
    if (key.expr->kind == Expr::Kind::kColumn) {
      columns.of_key.push_back(key.expr->column);
    } else {
      columns.of_key.push_back(static_cast<int>(columns.types.size()));
      columns.types.push_back(key.expr->type);
      columns.hidden.push_back(key.expr);
    }
  }
  return columns;
}

SortInput::SortInput(const SortSpec& spec, bool has_weights)
    : columns_(ChooseColumns(spec)),
      column_count_(static_cast<int>(spec.column_types.size())),
      specs_(spec.keys),
      layout_(columns_.types),
      keys_(spec.keys, columns_.of_key, layout_, has_weights) {}

void SortInput::Evaluate(const Batch& batch, EvalContext& context, Vector* columns) const {
  for (int c = 0; c < column_count_; ++c) columns[c] = Flatten(batch.columns[c], batch.rows, context.arena);
  for (size_t k = 0; k < columns_.hidden.size(); ++k) {
    columns[column_count_ + k] =
        Flatten(penumbra::Evaluate(*columns_.hidden[k], batch, context), batch.rows, context.arena);
  }
}

void SortInput::SelectKeys(const Vector* columns, Vector* keys) const {
  for (size_t k = 0; k < columns_.of_key.size(); ++k) keys[k] = columns[columns_.of_key[k]];
}

std::vector<int> SortInput::first_key_columns() const {
  std::vector<int> columns;
  CollectColumns(*specs_[0].expr, &columns);
  return columns;
}

Vector SortInput::EvaluateFirstKey(const Batch& batch, EvalContext& context) const {
  return penumbra::Evaluate(*specs_[0].expr, batch, context);
}

Batch SortedColumns::Read(const SortInput& input, char* const* rows, uint32_t count) {
  arena_.Reset();
  columns_.clear();
  input.layout().Prefetch(rows, count);
  for (int c = 0; c < input.column_count(); ++c) columns_.push_back(input.layout().Read(c, rows, count, arena_));
  return {count, static_cast<uint32_t>(columns_.size()), columns_.data()};
}

bool SortedReader::Next(Batch* batch) {
  if (left_ == 0) return false;
  environment_.CheckCancelled();
  const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(left_, kVectorRows));
  *batch = columns_.Read(input_, rows_, count);
  rows_ += count;
  left_ -= count;
  return true;
}

}  // namespace penumbra

// What the full sort and the top-N share.
#pragma once

#include <memory>
#include <vector>

#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "row/row_layout.h"
#include "sort/sort_key.h"
#include "sort/sort_spec.h"

namespace penumbra {

struct SortEntry {
  SortPrefix prefix;
  char* row;
};

inline bool IsLess(const SortKeys& keys, const SortEntry& a, const SortEntry& b) {
  if (!(a.prefix == b.prefix)) return a.prefix < b.prefix;
  return !keys.HasExactPrefix() && keys.CompareRows(a.row, b.row) < 0;
}

// The rows' columns: those of the batches, then the keys that are not among them.
class SortInput {
 public:
  // has_weights: see SortKeys.
  SortInput(const SortSpec& spec, bool has_weights);
  SortInput(const SortInput&) = delete;
  const RowLayout& layout() const { return layout_; }
  const SortKeys& keys() const { return keys_; }
  int column_count() const { return column_count_; }           // of the output
  size_t key_count() const { return columns_.of_key.size(); }  // may name a column twice

  // Flat columns of a batch, in the layout's order; valid as long as context.arena and the batch.
  void Evaluate(const Batch& batch, EvalContext& context, Vector* columns) const;
  // Of those, the keys.
  void SelectKeys(const Vector* columns, Vector* keys) const;
  // What EvaluateFirstKey() reads.
  std::vector<int> first_key_columns() const;
  bool can_first_key_fail() const { return specs_[0].expr->can_fail; }
  // The evaluation of the first key alone, in any form.
  Vector EvaluateFirstKey(const Batch& batch, EvalContext& context) const;

  bool IsLess(const SortEntry& a, const SortEntry& b) const { return penumbra::IsLess(keys_, a, b); }

 private:
  struct Columns {
    std::vector<PenumbraType> types;
    std::vector<int> of_key;
    std::vector<const Expr*> hidden;
  };
  static Columns ChooseColumns(const SortSpec& spec);

  Columns columns_;
  const int column_count_;
  const std::vector<SortKeySpec> specs_;
  RowLayout layout_;
  SortKeys keys_;
};

// Compares for std algorithms; polls for cancellation, which leaves the range in any order.
class SortOrder {
 public:
  SortOrder(const SortKeys& keys, const ExecutionEnvironment& environment) : keys_(&keys), environment_(&environment) {}
  SortOrder(const SortInput& input, const ExecutionEnvironment& environment) : SortOrder(input.keys(), environment) {}
  bool operator()(const SortEntry& a, const SortEntry& b) {
    Poll();
    return IsLess(*keys_, a, b);
  }
  // Rows by their values alone.
  bool operator()(const char* a, const char* b) {
    Poll();
    return keys_->CompareRows(a, b) < 0;
  }

 private:
  void Poll() {
    if (++compared_ % kPollCompares == 0) environment_->CheckCancelled();
  }

  static constexpr uint32_t kPollCompares = 1 << 16;
  const SortKeys* keys_;
  const ExecutionEnvironment* environment_;
  uint32_t compared_ = 0;
};

// A batch of the output's columns, given the pointers to its rows.
class SortedColumns {
 public:
  // Valid until the next call, as long as the rows are.
  Batch Read(const SortInput& input, char* const* rows, uint32_t count);

 private:
  std::vector<Vector> columns_;
  Arena arena_;
};

// Reads rows in order, given the pointers to them.
class SortedReader : public Sink::Reader {
 public:
  SortedReader(const SortInput& input, const ExecutionEnvironment& environment, char* const* rows, uint64_t count)
      : input_(input), environment_(environment), rows_(rows), left_(count) {}
  bool Next(Batch* batch) override;

 private:
  const SortInput& input_;
  const ExecutionEnvironment& environment_;
  char* const* rows_;
  uint64_t left_;
  SortedColumns columns_;
};

}  // namespace penumbra

// What the rows of a window hold: the columns of the batches, then the keys and arguments that are not among them.
#pragma once

#include <deque>
#include <vector>

#include "sort/sort_spec.h"
#include "window/window_spec.h"

namespace penumbra {

class WindowInput {
 public:
  explicit WindowInput(const WindowSpec& spec);
  WindowInput(const WindowInput&) = delete;

  const WindowSpec& spec() const { return spec_; }
  // By partition keys, then by order keys; all of them, and the rows, are columns.
  const SortSpec& sort() const { return sort_; }
  size_t partition_key_count() const { return spec_.partition_keys.size(); }
  std::vector<PenumbraType> partition_types() const;
  // Where the rows have the value of one of the spec's expressions.
  int ColumnOf(const Expr& expr) const;
  // The batch with the columns that are added; valid as long as both, and the arena.
  Batch Extend(const Batch& batch, EvalContext& context, std::vector<Vector>* columns) const;

 private:
  void Add(const Expr* expr);
  const Expr* Column(const Expr& expr);

  const WindowSpec spec_;
  std::vector<const Expr*> added_;
  std::deque<Expr> columns_;  // of sort_
  SortSpec sort_;
};

// Whether a thread that holds so many bytes outside of the sort is to give them to it.
bool ShouldSpill(const MemoryBudget& budget, size_t bytes);

}  // namespace penumbra

// What the rows of a window hold: the columns of the batches, then the keys and arguments that are not among them.
#pragma once

#include <deque>
#include <vector>

#include "row/row_layout.h"
#include "sort/sort_spec.h"
#include "window/window_spec.h"

namespace penumbra {

class WindowInput {
 public:
  // numbers_partitions: rows are sorted by the number of their partition, or the keys where that is 0, then by order
  // keys. The sort's last columns are the number and, null where there is one, the keys (partition_numbers.h).
  explicit WindowInput(const WindowSpec& spec, bool numbers_partitions = false);
  WindowInput(const WindowInput&) = delete;

  const WindowSpec& spec() const { return spec_; }
  // By partition keys, then by order keys; all of them, and the rows, are columns.
  const SortSpec& sort() const { return sort_; }
  // How many of the sort's keys tell partitions.
  size_t partition_key_count() const { return sort_.keys.size() - spec_.order_keys.size(); }
  std::vector<PenumbraType> partition_types() const;
  // Those of the functions, each once; at least one. The first has the longest partitions.
  const std::vector<WindowOrder>& orders() const { return orders_; }
  // With numbers: those columns of a batch that nobody reads but to number its rows.
  const std::vector<int>& columns_numbered() const { return columns_numbered_; }
  // Where the rows have the value of one of the spec's expressions.
  int ColumnOf(const Expr& expr) const;
  // The batch's columns and those of expressions; valid as long as the batch and the arena.
  void Extend(const Batch& batch, EvalContext& context, std::vector<Vector>* columns) const;
  // The columns of the batches that the rows hold and somebody reads; the others are null constants.
  void ReadPassed(const RowLayout& layout, char* const* rows, uint32_t count, Arena& arena,
                  std::vector<Vector>* columns) const;

 private:
  void Add(const Expr* expr);
  const Expr* Column(int column, PenumbraType type, const NumericTraits& numeric);
  void AddNumbers();

  const WindowSpec spec_;
  std::vector<const Expr*> added_;
  std::vector<WindowOrder> orders_;
  std::vector<int> columns_numbered_;
  std::deque<Expr> columns_;  // of sort_
  SortSpec sort_;
};

// Whether a thread that holds so many bytes outside of the sort is to give them to it.
bool ShouldSpill(const MemoryBudget& budget, size_t bytes);

}  // namespace penumbra

// Window functions: a full sort by partition and order keys, then a pass over the rows in that order.
//
// Readers compute the functions while they read, each over whole partitions or, where all functions allow it, over any
// rows. Past the budget the sort's merged runs are
// read by one, which holds as many rows as the longest partition has.
#include "window/window.h"

#include <algorithm>

#include "sort/sort.h"
#include "window/first_rows.h"
#include "window/partition_numbers.h"
#include "window/whole_partitions.h"
#include "window/window_function.h"

namespace penumbra {
namespace {

// Wanted of a reader, and of what is taken of merged runs at once.
constexpr uint64_t kReaderRows = uint64_t{1} << 16;

// Whether a reader may begin within a partition: what it computes of a row does not come from the rows before.
bool BeginsAnywhere(const WindowFunctionSpec& function) {
  const auto is_near = [&](const PenumbraFrameBound& bound) {
    return HasOffset(bound) ? function.mode == PENUMBRA_FRAME_ROWS : bound.kind == PENUMBRA_FRAME_CURRENT_ROW;
  };
  const bool is_of_frame = function.function >= PENUMBRA_WINDOW_FIRST_VALUE;
  if (function.aggregate.takes_away) return false;
  if (function.function == PENUMBRA_WINDOW_AGGREGATE) return is_near(function.start) && is_near(function.end);
  // A row may be far where others have no value.
  if (function.ignores_nulls) return false;
  // What NTILE's first row says.
  if (function.function == PENUMBRA_WINDOW_NTILE && function.count_value != nullptr) return false;
  // Cursors begin with the partition.
  return !is_of_frame || function.mode == PENUMBRA_FRAME_ROWS ||
         (!HasOffset(function.start) && !HasOffset(function.end));
}

// A text that comes first in the sort's prefix leaves no room for order keys. First rows are found by hashing.
bool NumbersPartitions(const WindowSpec& spec) {
  return spec.any_partition_order && spec.limit.count == 0 &&
         std::any_of(spec.partition_keys.begin(), spec.partition_keys.end(),
                     [](const Expr* key) { return IsStringType(key->type); });
}

// The rows with the bounds that they have in each of WindowInput::orders().
class OrderedRows {
 public:
  OrderedRows(const WindowInput& input, const RowLayout& layout, char* const* rows, uint64_t count) {
    for (WindowOrder order : input.orders()) orders_.push_back({order, {input, layout, order}, {rows, count}});
  }
  uint64_t count() const { return longest().count(); }
  uint64_t task_count() const { return longest().task_count(); }
  uint64_t NextPartition(uint64_t row) const { return longest().NextPartition(row); }
  // Tasks may run concurrently.
  void FindBounds(uint64_t task, const ExecutionEnvironment& environment) {
    for (Order& order : orders_) order.rows.FindBounds(task, order.keys, environment);
  }
  size_t order_count() const { return orders_.size(); }
  const WindowRows& InOrder(size_t order) const { return orders_[order].rows; }
  size_t OrderOf(const WindowFunctionSpec& function) const {
    size_t order = 0;
    while (!(orders_[order].order == function.order)) ++order;
    return order;
  }

 private:
  struct Order {
    WindowOrder order;
    WindowKeys keys;
    WindowRows rows;
  };
  // Where its partitions end those of the others do, too.
  const WindowRows& longest() const { return orders_[0].rows; }

  std::vector<Order> orders_;
};

// Rows of the window's order, and the functions' values.
class PartitionReader {
 public:
  PartitionReader(const WindowInput& input, const RowLayout& layout, ExecutionEnvironment& environment)
      : input_(input), layout_(layout), environment_(environment) {}

  // Begins with the rows [begin, end) of `rows`.
  void Begin(const OrderedRows& rows, uint64_t begin, uint64_t end) {
    end_ = end;
    batches_.clear();
    for (size_t order = 0; order < rows.order_count(); ++order) batches_.emplace_back(rows.InOrder(order), begin);
    functions_.clear();
    for (const WindowFunctionSpec& function : input_.spec().functions) {
      functions_.push_back({CreateWindowFunction(function, input_, layout_, environment_), rows.OrderOf(function)});
    }
  }
  // False at their end.
  bool Next(Batch* batch) {
    if (batches_.empty() || batches_[0].begin + batches_[0].count == end_) return false;
    environment_.CheckCancelled();
    uint32_t wanted = kVectorRows;
    for (const Function& function : functions_) wanted = std::min(wanted, function.values->RowsWanted());
    for (WindowBatch& of_order : batches_) of_order.Advance(end_, wanted);
    arena_.Reset();
    columns_.clear();
    uint32_t count = batches_[0].count;
    char* const* rows = batches_[0].rows.at(batches_[0].begin);
    layout_.Prefetch(rows, count);
    input_.ReadPassed(layout_, rows, count, arena_, &columns_);
    for (const Function& function : functions_) {
      columns_.push_back(function.values->Evaluate(batches_[function.order], arena_));
      count = std::min(count, function.values->rows_made());
    }
    for (WindowBatch& of_order : batches_) of_order.count = count;
    *batch = {count, static_cast<uint32_t>(columns_.size()), columns_.data()};
    return true;
  }

 private:
  struct Function {
    std::unique_ptr<WindowFunction> values;
    size_t order;
  };
  const WindowInput& input_;
  const RowLayout& layout_;
  ExecutionEnvironment& environment_;
  uint64_t end_ = 0;
  std::vector<WindowBatch> batches_;  // the same rows in each order
  std::vector<Function> functions_;
  Arena arena_;
  std::vector<Vector> columns_;
};

class MemoryReader : public Sink::Reader {
 public:
  MemoryReader(const WindowInput& input, const RowLayout& layout, ExecutionEnvironment& environment,
               const OrderedRows& rows, uint64_t begin, uint64_t end)
      : reader_(input, layout, environment) {
    reader_.Begin(rows, begin, end);
  }
  bool Next(Batch* batch) override { return reader_.Next(batch); }

 private:
  PartitionReader reader_;
};

// Copies the rows of merged runs, some whole partitions at a time.
class SpilledReader : public Sink::Reader {
 public:
  SpilledReader(const WindowInput& input, const RowLayout& layout, ExecutionEnvironment& environment,
                std::unique_ptr<Sink::Reader> runs)
      : input_(input),
        layout_(layout),
        keys_(input, layout, {}),
        environment_(environment),
        runs_(std::move(runs)),
        reader_(input, layout, environment) {}

  bool Next(Batch* batch) override {
    while (!reader_.Next(batch)) {
      if (!ReadPartitions()) return false;
    }
    return true;
  }

 private:
  // Up to where the last partition begins, unless that is the first; false: there are no more rows.
  bool ReadPartitions() {
    // Rows of the partition that was begun are kept, with the memory that they lie in.
    pages_.erase(pages_.begin(), pages_.begin() + static_cast<ptrdiff_t>(done_pages_));
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<ptrdiff_t>(done_));
    uint64_t begin = 0;  // of the last partition
    for (uint64_t wanted = kReaderRows; !is_at_end_ && begin == 0; wanted *= 2) {
      while (taken_.size() < wanted && ReadBatch()) {
      }
      if (taken_.empty()) return false;
      for (begin = is_at_end_ ? 0 : taken_.size() - 1; begin > 0; --begin) {
        if (keys_.IsOtherPartition(taken_[begin - 1].row, taken_[begin].row)) break;
      }
    }
    if (taken_.empty()) return false;
    done_ = begin == 0 ? taken_.size() : begin;
    done_pages_ = done_ == taken_.size() ? pages_.size() : taken_[done_].page;
    // Pages are numbered from what is left next time.
    for (uint64_t i = done_; i < taken_.size(); ++i) taken_[i].page -= done_pages_;
    rows_.clear();
    for (uint64_t i = 0; i < done_; ++i) rows_.push_back(taken_[i].row);
    window_ = std::make_unique<OrderedRows>(input_, layout_, rows_.data(), done_);
    for (uint64_t task = 0; task < window_->task_count(); ++task) window_->FindBounds(task, environment_);
    reader_.Begin(*window_, 0, done_);
    return true;
  }
  bool ReadBatch() {
    Batch batch;
    if (!runs_->Next(&batch)) {
      is_at_end_ = true;
      return false;
    }
    pages_.push_back(std::make_unique<Arena>(&environment_.budget));
    Arena& page = *pages_.back();
    char* memory = static_cast<char*>(page.Allocate(size_t{batch.rows} * layout_.row_bytes()));
    std::memset(memory, 0, size_t{batch.rows} * layout_.row_bytes());
    char* rows[kVectorRows];
    for (uint32_t i = 0; i < batch.rows; ++i) {
      rows[i] = memory + size_t{i} * layout_.row_bytes();
      taken_.push_back({rows[i], pages_.size() - 1});
    }
    layout_.Write(batch.columns, {nullptr, batch.rows}, rows, page);
    return true;
  }

  struct Taken {
    char* row;
    size_t page;
  };
  const WindowInput& input_;
  const RowLayout& layout_;
  const WindowKeys keys_;
  ExecutionEnvironment& environment_;
  std::unique_ptr<Sink::Reader> runs_;
  bool is_at_end_ = false;
  std::vector<std::unique_ptr<Arena>> pages_;
  std::vector<Taken> taken_;
  size_t done_ = 0;  // of taken_, and of pages_: they were read
  size_t done_pages_ = 0;
  std::vector<char*> rows_;
  std::unique_ptr<OrderedRows> window_;
  PartitionReader reader_;
};

class Window : public Sink {
 public:
  Window(const WindowSpec& spec, ExecutionEnvironment& environment)
      : environment_(environment),
        input_(spec, NumbersPartitions(spec)),
        sort_(CreateRowSort(input_.sort(), environment)) {
    if (NumbersPartitions(spec)) numbers_ = std::make_unique<PartitionNumbers>(input_, environment);
    if (spec.limit.count > 0) first_rows_ = std::make_unique<FirstRows>(input_, sort_->input(), environment);
  }

  std::unique_ptr<Local> CreateLocal() override {
    return std::make_unique<WindowLocal>(*sort_, numbers_.get(), first_rows_.get());
  }
  void Consume(Local& local, const Batch& batch, EvalContext& context) override {
    WindowLocal& own = static_cast<WindowLocal&>(local);
    if (batch.rows == 0) return;
    input_.Extend(batch, context, &own.columns);
    if (own.numbers != nullptr) own.numbers->Extend(batch.rows, context, &own.columns);
    const Batch rows = {batch.rows, static_cast<uint32_t>(own.columns.size()), own.columns.data()};
    if (own.first_rows == nullptr) return sort_->Consume(*own.sort, rows, context);
    own.first_rows->Add(rows, context);
    const bool is_useless = own.first_rows->IsUseless();
    if (is_useless || own.first_rows->ShouldSpill()) SortFirstRows(own);
    if (is_useless) own.first_rows = nullptr;
  }
  void Combine(Local& local) override {
    WindowLocal& own = static_cast<WindowLocal&>(local);
    if (own.first_rows != nullptr) SortFirstRows(own);
    sort_->Combine(*own.sort);
  }

  // The sort's rounds, then one of ours.
  int PrepareFinish() override {
    if (rows_ != nullptr) return 0;
    numbers_ = nullptr;
    const int sort_tasks = sort_->PrepareFinish();
    if (sort_tasks > 0) return sort_tasks;
    sort_->Seal();
    if (sort_->is_spilled()) return 0;
    rows_ = std::make_unique<OrderedRows>(input_, layout(), sort_->rows(), sort_->row_count());
    return static_cast<int>(rows_->task_count());
  }
  void RunFinishTask(int task) override {
    if (rows_ == nullptr) return sort_->RunFinishTask(task);
    rows_->FindBounds(static_cast<uint64_t>(task), environment_);
  }
  int Seal() override {
    if (sort_->is_spilled()) return 1;
    const auto& functions = input_.spec().functions;
    const bool cuts_partitions = std::all_of(functions.begin(), functions.end(), BeginsAnywhere);
    for (uint64_t begin = 0; begin < rows_->count();) {
      begins_.push_back(begin);
      begin += kReaderRows;
      begin = cuts_partitions ? std::min(begin, rows_->count()) : rows_->NextPartition(begin);
    }
    begins_.push_back(rows_->count());
    return static_cast<int>(begins_.size()) - 1;
  }
  bool is_ordered() const override { return true; }
  std::unique_ptr<Reader> OpenPartition(int partition) override {
    if (sort_->is_spilled()) {
      return std::make_unique<SpilledReader>(input_, layout(), environment_, sort_->OpenPartition(0));
    }
    return std::make_unique<MemoryReader>(input_, layout(), environment_, *rows_, begins_[partition],
                                          begins_[partition + 1]);
  }
  SinkStats stats() const override { return sort_->stats(); }

 private:
  struct WindowLocal : Local {
    WindowLocal(RowSort& rows, PartitionNumbers* partitions, const FirstRows* first)
        : sort(rows.CreateLocal()),
          numbers(partitions == nullptr ? nullptr : std::make_unique<PartitionNumbers::Local>(*partitions)),
          first_rows(first == nullptr ? nullptr : std::make_unique<FirstRows::Local>(*first)) {}
    std::unique_ptr<Local> sort;
    std::unique_ptr<PartitionNumbers::Local> numbers;  // null: partitions have none
    std::unique_ptr<FirstRows::Local> first_rows;      // null: all rows are sorted
    std::vector<Vector> columns;
  };

  const RowLayout& layout() const { return sort_->input().layout(); }
  void SortFirstRows(WindowLocal& local) {
    Arena arena;
    EvalContext context = environment_.MakeContext(arena);
    local.first_rows->Take([&](const Batch& rows) {
      arena.Reset();
      sort_->Consume(*local.sort, rows, context);
    });
  }

  ExecutionEnvironment& environment_;
  const WindowInput input_;
  const std::unique_ptr<RowSort> sort_;
  std::unique_ptr<PartitionNumbers> numbers_;  // null: partitions have none, or no more rows come
  std::unique_ptr<FirstRows> first_rows_;      // null: no limit
  std::unique_ptr<OrderedRows> rows_;
  std::vector<uint64_t> begins_;  // of what each reader reads, and the end
};

}  // namespace

std::unique_ptr<Sink> CreateWindow(const WindowSpec& spec, ExecutionEnvironment& environment) {
  auto sorted = std::make_unique<Window>(spec, environment);
  if (!IsOfWholePartitions(spec)) return sorted;
  return CreateWholePartitions(spec, environment, std::move(sorted));
}

}  // namespace penumbra

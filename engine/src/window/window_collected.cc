// string_agg and array_agg over frames, whose rows are in the window's order.
//
// The text of a frame that begins with its partition is the beginning of the text of all rows, which is written once.
// Any other value is made of its frame's rows, of which a frame that grows only takes up the new ones, and shared by
// rows with one frame. The plan bounds how many rows a frame that moves has.
#include <cstring>
#include <deque>

#include "aggregate/aggregate_accumulator.h"
#include "aggregate/array_image.h"
#include "window/window_arguments.h"
#include "window/window_function.h"

namespace penumbra {
namespace {

// A text that grows. It is counted in the budget.
class GrowingBuffer {
 public:
  explicit GrowingBuffer(MemoryBudget* budget) : budget_(budget) {}
  GrowingBuffer(const GrowingBuffer&) = delete;
  ~GrowingBuffer() { budget_->Subtract(counted_); }

  const char* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  void Reserve(size_t bytes) {
    if (bytes <= bytes_.capacity()) return;
    const size_t capacity = std::max(2 * bytes_.capacity(), bytes);
    budget_->Admit(capacity);  // PostgreSQL gives up at 1 GB alone
    budget_->Add(capacity - bytes_.capacity());
    counted_ += capacity - bytes_.capacity();
    bytes_.reserve(capacity);
  }
  void Append(const StringRef& text) { bytes_.insert(bytes_.end(), text.data(), text.data() + text.length); }

 private:
  MemoryBudget* budget_;
  std::vector<char> bytes_;
  size_t counted_ = 0;
};

class GrowingText : public WindowFunction {
 public:
  GrowingText(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
              ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        arguments_(spec, input, layout),
        frames_(spec, input, layout, environment) {
    const Expr* delimiter = spec.aggregate.delimiter;
    if (delimiter != nullptr && !delimiter->constant.is_null_constant()) {
      delimiter_ = *delimiter->constant.values<StringRef>();
    }
  }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    // Of partitions that the batch before ended.
    while (texts_.size() > 1) texts_.pop_front();
    struct Place {
      size_t text;
      size_t bytes;
      bool is_null;
    };
    Place places[kVectorRows];
    for (uint32_t i = 0; i < batch.count; ++i) {
      MoveTo(batch.rows, frames_.begins[i], std::max(frames_.begins[i], frames_.ends[i]));
      places[i] = {texts_.size() - 1, texts_.back().size(), is_null_};
    }
    // Not before all are written: a text that grows may move.
    StringRef* values;
    ResultVector out = MakeResult(spec_.result, batch.count, arena, &values);
    for (uint32_t i = 0; i < batch.count; ++i) {
      if (places[i].is_null) {
        out.SetNull(i, arena);
      } else {
        values[i] = StringRef(texts_[places[i].text].data(), static_cast<uint32_t>(places[i].bytes));
      }
    }
    return out.vector;
  }

 private:
  void MoveTo(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (texts_.empty() || begin != begin_ || end < end_) {
      texts_.emplace_back(&environment_.budget);
      begin_ = end_ = begin;
      is_null_ = true;
    }
    ForEachPart(arguments_, rows, environment_, end_, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t) {
        AppendRows(arguments, selection);
      });
    });
    end_ = end;
  }
  // A text's delimiter stands before it; that of the first is none. The slot of a null is an empty string.
  void AppendRows(const Vector* arguments, RowSelection selection) {
    GrowingBuffer& text = texts_.back();
    const StringRef* values = arguments[0].values<StringRef>();
    const auto delimiter = [&](uint32_t row) {
      if (spec_.aggregate.delimiter != nullptr) return delimiter_;
      return arguments[1].IsValid(row) ? arguments[1].values<StringRef>()[row] : StringRef();
    };
    size_t bytes = text.size();
    bool is_first = is_null_;
    VisitValid(arguments[0], selection, [&](uint32_t row) {
      const size_t more = values[row].length + (std::exchange(is_first, false) ? 0 : delimiter(row).length);
      CheckTextSize(bytes, more);
      bytes += more;
    });
    text.Reserve(bytes);
    VisitValid(arguments[0], selection, [&](uint32_t row) {
      if (!std::exchange(is_null_, false)) text.Append(delimiter(row));
      text.Append(values[row]);
    });
  }

  const WindowFunctionSpec& spec_;
  ExecutionEnvironment& environment_;
  ArgumentBlock arguments_;
  WindowFrames frames_;
  StringRef delimiter_;              // if it is constant; empty: NULL
  std::deque<GrowingBuffer> texts_;  // of the batch's partitions; the last is that of the rows [begin_, end_)
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  bool is_null_ = true;  // the last one has no row
};

bool BeginsWithPartition(const WindowFunctionSpec& spec) {
  return spec.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING && spec.exclusion == PENUMBRA_EXCLUDE_NO_OTHERS;
}

class CollectedFrames : public WindowFunction {
 public:
  CollectedFrames(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
                  ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        arguments_(spec, input, layout),
        frames_(spec, input, layout, environment),
        accumulator_(ChooseAccumulator(spec.aggregate)(spec.aggregate)),
        layout_(layout),
        filter_column_(spec.aggregate.filter == nullptr ? -1 : input.ColumnOf(*spec.aggregate.filter)),
        state_(accumulator_->state_bytes() / 8) {
    if (BeginsWithPartition(spec)) {
      array_ = std::make_unique<ArrayImage>(spec.aggregate.label, layout, input.ColumnOf(*spec.aggregate.arguments[0]));
    }
  }

  uint32_t RowsWanted() const override {
    return static_cast<uint32_t>(std::clamp<size_t>(kBatchBytes / std::max<size_t>(value_bytes_, 1), 1, kVectorRows));
  }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    // The batch before may have made the last value, which rows of this one may have.
    kept_ = std::exchange(memory_, std::make_unique<Arena>(&environment_.budget));
    StringRef* values;
    ResultVector out = MakeResult(spec_.result, batch.count, arena, &values);
    for (uint32_t i = 0; i < batch.count; ++i) {
      if (MoveTo(batch, i)) MakeValue();
      if (is_null_) {
        out.SetNull(i, arena);
      } else {
        values[i] = value_;
      }
    }
    if (!has_made_) memory_ = std::move(kept_);
    has_made_ = false;
    return out.vector;
  }

 private:
  static constexpr size_t kBatchBytes = size_t{16} << 20;
  static constexpr size_t kFirstBytes = kBatchBytes / 64;  // assumed, so that the first batch is short

  char* state() { return reinterpret_cast<char*>(state_.data()); }

  // Makes the state that of row i's frame; false: it is that of the row before.
  bool MoveTo(const WindowBatch& batch, uint32_t i) {
    const uint64_t begin = frames_.begins[i], end = frames_.ends[i], row = batch.begin + i;
    if (frames_.has_holes()) {
      Clear(begin);
      AddRows(batch.rows, begin, frames_.hole_begins[i]);
      if (frames_.KeepsOwnRow(row, i)) AddRows(batch.rows, row, row + 1);
      AddRows(batch.rows, frames_.hole_ends[i], end);
      return true;
    }
    if (store_ != nullptr && begin == begin_ && end == end_) return false;
    if (store_ == nullptr || begin != begin_ || end < end_) Clear(begin);
    AddRows(batch.rows, end_, end);
    end_ = end;
    return true;
  }
  void Clear(uint64_t begin) {
    begin_ = end_ = begin;
    if (array_ != nullptr) array_->Clear();
    std::fill(state_.begin(), state_.end(), 0);
    if (store_ == nullptr || store_->bytes() > kStoreBytesKept) {
      store_ = std::make_unique<StateStore>(&environment_.budget);
    } else {
      store_->arena().Reset();
    }
  }
  void AddRows(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (array_ != nullptr) return AppendRows(rows, begin, end);
    ForEachPart(arguments_, rows, environment_, begin, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t) {
        accumulator_->AddRun(state(), arguments, selection, *store_);
      });
    });
  }
  void AppendRows(const WindowRows& rows, uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      if (row % kPollRows == 0) environment_.CheckCancelled();
      const char* values = *rows.at(row);
      const bool passes = filter_column_ < 0 || (!layout_.IsNull(values, filter_column_) &&
                                                 layout_.Get<uint8_t>(values, filter_column_) != 0);
      if (passes) array_->Append(values);
    }
  }
  void MakeValue() {
    has_made_ = true;
    if (array_ != nullptr) {
      is_null_ = array_->count() == 0;
      value_ = is_null_ ? StringRef() : array_->Make(*memory_);
      value_bytes_ = value_.length;
      return;
    }
    const char* const states[] = {state()};
    const Vector made = accumulator_->Finalize(ResultOf(spec_.aggregate, environment_), states, 0, 1, *memory_);
    is_null_ = !made.IsValid(0);
    value_ = made.values<StringRef>()[0];
    value_bytes_ = value_.length;
  }

  static constexpr size_t kStoreBytesKept = size_t{1} << 20;
  static constexpr uint64_t kPollRows = uint64_t{1} << 16;

  const WindowFunctionSpec& spec_;
  ExecutionEnvironment& environment_;
  ArgumentBlock arguments_;
  WindowFrames frames_;
  const std::unique_ptr<Accumulator> accumulator_;
  const RowLayout& layout_;
  const int filter_column_;
  std::unique_ptr<ArrayImage> array_;  // in place of state_; null: the frame does not begin with its partition
  std::vector<uint64_t> state_;        // of the rows [begin_, end_)
  std::unique_ptr<StateStore> store_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::unique_ptr<Arena> memory_;  // of the batch's values
  std::unique_ptr<Arena> kept_;    // of those before
  bool has_made_ = false;          // the batch made some
  StringRef value_;                // of the last frame
  bool is_null_ = true;
  size_t value_bytes_ = kFirstBytes;
};

}  // namespace

std::unique_ptr<WindowFunction> CreateCollectedWindow(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment) {
  if (spec.aggregate.function == PENUMBRA_AGG_STRING_AGG && BeginsWithPartition(spec)) {
    return std::make_unique<GrowingText>(spec, input, layout, environment);
  }
  return std::make_unique<CollectedFrames>(spec, input, layout, environment);
}

}  // namespace penumbra

// string_agg and array_agg over frames, whose rows are in the window's order.
//
// The text of a frame that begins with its partition is the beginning of the text of all rows, which is written once.
// Any other value is made of its frame's rows, and shared by rows with one frame; the plan bounds how many rows a frame
// that moves has.
#include <cstring>
#include <deque>

#include "aggregate/aggregate_accumulator.h"
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

class CollectedFrames : public WindowFunction {
 public:
  CollectedFrames(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
                  ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        arguments_(spec, input, layout),
        frames_(spec, input, layout, environment),
        accumulator_(ChooseAccumulator(spec.aggregate)(spec.aggregate)) {}

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    StateStore store(&environment_.budget);
    std::vector<char*> states;
    uint16_t number[kVectorRows];  // of the row's state, from 1; 0: its value is the last one of the batch before
    for (uint32_t i = 0; i < batch.count; ++i) {
      if (!HasLastFrame(i)) states.push_back(MakeState(batch, i, store));
      number[i] = static_cast<uint16_t>(states.size());
    }
    const StringRef last = value_;
    const bool last_is_null = is_null_;
    Vector made;
    if (!states.empty()) {
      // The batch before may have made the last value.
      kept_ = std::exchange(memory_, std::make_unique<Arena>(&environment_.budget));
      made = accumulator_->Finalize(ResultOf(spec_.aggregate, environment_), states.data(), 0,
                                    static_cast<uint32_t>(states.size()), *memory_);
      is_null_ = !made.IsValid(static_cast<uint32_t>(states.size()) - 1);
      value_ = made.values<StringRef>()[states.size() - 1];
    }
    StringRef* values;
    ResultVector out = MakeResult(spec_.result, batch.count, arena, &values);
    for (uint32_t i = 0; i < batch.count; ++i) {
      const bool is_null = number[i] == 0 ? last_is_null : !made.IsValid(number[i] - 1u);
      if (is_null) {
        out.SetNull(i, arena);
      } else {
        values[i] = number[i] == 0 ? last : made.values<StringRef>()[number[i] - 1];
      }
    }
    return out.vector;
  }

 private:
  bool HasLastFrame(uint32_t i) {
    const bool has_last = !frames_.has_holes() && frames_.begins[i] == begin_ && frames_.ends[i] == end_;
    begin_ = frames_.begins[i];
    end_ = frames_.ends[i];
    return has_last;
  }
  char* MakeState(const WindowBatch& batch, uint32_t i, StateStore& store) {
    char* state = static_cast<char*>(store.arena().Allocate(accumulator_->state_bytes()));
    std::memset(state, 0, accumulator_->state_bytes());
    const uint64_t row = batch.begin + i;
    if (!frames_.has_holes()) {
      AddRows(batch.rows, begin_, end_, state, store);
    } else {
      AddRows(batch.rows, begin_, frames_.hole_begins[i], state, store);
      if (frames_.KeepsOwnRow(row, i)) AddRows(batch.rows, row, row + 1, state, store);
      AddRows(batch.rows, frames_.hole_ends[i], end_, state, store);
    }
    return state;
  }
  void AddRows(const WindowRows& rows, uint64_t begin, uint64_t end, char* state, StateStore& store) {
    ForEachPart(arguments_, rows, environment_, begin, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t) {
        accumulator_->AddRun(state, arguments, selection, store);
      });
    });
  }

  const WindowFunctionSpec& spec_;
  ExecutionEnvironment& environment_;
  ArgumentBlock arguments_;
  WindowFrames frames_;
  const std::unique_ptr<Accumulator> accumulator_;
  uint64_t begin_ = UINT64_MAX;  // of the last frame
  uint64_t end_ = UINT64_MAX;
  std::unique_ptr<Arena> memory_;  // of the last values that were made
  std::unique_ptr<Arena> kept_;    // of those before
  StringRef value_;                // of the last frame
  bool is_null_ = true;
};

}  // namespace

std::unique_ptr<WindowFunction> CreateCollectedWindow(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment) {
  if (spec.aggregate.function == PENUMBRA_AGG_STRING_AGG && spec.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING &&
      spec.exclusion == PENUMBRA_EXCLUDE_NO_OTHERS) {
    return std::make_unique<GrowingText>(spec, input, layout, environment);
  }
  return std::make_unique<CollectedFrames>(spec, input, layout, environment);
}

}  // namespace penumbra

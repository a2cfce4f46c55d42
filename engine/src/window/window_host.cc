// Aggregates of the caller's over frames (PenumbraFrames), whose rows are in the window's order.
//
// The caller gets the rows that its state lacks: of a frame that goes on from that of the row before the new ones, else
// all. A state that can lose rows gets those that the frame has left, too, if it has others of that one. The caller
// gets as many at once as a vector has, and as few as give it about 16 MB of values.
#include <algorithm>
#include <cstring>

#include "expression/host_calls.h"
#include "numeric/result_column.h"
#include "window/window_function.h"

namespace penumbra {
namespace {

// A number of a state as long as this lives.
class HostState {
 public:
  explicit HostState(HostCalls* host) : host_(host), number_(host == nullptr ? 0 : host->TakeState()) {}
  ~HostState() {
    if (host_ != nullptr) host_->GiveBackState(number_);
  }
  HostState(const HostState&) = delete;
  uint32_t number() const { return number_; }

 private:
  HostCalls* const host_;
  const uint32_t number_;
};

class HostFrames : public WindowFunction {
 public:
  HostFrames(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
             ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        layout_(layout),
        filter_column_(spec.aggregate.filter == nullptr ? -1 : input.ColumnOf(*spec.aggregate.filter)),
        frames_(spec, input, layout, environment),
        state_(environment.host) {
    for (const Expr* argument : spec.aggregate.arguments) columns_.push_back(input.ColumnOf(*argument));
  }

  uint32_t RowsWanted() const override { return WindowRowsOfBytes(value_bytes_); }
  uint32_t rows_made() const override { return rows_made_; }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    Begin(batch.count, arena);
    for (bool is_done = false; !is_done;) {
      while (rows_made_ < batch.count && bytes_ < kWindowBatchBytes && again_ == 0) AddFrame(batch, rows_made_++);
      Flush();
      is_done = again_ == 0;
      if (!is_done) GoBack();
    }
    for (uint32_t i = 0; i < rows_made_; ++i) {
      const char* value = values_ + size_t{result_of_[i]} * width_;
      if (is_null_[result_of_[i]]) {
        out_validity_[i / 64] &= ~(uint64_t{1} << (i % 64));
        out_.validity = out_validity_;
      }
      std::memcpy(out_values_ + size_t{i} * width_, value, width_);
    }
    return out_;
  }

 private:
  // Result 0 is that of the row before the batch.
  void Begin(uint32_t count, Arena& arena) {
    arena_ = &arena;
    out_ = FlatVector(spec_.result, nullptr, nullptr);
    if (spec_.result == PENUMBRA_NUMERIC) out_.numeric_form = NumericForm::kPayload;
    width_ = FlatWidth(out_);
    out_values_ = arena.AllocateArray<char>(size_t{count} * width_);
    out_.data = out_values_;
    out_validity_ = arena.AllocateArray<uint64_t>(kValidityWords);
    std::fill_n(out_validity_, kValidityWords, ~uint64_t{0});
    values_ = arena.AllocateArray<char>((size_t{count} + 1) * width_);
    is_null_.assign(size_t{count} + 1, false);
    result_of_.resize(count);
    if (has_last_) {
      std::memcpy(values_, last_value_, width_);
      is_null_[0] = last_is_null_;
      if (IsStringForm(out_) && !last_is_null_) CopyLast(arena);
    }
    bytes_ = rows_made_ = 0;
    next_result_ = first_waiting_ = 1;
  }
  // The value of the row before, whose bytes the batch before had.
  void CopyLast(Arena& arena) {
    const StringRef string(last_bytes_.data(), static_cast<uint32_t>(last_bytes_.size()));
    const StringRef copy =
        string.is_inline() ? string : StringRef(arena.CopyBytes(string.data(), string.length), string.length);
    std::memcpy(values_, &copy, sizeof(copy));
  }

  void AddFrame(const WindowBatch& batch, uint32_t i) {
    const uint64_t begin = frames_.begins[i], end = frames_.ends[i];
    // A frame that has all rows of the one before gets the others alone.
    const bool is_left = spec_.aggregate.takes_away && begin_ < begin && begin < end_;
    const bool goes_on = !frames_.has_holes() && has_last_ && (begin == begin_ || is_left) && end >= end_;
    if (goes_on && begin == begin_ && end == end_) {
      result_of_[i] = static_cast<uint16_t>(next_result_ - 1);
      return;
    }
    steps_.push_back({0, !goes_on, false, goes_on && is_left});
    if (goes_on && is_left) {
      AddRows(batch.rows, begin_, begin);
      steps_.push_back({0, false, false, false});
    }
    if (frames_.has_holes()) {
      for (auto [part, part_end] : frames_.PartsAroundHole(batch.begin + i, i)) AddRows(batch.rows, part, part_end);
    } else {
      AddRows(batch.rows, goes_on ? end_ : begin, end);
    }
    begin_ = begin;
    end_ = end;
    has_last_ = true;
    steps_.back().is_finished = true;
    result_of_[i] = static_cast<uint16_t>(next_result_++);
    const uint32_t waiting = next_result_ - first_waiting_;
    if (waiting * value_bytes_ >= kWindowBatchBytes || waiting >= frames_at_once_) Flush();
  }
  // To the first row of the frame that the state could not become. Others may follow it soon.
  void GoBack() {
    rows_made_ = static_cast<uint32_t>(std::find(result_of_.begin(), result_of_.end(), again_) - result_of_.begin());
    next_result_ = first_waiting_ = again_;
    again_ = 0;
    has_last_ = false;
    frames_at_once_ = 1;
  }
  void AddRows(const WindowRows& rows, uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      if (row % kPollRows == 0) environment_.CheckCancelled();
      const char* values = *rows.at(row);
      if (filter_column_ >= 0 && !layout_.IsTrue(values, filter_column_)) continue;
      rows_[row_count_++] = values;
      row_bytes_ += layout_.StringBytes(values);
      ++steps_.back().rows;
      if (row_count_ < kVectorRows && row_bytes_ < kWindowBatchBytes) continue;
      const bool takes_away = steps_.back().takes_away;
      Flush();
      steps_.push_back({0, false, false, takes_away});
    }
  }

  // Hands over what waits, and takes the results.
  void Flush() {
    environment_.CheckCancelled();
    if (steps_.empty() || again_ != 0) return ClearWaiting();
    scratch_.Reset();
    std::vector<PenumbraResultColumn> columns;
    for (int column : columns_) {
      columns.push_back(MakeResultColumn(layout_.Read(column, rows_, row_count_, scratch_), row_count_, scratch_));
    }
    const uint32_t waiting = next_result_ - first_waiting_;
    const PenumbraFrames frames{spec_.aggregate.label,
                                state_.number(),
                                {row_count_, columns.data()},
                                steps_.data(),
                                static_cast<uint32_t>(steps_.size()),
                                waiting};
    if (environment_.host == nullptr) throw EngineError(PENUMBRA_UNSUPPORTED, "aggregate of the host");
    environment_.host->EvaluateFrames(frames, [&](const PenumbraColumnInput& results) { Take(results, waiting); });
    first_waiting_ = next_result_;
    frames_at_once_ = std::min<uint32_t>(2 * frames_at_once_, kVectorRows);
    ClearWaiting();
  }
  void ClearWaiting() {
    steps_.clear();
    row_count_ = 0;
    row_bytes_ = 0;
  }
  void Take(const PenumbraColumnInput& results, uint32_t count) {
    char value[16];
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t result = first_waiting_ + i;
      if (results.nulls != nullptr && results.nulls[i] == PENUMBRA_FRAME_AGAIN) {
        again_ = result;
        count = i;
        break;
      }
      is_null_[result] = !ReadHostValue(spec_.result, results, i, value, *arena_);
      std::memcpy(values_ + size_t{result} * width_, value, width_);
      if (!IsStringForm(out_)) {
        value_bytes_ = width_;
        continue;
      }
      value_bytes_ = is_null_[result] ? 0 : results.lengths[i];
      bytes_ += value_bytes_;
    }
    if (count == 0) return;
    std::memcpy(last_value_, value, width_);
    last_is_null_ = is_null_[first_waiting_ + count - 1];
    if (!IsStringForm(out_) || last_is_null_) return;
    const auto* bytes = reinterpret_cast<const char*>(results.values[count - 1]);
    last_bytes_.assign(bytes, bytes + results.lengths[count - 1]);
  }

  static constexpr uint64_t kPollRows = uint64_t{1} << 16;

  const WindowFunctionSpec& spec_;
  ExecutionEnvironment& environment_;
  const RowLayout& layout_;
  std::vector<int> columns_;
  const int filter_column_;
  WindowFrames frames_;
  const HostState state_;
  bool has_last_ = false;  // the state is that of the rows [begin_, end_)
  uint64_t begin_ = 0;
  uint64_t end_ = 0;

  // Of the batch.
  Arena* arena_ = nullptr;
  Vector out_;
  uint32_t width_ = 0;
  char* out_values_ = nullptr;
  uint64_t* out_validity_ = nullptr;
  char* values_ = nullptr;  // by result
  std::vector<bool> is_null_;
  std::vector<uint16_t> result_of_;  // by row
  uint32_t next_result_ = 1;
  uint32_t first_waiting_ = 1;  // the results before it are known
  uint32_t again_ = 0;          // not 0: the first result for which the state could not lose a row
  uint32_t frames_at_once_ = kVectorRows;
  uint32_t rows_made_ = 0;
  size_t bytes_ = 0;
  size_t value_bytes_ = kFirstValueBytes;

  // What waits to be handed over.
  std::vector<PenumbraFrameStep> steps_;
  const char* rows_[kVectorRows];
  uint32_t row_count_ = 0;
  size_t row_bytes_ = 0;
  Arena scratch_;

  // The last result.
  char last_value_[16] = {};
  bool last_is_null_ = true;
  std::vector<char> last_bytes_;
};

}  // namespace

std::unique_ptr<WindowFunction> CreateHostWindow(const WindowFunctionSpec& spec, const WindowInput& input,
                                                 const RowLayout& layout, ExecutionEnvironment& environment) {
  return std::make_unique<HostFrames>(spec, input, layout, environment);
}

}  // namespace penumbra

// string_agg and array_agg over frames, whose rows are in the window's order.
//
// The text of a frame is a part of the text of all rows, which is written once, as long as frames need it. An array is
// made of the elements of all rows, of which the frame's are copied; rows with one frame share it. A frame with a hole
// is taken up anew for each row; the plan bounds how many rows it has.
#include <algorithm>
#include <cstring>
#include <deque>

#include "aggregate/aggregate_accumulator.h"
#include "aggregate/array_image.h"
#include "window/window_arguments.h"
#include "window/window_function.h"

namespace penumbra {
namespace {

// Values that grow. They are counted in the budget.
template <typename T>
class GrowingBuffer {
 public:
  explicit GrowingBuffer(MemoryBudget* budget) : budget_(budget) {}
  GrowingBuffer(const GrowingBuffer&) = delete;
  ~GrowingBuffer() { budget_->Subtract(counted_); }

  const T* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }
  void Reserve(size_t count) {
    if (count <= values_.capacity()) return;
    const size_t capacity = std::max(2 * values_.capacity(), count);
    budget_->Admit(capacity * sizeof(T));  // PostgreSQL gives up at 1 GB alone
    budget_->Add((capacity - values_.capacity()) * sizeof(T));
    counted_ += (capacity - values_.capacity()) * sizeof(T);
    values_.reserve(capacity);
  }
  void Append(const T* values, size_t count) { values_.insert(values_.end(), values, values + count); }
  void DropFirst(size_t count) { values_.erase(values_.begin(), values_.begin() + static_cast<ptrdiff_t>(count)); }

 private:
  MemoryBudget* budget_;
  std::vector<T> values_;
  size_t counted_ = 0;
};

// The text of rows that follow each other.
class RowsText {
 public:
  RowsText(MemoryBudget* budget, uint64_t begin) : begin_(begin), end_(begin), bytes_(budget), places_(budget) {}

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  const char* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

  void Reserve(size_t bytes, size_t rows) {
    bytes_.Reserve(bytes_.size() + bytes);
    places_.Reserve(places_.size() + rows);
  }
  // A row that has a value, behind those before it.
  void Append(uint64_t row, const StringRef& delimiter, const StringRef& value) {
    bytes_.Append(delimiter.data(), delimiter.length);
    const size_t begin = bytes_.size();
    bytes_.Append(value.data(), value.length);
    const Place place{row, dropped_ + begin, dropped_ + bytes_.size()};
    places_.Append(&place, 1);
  }
  // All rows before it are there.
  void set_end(uint64_t end) { end_ = end; }
  // Where in data() the text of the rows [begin, end) is; false: none has a value.
  bool Find(uint64_t begin, uint64_t end, size_t* from, size_t* bytes) const {
    const Place* const last = places_.data() + places_.size();
    const auto before = [](const Place& place, uint64_t row) { return place.row < row; };
    const Place* const first = std::lower_bound(places_.data(), last, begin, before);
    const Place* const past = std::lower_bound(first, last, end, before);
    if (first == past) return false;
    *from = first->begin - dropped_;
    *bytes = (past - 1)->end - first->begin;
    return true;
  }
  // Drops what no frame that begins at `begin` or after it has, if that is most.
  void DropBefore(uint64_t begin) {
    const Place* const last = places_.data() + places_.size();
    const Place* const first =
        std::lower_bound(places_.data(), last, begin, [](const Place& place, uint64_t row) { return place.row < row; });
    const size_t bytes = first == last ? bytes_.size() : first->begin - dropped_;
    const auto count = static_cast<size_t>(first - places_.data());
    if (2 * bytes < bytes_.size() || 2 * count < places_.size()) return;
    bytes_.DropFirst(bytes);
    places_.DropFirst(count);
    dropped_ += bytes;
    begin_ = begin;
  }

 private:
  struct Place {
    uint64_t row;
    size_t begin;  // of the value, behind its delimiter; counted with what was dropped
    size_t end;
  };
  uint64_t begin_;
  uint64_t end_;
  GrowingBuffer<char> bytes_;
  GrowingBuffer<Place> places_;
  size_t dropped_ = 0;
};

class JoinedText : public WindowFunction {
 public:
  JoinedText(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
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

  uint32_t rows_made() const override { return rows_made_; }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    // The batch before is read no more.
    while (texts_.size() > 1) texts_.pop_front();
    if (!texts_.empty() && batch.count > 0 && frames_.begins[0] >= texts_.back().begin()) {
      texts_.back().DropBefore(frames_.begins[0]);
    }
    struct Place {
      const RowsText* text;
      size_t from;
      size_t bytes;
      bool is_null;
    };
    Place places[kVectorRows];
    appended_ = 0;
    for (rows_made_ = 0; rows_made_ < batch.count && (rows_made_ == 0 || appended_ < kWindowBatchBytes); ++rows_made_) {
      const uint64_t begin = frames_.begins[rows_made_], end = frames_.ends[rows_made_];
      MoveTo(batch.rows, begin, end);
      Place& place = places[rows_made_];
      place.text = &texts_.back();
      place.is_null = !place.text->Find(begin, end, &place.from, &place.bytes);
    }
    // Not before all are written: a text that grows may move.
    StringRef* values;
    ResultVector out = MakeResult(spec_.result, batch.count, arena, &values);
    for (uint32_t i = 0; i < rows_made_; ++i) {
      if (places[i].is_null) {
        out.SetNull(i, arena);
      } else {
        values[i] = StringRef(places[i].text->data() + places[i].from, static_cast<uint32_t>(places[i].bytes));
      }
    }
    return out.vector;
  }

 private:
  void MoveTo(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (texts_.empty() || begin < texts_.back().begin() || begin > texts_.back().end()) {
      texts_.emplace_back(&environment_.budget, begin);
    }
    const uint64_t next = texts_.back().end();
    if (next >= end) return;
    ForEachPart(arguments_, rows, environment_, next, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t first) {
        AppendRows(arguments, selection, static_cast<uint64_t>(static_cast<int64_t>(part) + first), begin);
      });
    });
    texts_.back().set_end(end);
  }
  // A text's delimiter stands before it. The slot of a null is an empty string. `begin`: of the frame, which is the
  // longest text that is made.
  void AppendRows(const Vector* arguments, RowSelection selection, uint64_t row_0, uint64_t begin) {
    RowsText& text = texts_.back();
    const StringRef* values = arguments[0].values<StringRef>();
    const auto delimiter = [&](uint32_t row) {
      if (spec_.aggregate.delimiter != nullptr) return delimiter_;
      return arguments[1].IsValid(row) ? arguments[1].values<StringRef>()[row] : StringRef();
    };
    size_t from = 0, bytes = 0;
    bool is_first = !text.Find(begin, UINT64_MAX, &from, &bytes);
    size_t reserved = 0;
    VisitValid(arguments[0], selection, [&](uint32_t row) {
      const size_t joint = delimiter(row).length;
      const size_t more = values[row].length + (std::exchange(is_first, false) ? 0 : joint);
      CheckTextSize(bytes, more);
      bytes += more;
      reserved += values[row].length + joint;
    });
    text.Reserve(reserved, selection.count);
    appended_ += reserved;
    VisitValid(arguments[0], selection, [&](uint32_t row) { text.Append(row_0 + row, delimiter(row), values[row]); });
  }

  const WindowFunctionSpec& spec_;
  ExecutionEnvironment& environment_;
  ArgumentBlock arguments_;
  WindowFrames frames_;
  StringRef delimiter_;         // if it is constant; empty: NULL
  std::deque<RowsText> texts_;  // of the batch; the last goes on
  uint32_t rows_made_ = 0;
  size_t appended_ = 0;
};

bool HasHoles(const WindowFunctionSpec& spec) { return spec.exclusion != PENUMBRA_EXCLUDE_NO_OTHERS; }

// The array of rows that follow each other, of which some begin with what was dropped.
class RowsArray {
 public:
  RowsArray(uint32_t element_oid, const RowLayout& layout, int column, MemoryBudget* budget)
      : image_(element_oid, layout, column), budget_(budget) {
    image_.KeepPlaces();
  }
  ~RowsArray() { budget_->Subtract(counted_); }
  RowsArray(const RowsArray&) = delete;

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  void Clear(uint64_t begin) {
    image_.Clear();
    passed_.clear();
    begin_ = end_ = begin;
  }
  // The next row, which passes the filter or not.
  void Append(const char* row, bool passes) {
    passed_.push_back(image_.count());
    if (passes) image_.Append(row);
    ++end_;
  }
  // Drops what no frame that begins at `begin` or after it has, if that is most.
  void DropBefore(uint64_t begin) {
    const uint64_t rows = std::min(begin, end_) - begin_;
    if (2 * rows < passed_.size()) return;
    const uint64_t elements = PassedBefore(begin_ + rows);
    image_.DropFirst(elements);
    passed_.erase(passed_.begin(), passed_.begin() + static_cast<ptrdiff_t>(rows));
    for (uint64_t& count : passed_) count -= elements;
    begin_ += rows;
  }
  void Count() {
    const size_t bytes = image_.bytes() + passed_.capacity() * sizeof(uint64_t);
    if (bytes <= counted_) return;
    budget_->Admit(bytes);  // PostgreSQL gives up at 1 GB alone
    budget_->Add(bytes - counted_);
    counted_ = bytes;
  }
  // Of the rows [begin, end); false: none passed.
  bool Make(uint64_t begin, uint64_t end, Arena& arena, StringRef* value) const {
    const uint64_t from = PassedBefore(begin), to = PassedBefore(end);
    if (from == to) return false;
    *value = image_.Make(from, to, arena);
    return true;
  }

 private:
  uint64_t PassedBefore(uint64_t row) const { return row == end_ ? image_.count() : passed_[row - begin_]; }

  ArrayImage image_;
  MemoryBudget* const budget_;
  size_t counted_ = 0;
  std::vector<uint64_t> passed_;  // by row: of the elements, those of rows before
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

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
    if (!HasHoles(spec)) {
      array_ = std::make_unique<RowsArray>(spec.aggregate.label, layout, input.ColumnOf(*spec.aggregate.arguments[0]),
                                           &environment.budget);
    }
  }

  uint32_t RowsWanted() const override { return WindowRowsOfBytes(value_bytes_); }
  uint32_t rows_made() const override { return rows_made_; }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    if (array_ != nullptr && batch.count > 0) array_->DropBefore(frames_.begins[0]);
    // The batch before may have made the last value, which rows of this one may have.
    kept_ = std::exchange(memory_, std::make_unique<Arena>(&environment_.budget));
    StringRef* values;
    ResultVector out = MakeResult(spec_.result, batch.count, arena, &values);
    size_t bytes = 0;
    for (rows_made_ = 0; rows_made_ < batch.count && bytes < kWindowBatchBytes; ++rows_made_) {
      const uint32_t i = rows_made_;
      if (MoveTo(batch, i)) {
        MakeValue();
        bytes += value_bytes_;
      }
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
  char* state() { return reinterpret_cast<char*>(state_.data()); }

  // Makes the state that of row i's frame; false: it is that of the row before.
  bool MoveTo(const WindowBatch& batch, uint32_t i) {
    const uint64_t begin = frames_.begins[i], end = frames_.ends[i];
    if (frames_.has_holes()) {
      Clear(begin);
      for (auto [part, part_end] : frames_.PartsAroundHole(batch.begin + i, i)) AddRows(batch.rows, part, part_end);
      return true;
    }
    if (has_value_ && begin == begin_ && end == end_) return false;
    has_value_ = true;
    if (array_ != nullptr) {
      begin_ = begin;
      end_ = end;
      AppendRows(batch.rows);
      return true;
    }
    if (store_ == nullptr || begin != begin_ || end < end_) Clear(begin);
    AddRows(batch.rows, end_, end);
    end_ = end;
    return true;
  }
  void Clear(uint64_t begin) {
    begin_ = end_ = begin;
    std::fill(state_.begin(), state_.end(), 0);
    if (store_ == nullptr || store_->bytes() > kStoreBytesKept) {
      store_ = std::make_unique<StateStore>(&environment_.budget);
    } else {
      store_->arena().Reset();
    }
  }
  void AddRows(const WindowRows& rows, uint64_t begin, uint64_t end) {
    ForEachPart(arguments_, rows, environment_, begin, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t) {
        accumulator_->AddRun(state(), arguments, selection, *store_);
      });
    });
  }
  // So that the array has those of the frame.
  void AppendRows(const WindowRows& rows) {
    if (begin_ < array_->begin() || begin_ > array_->end()) array_->Clear(begin_);
    for (uint64_t row = array_->end(); row < end_; ++row) {
      if (row % kPollRows == 0) environment_.CheckCancelled();
      const char* values = *rows.at(row);
      array_->Append(values, filter_column_ < 0 || layout_.IsTrue(values, filter_column_));
    }
    array_->Count();
  }
  void MakeValue() {
    has_made_ = true;
    if (array_ != nullptr) {
      value_ = StringRef();
      is_null_ = !array_->Make(begin_, end_, *memory_, &value_);
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
  std::unique_ptr<RowsArray> array_;  // in place of state_; null: the frame has a hole
  std::vector<uint64_t> state_;       // of the rows [begin_, end_)
  std::unique_ptr<StateStore> store_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::unique_ptr<Arena> memory_;  // of the batch's values
  std::unique_ptr<Arena> kept_;    // of those before
  bool has_made_ = false;          // the batch made some
  bool has_value_ = false;         // the last value is that of the rows [begin_, end_)
  uint32_t rows_made_ = 0;
  StringRef value_;  // of the last frame
  bool is_null_ = true;
  size_t value_bytes_ = kFirstValueBytes;
};

}  // namespace

std::unique_ptr<WindowFunction> CreateCollectedWindow(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment) {
  if (spec.aggregate.function == PENUMBRA_AGG_STRING_AGG && !HasHoles(spec)) {
    return std::make_unique<JoinedText>(spec, input, layout, environment);
  }
  return std::make_unique<CollectedFrames>(spec, input, layout, environment);
}

}  // namespace penumbra

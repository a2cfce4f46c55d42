// Aggregates over frames, with the states of aggregate/.
//
// A frame that begins with its partition grows: the state goes on from row to row, and a copy of it is the row's. Any
// other frame is added up anew for each row that has another one than the row before, as PostgreSQL does it for
// floats, whose sums depend on that; the plan bounds its rows. Rows with one frame share a state, which is finished
// once.
#include <numeric>

#include "aggregate/aggregate_accumulator.h"
#include "window/window_function.h"

namespace penumbra {
namespace {

bool IsFloat(PenumbraType type) { return type == PENUMBRA_FLOAT4 || type == PENUMBRA_FLOAT8; }

// The arguments of rows that follow each other.
class ArgumentBlock {
 public:
  ArgumentBlock(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout) : layout_(layout) {
    for (const Expr* argument : spec.aggregate.arguments) columns_.push_back(input.ColumnOf(*argument));
    if (spec.aggregate.filter != nullptr) filter_column_ = input.ColumnOf(*spec.aggregate.filter);
    std::iota(std::begin(all_rows_), std::end(all_rows_), 0);
  }

  // Makes [begin, end), or as much of it as a block takes, part of the block; returns where that ends.
  uint64_t Load(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (begin < begin_ || begin >= end_ || (end > end_ && begin > begin_)) Read(rows, begin);
    return std::min(end, end_);
  }
  // Calls add(arguments, selection) for the rows of the block that pass the filter.
  template <typename Add>
  void Visit(uint64_t begin, uint64_t end, const Add& add) {
    const uint32_t first = static_cast<uint32_t>(begin - begin_), last = static_cast<uint32_t>(end - begin_);
    if (filter_column_ >= 0) {
      const uint32_t before = passed_before_[first];
      add(vectors_.data(), RowSelection{passed_ + before, passed_before_[last] - before});
    } else if (has_nulls_) {
      add(vectors_.data(), RowSelection{all_rows_ + first, last - first});
    } else {
      // As vectors of their own, whose loops need no numbers of rows.
      shifted_ = vectors_;
      for (Vector& vector : shifted_) {
        if (vector.data == nullptr) continue;
        vector.data = static_cast<const char*>(vector.data) + size_t{first} * FlatWidth(vector);
      }
      add(shifted_.data(), RowSelection{nullptr, last - first});
    }
  }

 private:
  void Read(const WindowRows& rows, uint64_t begin) {
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(kVectorRows, rows.count() - begin));
    begin_ = begin;
    end_ = begin + count;
    arena_.Reset();
    vectors_.clear();
    has_nulls_ = false;
    for (int column : columns_) {
      vectors_.push_back(layout_.Read(column, rows.at(begin), count, arena_));
      has_nulls_ |= vectors_.back().validity != nullptr;
    }
    if (columns_.size() > 1 && has_nulls_) NullTogether(count);
    // What count(*) counts.
    if (columns_.empty()) vectors_.emplace_back();
    if (filter_column_ < 0) return;
    const Vector filter = layout_.Read(filter_column_, rows.at(begin), count, arena_);
    uint16_t passed = 0;
    for (uint32_t i = 0; i < count; ++i) {
      passed_before_[i] = passed;
      passed_[passed] = static_cast<uint16_t>(i);
      passed = static_cast<uint16_t>(passed + (filter.IsValid(i) && filter.values<uint8_t>()[i] != 0));
    }
    passed_before_[count] = passed;
  }
  // As accumulators of several arguments want them.
  void NullTogether(uint32_t count) {
    uint64_t* validity = arena_.AllocateArray<uint64_t>(kValidityWords);
    for (uint32_t word = 0; word < (count + 63) / 64; ++word) {
      validity[word] = ~uint64_t{0};
      for (const Vector& vector : vectors_) {
        if (vector.validity != nullptr) validity[word] &= vector.validity[word];
      }
    }
    for (Vector& vector : vectors_) vector.validity = validity;
  }

  const RowLayout& layout_;
  std::vector<int> columns_;
  int filter_column_ = -1;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  Arena arena_;
  std::vector<Vector> vectors_;
  std::vector<Vector> shifted_;
  bool has_nulls_ = false;
  uint16_t all_rows_[kVectorRows];
  uint16_t passed_[kVectorRows + 1];
  uint16_t passed_before_[kVectorRows + 1];  // by row: of those before it
};

class WindowAggregate : public WindowFunction {
 public:
  WindowAggregate(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
                  ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        arguments_(spec, input, layout),
        store_(std::make_unique<StateStore>(&environment.budget)) {
    const AggregateSpec& aggregate = spec.aggregate;
    const PenumbraType type = aggregate.arguments.empty() ? PENUMBRA_INT8 : aggregate.arguments[0]->type;
    accumulator_ = ChooseAccumulator(aggregate.function, type)(type, aggregate.collation);
    adds_in_order_ = IsFloat(type);
    state_.resize(accumulator_->state_bytes() / 8);
    std::fill(std::begin(states_), std::end(states_), reinterpret_cast<char*>(state_.data()));
  }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(spec_, batch);
    BeginBatch();
    char** finished = arena.AllocateArray<char*>(batch.count);
    uint16_t* number = arena.AllocateArray<uint16_t>(batch.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch.count; ++i) {
      if (MoveTo(batch, i) || i == 0) {
        finished[count] = arena.AllocateArray<char>(accumulator_->state_bytes());
        std::memcpy(finished[count], state_.data(), accumulator_->state_bytes());
        // What a state points to may be changed in place.
        if (accumulator_->has_variable_part()) OwnState(finished[count]);
        ++count;
      }
      number[i] = static_cast<uint16_t>(count - 1);
    }
    const Vector values = accumulator_->Finalize(spec_.aggregate.function, spec_.result, finished, 0, count, arena);
    return count == batch.count ? values : Gather(values, number, batch.count, arena);
  }

 private:
  char* state() { return reinterpret_cast<char*>(state_.data()); }

  // What the states of the batch before pointed to goes.
  void BeginBatch() {
    if (!accumulator_->has_variable_part()) return;
    const auto last = std::exchange(store_, std::make_unique<StateStore>(&environment_.budget));
    OwnState(state());
  }
  void OwnState(char* state) {
    saved_.clear();
    accumulator_->Save(state, &saved_);
    accumulator_->Load(state, saved_.data(), *store_);
  }

  // Makes the state that of row i's frame; false: it is that of the row before.
  bool MoveTo(const WindowBatch& batch, uint32_t i) {
    const uint64_t begin = frames_.begins[i], end = frames_.ends[i];
    const bool goes_on = spec_.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING && begin == begin_ && end >= end_;
    if (batch.begin + i > 0 && begin == begin_ && end == end_) return false;
    if (!goes_on) {
      std::fill(state_.begin(), state_.end(), 0);
      end_ = begin;
    }
    begin_ = begin;
    while (end_ < end) {
      const uint64_t loaded = arguments_.Load(batch.rows, end_, end);
      arguments_.Visit(end_, loaded, [&](const Vector* arguments, RowSelection selection) {
        if (adds_in_order_) {
          accumulator_->AddScattered(states_, 0, arguments, selection, *store_);
        } else {
          accumulator_->AddRun(state(), arguments, selection, *store_);
        }
      });
      end_ = loaded;
      if ((polled_ += kVectorRows) % kPollRows == 0) environment_.CheckCancelled();
    }
    return true;
  }

  static constexpr uint64_t kPollRows = uint64_t{1} << 18;

  const WindowFunctionSpec& spec_;
  ExecutionEnvironment& environment_;
  std::unique_ptr<Accumulator> accumulator_;
  bool adds_in_order_ = false;  // one by one, not in several sums
  ArgumentBlock arguments_;
  WindowFrames frames_;
  std::unique_ptr<StateStore> store_;
  std::vector<uint64_t> state_;  // of the rows [begin_, end_)
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  char* states_[kVectorRows];  // that of each row is `state_`
  std::vector<char> saved_;
  uint64_t polled_ = 0;
};

}  // namespace

std::unique_ptr<WindowFunction> CreateWindowAggregate(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment) {
  return std::make_unique<WindowAggregate>(spec, input, layout, environment);
}

}  // namespace penumbra

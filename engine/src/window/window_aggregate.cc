// Aggregates over frames, with the states of aggregate/.
//
// A frame that begins with its partition grows: the state goes on from row to row, and a copy of it is the row's. Any
// other frame slides (SlidingState) where parts of it can be added up for themselves. Sums of floats depend on the
// order of additions, so such a frame is added up anew for each row, as PostgreSQL does it; the plan bounds its rows.
// Rows with one frame share a state, which is finished once.
#include "aggregate/aggregate_accumulator.h"
#include "window/window_arguments.h"
#include "window/window_function.h"

namespace penumbra {
namespace {

bool IsFloat(PenumbraType type) { return type == PENUMBRA_FLOAT4 || type == PENUMBRA_FLOAT8; }

// The state of a frame whose beginning and end only move on, in O(1) a row: two parts, of which the first has a state
// for each place where it may begin. When the frame has left it, the second part becomes the first.
class SlidingState {
 public:
  SlidingState(const Accumulator& accumulator, ArgumentBlock& arguments, ExecutionEnvironment& environment)
      : accumulator_(accumulator),
        arguments_(arguments),
        environment_(environment),
        second_(accumulator.state_bytes() / 8),
        other_(second_) {
    Clear(0);
  }

  void MoveTo(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (begin < begin_ || end < end_ || begin >= end_) Clear(begin);
    begin_ = begin;
    if (begin_ > middle_) BeginSecond(rows);
    ForEachPart(arguments_, rows, environment_, end_, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t) {
        accumulator_.AddRun(At(second_), arguments, selection, *second_store_);
      });
    });
    end_ = end;
  }
  // Of the frame; what it points to lies in `store`.
  void Read(char* into, StateStore& store) {
    if (begin_ >= middle_) return Copy(At(second_), into, store);
    Copy(first_ + (begin_ - first_begin_) * accumulator_.state_bytes(), into, store);
    AddCopy(At(second_), into, store);
  }
  // Adds it to a state of rows before the frame.
  void AddTo(char* into, StateStore& store) {
    if (begin_ < middle_) AddCopy(first_ + (begin_ - first_begin_) * accumulator_.state_bytes(), into, store);
    AddCopy(At(second_), into, store);
  }

 private:
  static char* At(std::vector<uint64_t>& state) { return reinterpret_cast<char*>(state.data()); }

  void Clear(uint64_t begin) {
    begin_ = middle_ = end_ = begin;
    ClearSecond();
  }
  void ClearSecond() {
    std::fill(second_.begin(), second_.end(), 0);
    second_store_ = std::make_unique<StateStore>(&environment_.budget);
  }
  // What a state points to may be changed in place.
  void Copy(const char* state, char* into, StateStore& store) {
    std::memcpy(into, state, accumulator_.state_bytes());
    if (!accumulator_.has_variable_part()) return;
    saved_.clear();
    accumulator_.Save(into, &saved_);
    accumulator_.Load(into, saved_.data(), store);
  }
  // Combine() may change what it adds.
  void AddCopy(const char* state, char* into, StateStore& store) {
    char* other = At(other_);
    Copy(state, other, store);
    accumulator_.Combine(&into, &other, 0, 1, store);
  }
  // All rows become those of the first part, whose states are made from its end on.
  void BeginSecond(const WindowRows& rows) {
    const uint32_t state_bytes = accumulator_.state_bytes();
    const uint64_t count = end_ - begin_;
    first_store_ = std::make_unique<StateStore>(&environment_.budget);
    first_ = static_cast<char*>(first_store_->arena().Allocate(count * state_bytes));
    std::memset(first_, 0, count * state_bytes);
    first_begin_ = begin_;
    middle_ = end_;
    ForEachPart(arguments_, rows, environment_, begin_, end_, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t first) {
        char* states[kVectorRows];
        for (uint64_t row = part; row < part_end; ++row) {
          states[static_cast<int64_t>(row - part) - first] = first_ + (row - first_begin_) * state_bytes;
        }
        accumulator_.AddScattered(states, 0, arguments, selection, *first_store_);
      });
    });
    for (uint64_t i = count - 1; i-- > 0;) {
      if (i % kPollStates == 0) environment_.CheckCancelled();
      char* into = first_ + i * state_bytes;
      char* next = into + state_bytes;
      if (accumulator_.has_variable_part()) {
        AddCopy(next, into, *first_store_);
      } else {
        accumulator_.Combine(&into, &next, 0, 1, *first_store_);
      }
    }
    ClearSecond();
  }

  static constexpr uint64_t kPollStates = uint64_t{1} << 16;

  const Accumulator& accumulator_;
  ArgumentBlock& arguments_;
  ExecutionEnvironment& environment_;
  uint64_t begin_ = 0;
  uint64_t middle_ = 0;
  uint64_t end_ = 0;
  char* first_ = nullptr;  // of the rows [i, middle_), by i - first_begin_
  uint64_t first_begin_ = 0;
  std::unique_ptr<StateStore> first_store_;
  std::vector<uint64_t> second_;  // of the rows [middle_, end_)
  std::unique_ptr<StateStore> second_store_;
  std::vector<uint64_t> other_;
  std::vector<char> saved_;
};

// The state of a frame with a hole: of what is before it, the row itself if it stays, and what is after.
class HoledState {
 public:
  HoledState(const Accumulator& accumulator, const WindowFunctionSpec& spec, const WindowInput& input,
             const RowLayout& layout, ExecutionEnvironment& environment)
      : accumulator_(accumulator),
        arguments_{{spec, input, layout}, {spec, input, layout}, {spec, input, layout}},
        before_(accumulator, arguments_[0], environment),
        after_(accumulator, arguments_[2], environment) {}

  void Read(const WindowFrames& frames, const WindowBatch& batch, uint32_t i, char* into, StateStore& store) {
    const uint64_t row = batch.begin + i;
    before_.MoveTo(batch.rows, frames.begins[i], frames.hole_begins[i]);
    before_.Read(into, store);
    if (frames.KeepsOwnRow(row, i)) {
      (void)arguments_[1].Load(batch.rows, row, row + 1);
      arguments_[1].Visit(row, row + 1, [&](const Vector* arguments, RowSelection selection, int64_t) {
        accumulator_.AddRun(into, arguments, selection, store);
      });
    }
    after_.MoveTo(batch.rows, frames.hole_ends[i], frames.ends[i]);
    after_.AddTo(into, store);
  }

 private:
  const Accumulator& accumulator_;
  ArgumentBlock arguments_[3];  // a block each, since they are at other places
  SlidingState before_;
  SlidingState after_;
};

// Whether the frame moves, and is worth a SlidingState.
bool Slides(const WindowFunctionSpec& spec) {
  if (spec.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING || !IsExactInParts(spec.aggregate)) return false;
  if (spec.exclusion != PENUMBRA_EXCLUDE_NO_OTHERS) return false;
  constexpr int64_t kFewRows = 8;
  const auto is_near = [&](const PenumbraFrameBound& bound) {
    return bound.kind == PENUMBRA_FRAME_CURRENT_ROW ||
           (bound.kind != PENUMBRA_FRAME_UNBOUNDED_FOLLOWING && bound.offset < kFewRows);
  };
  return spec.mode != PENUMBRA_FRAME_ROWS || !is_near(spec.start) || !is_near(spec.end);
}

class WindowAggregate : public WindowFunction {
 public:
  WindowAggregate(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
                  ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        arguments_(spec, input, layout),
        frames_(spec, input, layout, environment),
        store_(std::make_unique<StateStore>(&environment.budget)) {
    const AggregateSpec& aggregate = spec.aggregate;
    accumulator_ = ChooseAccumulator(aggregate)(aggregate);
    adds_in_order_ = IsFloat(ArgumentType(aggregate));
    if (frames_.has_holes() && IsExactInParts(aggregate)) {
      holed_ = std::make_unique<HoledState>(*accumulator_, spec, input, layout, environment);
    }
    if (Slides(spec)) sliding_ = std::make_unique<SlidingState>(*accumulator_, arguments_, environment);
    state_.resize(accumulator_->state_bytes() / 8);
    std::fill(std::begin(states_), std::end(states_), reinterpret_cast<char*>(state_.data()));
  }

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    frames_.Find(batch);
    BeginBatch();
    char** finished = arena.AllocateArray<char*>(batch.count);
    uint16_t* number = arena.AllocateArray<uint16_t>(batch.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch.count; ++i) {
      if (MoveTo(batch, i) || i == 0) {
        finished[count] = arena.AllocateArray<char>(accumulator_->state_bytes());
        if (holed_ != nullptr && !IsShort(i)) {
          holed_->Read(frames_, batch, i, finished[count], *store_);
        } else if (sliding_ != nullptr) {
          sliding_->Read(finished[count], *store_);
        } else {
          std::memcpy(finished[count], state_.data(), accumulator_->state_bytes());
          // What a state points to may be changed in place.
          if (accumulator_->has_variable_part()) OwnState(finished[count]);
        }
        ++count;
      }
      number[i] = static_cast<uint16_t>(count - 1);
    }
    const Vector values = accumulator_->Finalize(ResultOf(spec_.aggregate, environment_), finished, 0, count, arena);
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

  // Of a frame with a hole: adding its rows costs less than to slide both of its parts, which begin anew where they are
  // left soon.
  bool IsShort(uint32_t i) const { return frames_.ends[i] - frames_.begins[i] <= kShortFrameRows; }

  // Makes the state that of row i's frame; false: it is that of the row before.
  bool MoveTo(const WindowBatch& batch, uint32_t i) {
    const uint64_t begin = frames_.begins[i], end = frames_.ends[i];
    if (holed_ != nullptr && !IsShort(i)) return true;
    if (frames_.has_holes()) {
      std::fill(state_.begin(), state_.end(), 0);
      for (auto [part, part_end] : frames_.PartsAroundHole(batch.begin + i, i)) AddRows(batch.rows, part, part_end);
      return true;
    }
    const bool goes_on = spec_.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING && begin == begin_ && end >= end_;
    if (batch.begin + i > 0 && begin == begin_ && end == end_) return false;
    if (sliding_ != nullptr) {
      sliding_->MoveTo(batch.rows, begin_ = begin, end_ = end);
      return true;
    }
    if (!goes_on) {
      std::fill(state_.begin(), state_.end(), 0);
      end_ = begin;
    }
    begin_ = begin;
    AddRows(batch.rows, end_, end);
    end_ = end;
    return true;
  }
  void AddRows(const WindowRows& rows, uint64_t begin, uint64_t end) {
    ForEachPart(arguments_, rows, environment_, begin, end, [&](uint64_t part, uint64_t part_end) {
      arguments_.Visit(part, part_end, [&](const Vector* arguments, RowSelection selection, int64_t) {
        if (adds_in_order_) {
          accumulator_->AddScattered(states_, 0, arguments, selection, *store_);
        } else {
          accumulator_->AddRun(state(), arguments, selection, *store_);
        }
      });
    });
  }

  static constexpr uint64_t kShortFrameRows = 64;

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
  // In place of state_; null: the frame does not slide, or has no hole.
  std::unique_ptr<SlidingState> sliding_;
  std::unique_ptr<HoledState> holed_;
};

}  // namespace

std::unique_ptr<WindowFunction> CreateWindowAggregate(const WindowFunctionSpec& spec, const WindowInput& input,
                                                      const RowLayout& layout, ExecutionEnvironment& environment) {
  return std::make_unique<WindowAggregate>(spec, input, layout, environment);
}

}  // namespace penumbra

#include "window/window_function.h"

#include <algorithm>

#include "aggregate/aggregate_accumulator.h"
#include "function/merge.h"
#include "vector/result_vector.h"

namespace penumbra {
namespace {

constexpr uint64_t kPollRows = uint64_t{1} << 16;

}  // namespace

WindowBatch::WindowBatch(const WindowRows& r, uint64_t first) : rows(r), begin(first) {
  for (auto* bounds : {&partition_begins, &partition_ends, &peer_begins, &peer_ends, &peer_numbers}) {
    bounds->resize(kVectorRows);
  }
  if (first == rows.count()) return;
  partition_begins[0] = rows.PartitionOf(first);
  partition_ends[0] = rows.NextPartition(first + 1);
  peer_begins[0] = rows.PeersOf(first);
  peer_ends[0] = rows.NextPeer(first + 1);
  peer_numbers[0] = rows.CountPeers(partition_begins[0], first + 1);
}

void WindowBatch::Advance(uint64_t end, uint32_t wanted) {
  // What holds of the row before, or of the first.
  const uint32_t last = count == 0 ? 0 : count - 1;
  uint64_t partition_begin = partition_begins[last], partition_end = partition_ends[last];
  uint64_t peer_begin = peer_begins[last], peer_end = peer_ends[last];
  uint64_t peer_number = peer_numbers[last];
  begin += count;
  count = static_cast<uint32_t>(std::min<uint64_t>(wanted, end - begin));
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t row = begin + i;
    if (row == peer_end) {
      ++peer_number;
      peer_begin = row;
      peer_end = rows.NextPeer(row + 1);
    }
    if (row == partition_end) {
      peer_number = 1;
      partition_begin = row;
      partition_end = rows.NextPartition(row + 1);
    }
    partition_begins[i] = partition_begin;
    partition_ends[i] = partition_end;
    peer_begins[i] = peer_begin;
    peer_ends[i] = peer_end;
    peer_numbers[i] = peer_number;
  }
}

namespace {

// row_number, rank, ...: a number from the bounds of a row.
template <typename T, typename ValueOf>
class Rank : public WindowFunction {
 public:
  Rank(PenumbraType type, ValueOf value_of) : type_(type), value_of_(value_of) {}
  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    T* values;
    const ResultVector out = MakeResult(type_, batch.count, arena, &values);
    for (uint32_t i = 0; i < batch.count; ++i) values[i] = value_of_(batch, i);
    return out.vector;
  }

 private:
  const PenumbraType type_;
  const ValueOf value_of_;
};

template <typename T, typename ValueOf>
std::unique_ptr<WindowFunction> MakeRank(PenumbraType type, ValueOf value_of) {
  return std::make_unique<Rank<T, ValueOf>>(type, value_of);
}

int64_t RankOf(const WindowBatch& batch, uint32_t i) {
  return static_cast<int64_t>(batch.peer_begins[i] - batch.partition_begins[i]) + 1;
}

// The first rows % buckets of them have a row more than the others.
int32_t BucketOf(uint64_t place, uint64_t rows, uint64_t buckets) {
  const uint64_t each = rows / buckets, in_larger = rows % buckets * (each + 1);
  const uint64_t bucket = place < in_larger ? place / (each + 1) : rows % buckets + (place - in_larger) / each;
  return static_cast<int32_t>(bucket) + 1;
}

// The first row whose argument is not NULL says how many buckets there are; they begin with that row.
class Buckets : public WindowFunction {
 public:
  Buckets(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout)
      : spec_(spec), layout_(layout), column_(input.ColumnOf(*spec.count_value)) {}

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    int32_t* values;
    ResultVector out = MakeResult(spec_.result, batch.count, arena, &values);
    const Vector counts = layout_.Read(column_, batch.rows.at(batch.begin), batch.count, arena);
    for (uint32_t i = 0; i < batch.count; ++i) {
      const uint64_t row = batch.begin + i;
      if (partition_ != batch.partition_begins[i]) {
        partition_ = batch.partition_begins[i];
        buckets_ = 0;
      }
      if (buckets_ == 0 && counts.IsValid(i)) {
        buckets_ = counts.values<int32_t>()[i];
        if (buckets_ <= 0) throw EngineError(PENUMBRA_INVALID_NTILE);
        first_ = row;
      }
      if (buckets_ == 0) {
        out.SetNull(i, arena);
      } else {
        values[i] = BucketOf(row - first_, batch.partition_ends[i] - partition_, static_cast<uint64_t>(buckets_));
      }
    }
    return out.vector;
  }

 private:
  const WindowFunctionSpec& spec_;
  const RowLayout& layout_;
  const int column_;
  uint64_t partition_ = UINT64_MAX;  // where it begins
  int32_t buckets_ = 0;              // 0: not yet known
  uint64_t first_ = 0;
};

// Which rows of a partition have a value: they are numbered from 0.
class RowsWithValue {
 public:
  RowsWithValue(const RowLayout& layout, int column, const ExecutionEnvironment& environment)
      : layout_(layout), column_(column), environment_(environment) {}

  // Of the partition [begin, end).
  void FindIn(const WindowRows& rows, uint64_t begin, uint64_t end) {
    if (begin_ == begin && end_ == end) return;
    begin_ = begin;
    end_ = end;
    const uint64_t words = (end - begin) / 64 + 1;
    bits_.assign(words, 0);
    numbers_.resize(words);
    count_ = 0;
    for (uint64_t word = 0; word < words; ++word) {
      if (word % kPollWords == 0) environment_.CheckCancelled();
      numbers_[word] = count_;
      const uint64_t first = begin + word * 64, past = std::min(first + 64, end);
      for (uint64_t row = first; row < past; ++row) {
        if (row + kPrefetchRows < end) __builtin_prefetch(*rows.at(row + kPrefetchRows));
        bits_[word] |= uint64_t{!layout_.IsNull(*rows.at(row), column_)} << (row - first);
      }
      count_ += static_cast<uint64_t>(__builtin_popcountll(bits_[word]));
    }
  }
  uint64_t count() const { return count_; }
  // How many are before the row.
  uint64_t Before(uint64_t row) const {
    const uint64_t word = (row - begin_) / 64, lower = (uint64_t{1} << ((row - begin_) % 64)) - 1;
    return numbers_[word] + static_cast<uint64_t>(__builtin_popcountll(bits_[word] & lower));
  }
  uint64_t RowOf(uint64_t number) const {
    const auto past = std::upper_bound(numbers_.begin(), numbers_.end(), number);
    const auto word = static_cast<uint64_t>(past - numbers_.begin()) - 1;
    uint64_t bits = bits_[word];
    for (uint64_t left = number - numbers_[word]; left > 0; --left) bits &= bits - 1;
    return begin_ + word * 64 + static_cast<uint64_t>(__builtin_ctzll(bits));
  }

 private:
  static constexpr uint64_t kPollWords = 1024;
  static constexpr uint64_t kPrefetchRows = 16;

  const RowLayout& layout_;
  const int column_;
  const ExecutionEnvironment& environment_;
  uint64_t begin_ = UINT64_MAX;
  uint64_t end_ = 0;
  std::vector<uint64_t> bits_;
  std::vector<uint64_t> numbers_;  // of the first of each word
  uint64_t count_ = 0;
};

// Of another row, which `place_of` finds; past the partition's or the frame's end it is the default.
class RowValue : public WindowFunction {
 public:
  RowValue(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
           const ExecutionEnvironment& environment)
      : spec_(spec),
        layout_(layout),
        column_(input.ColumnOf(*spec.value)),
        default_column_(spec.default_value == nullptr ? -1 : input.ColumnOf(*spec.default_value)),
        count_column_(spec.count_value == nullptr ? -1 : input.ColumnOf(*spec.count_value)),
        frames_(spec, input, layout, environment),
        with_value_(layout, column_, environment) {}

  Vector Evaluate(const WindowBatch& batch, Arena& arena) override {
    if (!IsOfPartition()) frames_.Find(batch);
    const char** rows = arena.AllocateArray<const char*>(batch.count);
    uint16_t* found = arena.AllocateArray<uint16_t>(batch.count);
    uint16_t* others = arena.AllocateArray<uint16_t>(batch.count);
    uint32_t found_count = 0, other_count = 0;
    Vector counts;
    if (count_column_ >= 0) counts = layout_.Read(count_column_, batch.rows.at(batch.begin), batch.count, arena);
    for (uint32_t i = 0; i < batch.count; ++i) {
      uint64_t place = batch.begin + i;
      const bool has_count = count_column_ < 0 || counts.IsValid(i);
      if (spec_.ignores_nulls) with_value_.FindIn(batch.rows, batch.partition_begins[i], batch.partition_ends[i]);
      const bool is_found = has_count && Find(batch, i, count_column_ < 0 ? spec_.count : CountOf(counts, i), &place);
      rows[i] = *batch.rows.at(place);
      __builtin_prefetch(rows[i]);
      if (is_found) {
        found[found_count++] = static_cast<uint16_t>(i);
      } else if (has_count) {
        others[other_count++] = static_cast<uint16_t>(i);
      }
    }
    const Vector values = layout_.Read(column_, rows, batch.count, arena);
    if (found_count == batch.count) return values;
    std::vector<Piece> pieces = {{values, found, found_count, true}};
    if (default_column_ >= 0) {
      const Vector defaults = layout_.Read(default_column_, batch.rows.at(batch.begin), batch.count, arena);
      pieces.push_back({defaults, others, other_count, true});
    }
    return MergePieces(spec_.result, pieces, batch.count, false, arena);
  }

 private:
  bool IsOfPartition() const { return spec_.function == PENUMBRA_WINDOW_LAG || spec_.function == PENUMBRA_WINDOW_LEAD; }
  int64_t CountOf(const Vector& counts, uint32_t i) const {
    const int32_t count = counts.values<int32_t>()[i];
    if (count <= 0 && spec_.function == PENUMBRA_WINDOW_NTH_VALUE) throw EngineError(PENUMBRA_INVALID_NTH_VALUE);
    return count;
  }
  // From the row's own place to that wanted; false: there is none.
  bool Find(const WindowBatch& batch, uint32_t i, int64_t count, uint64_t* place) const {
    if (IsOfPartition()) {
      const bool is_before = (spec_.function == PENUMBRA_WINDOW_LAG) == (count >= 0);
      const uint64_t distance = static_cast<uint64_t>(count < 0 ? -count : count);
      if (spec_.ignores_nulls && distance > 0) return FindWithValue(is_before, distance, place);
      if (is_before ? distance > *place - batch.partition_begins[i] : distance >= batch.partition_ends[i] - *place) {
        return false;
      }
      *place = is_before ? *place - distance : *place + distance;
      return true;
    }
    const uint64_t nth = spec_.function == PENUMBRA_WINDOW_NTH_VALUE ? static_cast<uint64_t>(count) - 1 : 0;
    const bool is_last = spec_.function == PENUMBRA_WINDOW_LAST_VALUE;
    const uint64_t begin = frames_.begins[i], end = frames_.ends[i];
    if (frames_.has_holes() || spec_.ignores_nulls) return FindInFrame(nth, is_last, i, place);
    if (nth >= end - begin) return false;
    *place = is_last ? end - 1 : begin + nth;
    return true;
  }
  bool FindWithValue(bool is_before, uint64_t distance, uint64_t* place) const {
    const uint64_t number = with_value_.Before(is_before ? *place : *place + 1);
    if (is_before ? distance > number : distance > with_value_.count() - number) return false;
    *place = with_value_.RowOf(is_before ? number - distance : number + distance - 1);
    return true;
  }
  bool FindInFrame(uint64_t nth, bool is_last, uint32_t i, uint64_t* place) const {
    if (frames_.has_holes()) return FindIn(frames_.PartsAroundHole(*place, i), nth, is_last, place);
    return FindIn(std::array{std::pair{frames_.begins[i], frames_.ends[i]}}, nth, is_last, place);
  }
  template <size_t kParts>
  bool FindIn(const std::array<std::pair<uint64_t, uint64_t>, kParts>& parts, uint64_t nth, bool is_last,
              uint64_t* place) const {
    bool is_found = false;
    for (auto [begin, end] : parts) {
      if (begin >= end) continue;
      if (spec_.ignores_nulls) {
        begin = with_value_.Before(begin);
        end = with_value_.Before(end);
        if (begin == end) continue;
      }
      if (is_last) {
        *place = end - 1;
        is_found = true;
      } else if (nth < end - begin) {
        *place = begin + nth;
        is_found = true;
        break;
      } else {
        nth -= end - begin;
      }
    }
    if (is_found && spec_.ignores_nulls) *place = with_value_.RowOf(*place);
    return is_found;
  }

  const WindowFunctionSpec& spec_;
  const RowLayout& layout_;
  const int column_;
  const int default_column_;
  const int count_column_;
  WindowFrames frames_;
  RowsWithValue with_value_;
};

}  // namespace

WindowFrames::WindowFrames(const WindowFunctionSpec& spec, const WindowInput& input, const RowLayout& layout,
                           const ExecutionEnvironment& environment)
    : spec_(spec),
      environment_(environment),
      range_key_(spec.range_key == nullptr
                     ? nullptr
                     : std::make_unique<SortKeys>(
                           std::vector<SortKeySpec>{{spec.range_key,
                                                     input.spec().order_keys[spec.order.earlier_keys].descending,
                                                     input.spec().order_keys[spec.order.earlier_keys].nulls_first}},
                           std::vector<int>{input.ColumnOf(*spec.range_key)}, layout, false)),
      start_column_(spec.start_edge == nullptr ? -1 : input.ColumnOf(*spec.start_edge)),
      end_column_(spec.end_edge == nullptr ? -1 : input.ColumnOf(*spec.end_edge)) {}

void WindowFrames::Find(const WindowBatch& batch) {
  for (auto* bounds : {&begins, &ends, &hole_begins, &hole_ends}) bounds->resize(batch.count);
  for (uint32_t i = 0; i < batch.count; ++i) {
    begins[i] = BoundOf(spec_.start, false, &start_, batch, i);
    ends[i] = std::max(begins[i], BoundOf(spec_.end, true, &end_, batch, i));
    if (has_holes()) FindHole(batch, i);
  }
}

void WindowFrames::FindHole(const WindowBatch& batch, uint32_t i) {
  const uint64_t row = batch.begin + i;
  const bool is_row = spec_.exclusion == PENUMBRA_EXCLUDE_CURRENT_ROW;
  hole_begins[i] = std::clamp(is_row ? row : batch.peer_begins[i], begins[i], ends[i]);
  hole_ends[i] = std::clamp(is_row ? row + 1 : batch.peer_ends[i], begins[i], ends[i]);
}

// The first row that the frame has, of an end the one past its last.
uint64_t WindowFrames::BoundOf(const PenumbraFrameBound& bound, bool is_end, Cursor* cursor, const WindowBatch& batch,
                               uint32_t i) {
  const uint64_t row = batch.begin + i, begin = batch.partition_begins[i], end = batch.partition_ends[i];
  const uint64_t next = is_end ? row + 1 : row, offset = static_cast<uint64_t>(bound.offset);
  const bool counts_rows = spec_.mode == PENUMBRA_FRAME_ROWS;
  if (HasOffset(bound) && !counts_rows) {
    if (cursor->partition != begin || row < cursor->asked) *cursor = {begin, begin, 1, row};
    cursor->asked = row;
    return spec_.mode == PENUMBRA_FRAME_GROUPS ? BoundByGroups(bound, is_end, cursor, batch, i)
                                               : BoundByValue(is_end, cursor, batch, i);
  }
  switch (bound.kind) {
    case PENUMBRA_FRAME_UNBOUNDED_PRECEDING: return begin;
    case PENUMBRA_FRAME_PRECEDING: return next - std::min(offset, next - begin);
    case PENUMBRA_FRAME_CURRENT_ROW: return counts_rows ? next : is_end ? batch.peer_ends[i] : batch.peer_begins[i];
    case PENUMBRA_FRAME_FOLLOWING: return next + std::min(offset, end - next);
    case PENUMBRA_FRAME_UNBOUNDED_FOLLOWING: break;
  }
  return end;
}

uint64_t WindowFrames::BoundByGroups(const PenumbraFrameBound& bound, bool is_end, Cursor* cursor,
                                     const WindowBatch& batch, uint32_t i) {
  const uint64_t next = batch.peer_numbers[i] + is_end, offset = static_cast<uint64_t>(bound.offset);
  const uint64_t wanted = bound.kind == PENUMBRA_FRAME_FOLLOWING ? next + offset : next - std::min(offset, next - 1);
  for (; cursor->group < wanted && cursor->row < batch.partition_ends[i]; ++cursor->group) {
    if (cursor->group % kPollRows == 0) environment_.CheckCancelled();
    cursor->row = batch.rows.NextPeer(cursor->row + 1);
  }
  return cursor->row;
}

uint64_t WindowFrames::BoundByValue(bool is_end, Cursor* cursor, const WindowBatch& batch, uint32_t i) {
  const char* row = *batch.rows.at(batch.begin + i);
  for (; cursor->row < batch.partition_ends[i]; ++cursor->row) {
    if (cursor->row % kPollRows == 0) environment_.CheckCancelled();
    const int order = range_key_->CompareFirst(*batch.rows.at(cursor->row), row, is_end ? end_column_ : start_column_);
    if (is_end ? order > 0 : order >= 0) break;
  }
  return cursor->row;
}

std::unique_ptr<WindowFunction> CreateWindowFunction(const WindowFunctionSpec& spec, const WindowInput& input,
                                                     const RowLayout& layout, ExecutionEnvironment& environment) {
  switch (spec.function) {
    case PENUMBRA_WINDOW_ROW_NUMBER:
      return MakeRank<int64_t>(spec.result, [](const WindowBatch& batch, uint32_t i) {
        return static_cast<int64_t>(batch.begin + i - batch.partition_begins[i]) + 1;
      });
    case PENUMBRA_WINDOW_RANK: return MakeRank<int64_t>(spec.result, RankOf);
    case PENUMBRA_WINDOW_DENSE_RANK:
      return MakeRank<int64_t>(spec.result, [](const WindowBatch& batch, uint32_t i) {
        return static_cast<int64_t>(batch.peer_numbers[i]);
      });
    case PENUMBRA_WINDOW_PERCENT_RANK:
      return MakeRank<double>(spec.result, [](const WindowBatch& batch, uint32_t i) {
        const uint64_t rows = batch.partition_ends[i] - batch.partition_begins[i];
        return rows <= 1 ? 0.0 : static_cast<double>(RankOf(batch, i) - 1) / static_cast<double>(rows - 1);
      });
    case PENUMBRA_WINDOW_CUME_DIST:
      return MakeRank<double>(spec.result, [](const WindowBatch& batch, uint32_t i) {
        return static_cast<double>(batch.peer_ends[i] - batch.partition_begins[i]) /
               static_cast<double>(batch.partition_ends[i] - batch.partition_begins[i]);
      });
    case PENUMBRA_WINDOW_NTILE:
      if (spec.count_value != nullptr) return std::make_unique<Buckets>(spec, input, layout);
      return MakeRank<int32_t>(spec.result,
                               [buckets = static_cast<uint64_t>(spec.count)](const WindowBatch& batch, uint32_t i) {
                                 return BucketOf(batch.begin + i - batch.partition_begins[i],
                                                 batch.partition_ends[i] - batch.partition_begins[i], buckets);
                               });
    case PENUMBRA_WINDOW_LAG:
    case PENUMBRA_WINDOW_LEAD:
    case PENUMBRA_WINDOW_FIRST_VALUE:
    case PENUMBRA_WINDOW_LAST_VALUE:
    case PENUMBRA_WINDOW_NTH_VALUE: return std::make_unique<RowValue>(spec, input, layout, environment);
    case PENUMBRA_WINDOW_AGGREGATE: break;
  }
  if (spec.aggregate.function == PENUMBRA_AGG_JSON_AGG) return CreateHostWindow(spec, input, layout, environment);
  if (InfoOf(spec.aggregate.function).needs == AggregateNeeds::kRows) {
    return CreateCollectedWindow(spec, input, layout, environment);
  }
  return CreateWindowAggregate(spec, input, layout, environment);
}

}  // namespace penumbra

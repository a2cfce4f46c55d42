#include "scan/scan.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>

#include "kernels/kernels.h"
#include "segment/segment_format.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

using Clock = std::chrono::steady_clock;

// Every so many vectors the cost of each conjunct is measured; two clock reads cost 50 ns.
constexpr uint32_t kMeasureInterval = 8;

// Of a dictionary: so many patterns take about as long as it takes to keep a set of rows.
constexpr uint32_t kCostlyEntries = 1024;

// What one execution learns of filters, at most: sets of the rows of hundreds of chunks.
constexpr size_t kLearnedBytesMax = size_t{16} << 20;

// Sets bits [from, to).
void SetBitRange(uint32_t from, uint32_t to, uint64_t* bits) {
  while (from < to) {
    uint32_t offset = from % 64;
    uint32_t length = std::min(64 - offset, to - from);
    uint64_t ones = length == 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    bits[from / 64] |= ones << offset;
    from += length;
  }
}

// Of the rows [begin, end).
uint64_t CountBitRange(const uint64_t* bits, uint32_t begin, uint32_t end) {
  uint64_t count = 0;
  while (begin < end) {
    uint32_t offset = begin % 64;
    uint32_t length = std::min(64 - offset, end - begin);
    uint64_t ones = length == 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    count += static_cast<uint64_t>(std::popcount(bits[begin / 64] >> offset & ones));
    begin += length;
  }
  return count;
}

// Room for a selection: kernels write whole words of 64 rows.
uint16_t* AllocateSelection(uint32_t rows, Arena& arena) {
  return arena.AllocateArray<uint16_t>((rows + 63) / 64 * 64);
}

// Whether to evaluate a remembered filter for a segment costs more than to keep what comes out.
bool IsCostly(const void* segment) {
  const SegmentView view(segment);
  if (view.encoding() == Encoding::kConstant) return false;
  return view.encoding() != Encoding::kDictionary || view.header().dictionary_size >= kCostlyEntries;
}

PenumbraZoneMap ZoneMapOf(const void* segment) { return SegmentReader(segment).zone_map(); }

// The verdicts of the filters on a chunk; false when one excludes it.
bool CheckChunk(const ScanSpec& spec, const PenumbraChunk& chunk, std::vector<Verdict>* verdicts) {
  for (const ScanFilter& filter : spec.filters) {
    Verdict verdict = Verdict::kSome;
    if (filter.predicate != nullptr) {
      verdict = filter.predicate->Check(ZoneMapOf(chunk.segments[filter.predicate->column()]));
    }
    if (verdict == Verdict::kNone) return false;
    verdicts->push_back(verdict);
  }
  return true;
}

}  // namespace

bool IsChunkSkipped(const ScanSpec& spec, const PenumbraZoneMap* zone_maps) {
  return std::any_of(spec.filters.begin(), spec.filters.end(), [zone_maps](const ScanFilter& filter) {
    return filter.predicate != nullptr &&
           filter.predicate->Check(zone_maps[filter.predicate->column()]) == Verdict::kNone;
  });
}

Scan::Scan(const ScanSpec& spec) : spec_(spec) {
  for (const ScanFilter& filter : spec.filters) filters_.push_back(&filter);
  dropped_rows_.resize(filters_.size());
}

void Scan::AddKeyFilter(const RuntimeFilter& filter, const KeyFilter& keys) {
  ScanFilter& added = key_filters_.emplace_back();
  added.predicate = ScanPredicate::OfKeys(keys, filter.column);
  added.columns = {filter.column};
  added.keys = &keys;
  added.join = filter.join;
  filters_.push_back(&added);
  uint64_t dropped = 0;
  for (Chunk& chunk : chunks_) {
    chunk.verdicts.push_back(added.predicate->Check(ZoneMapOf(chunk.segments[filter.column])));
    if (chunk.verdicts.back() != Verdict::kNone || chunk.next_row.load(std::memory_order_relaxed) > 0) continue;
    dropped += chunk.valid_rows;
    chunk.next_row.store(chunk.rows, std::memory_order_relaxed);
    rows_left_.fetch_sub(chunk.rows, std::memory_order_relaxed);
  }
  dropped_rows_.push_back(dropped);
}

void Scan::FindOwnValues(int column) {
  std::deque<SegmentReader> readers;
  OwnValuesFinder finder;
  for (const Chunk& chunk : chunks_) {
    if (!finder.Add(readers.emplace_back(chunk.segments[column]))) return;
  }
  ReadAddedValues(column);
  own_values_ = finder.Find(&shared_values_);
  if (own_values_.empty()) return;
  size_t first = 0;
  for (Chunk& chunk : chunks_) {
    chunk.own_values = &own_values_[first];
    first += (chunk.rows + kVectorRows - 1) / kVectorRows;
  }
}

void Scan::ReadAddedValues(int column) {
  std::lock_guard lock(added_mutex_);
  Arena arena;
  for (AddedRows& added : added_) {
    if (added.rows == nullptr) {
      added.rows = added.tuples->ToRows();
      added.tuples.reset();
    }
    for (uint32_t begin = 0; begin < added.rows->row_count(); begin += kVectorRows) {
      const uint32_t count = std::min(kVectorRows, added.rows->row_count() - begin);
      const Vector values = Flatten(added.rows->Slice(column, begin, count, arena), count, arena);
      for (uint32_t i = 0; i < count; ++i) {
        if (values.IsValid(i)) shared_values_.push_back(IntegerAt(values, i));
      }
      arena.Reset();
    }
  }
}

bool Scan::CanSummarizeChunk(const Chunk& chunk) const {
  if (std::any_of(chunk.verdicts.begin(), chunk.verdicts.end(),
                  [](Verdict verdict) { return verdict != Verdict::kAll; })) {
    return false;
  }
  Arena arena;
  ColumnSummary summary;
  return std::all_of(spec_.summary_columns.begin(), spec_.summary_columns.end(), [&](const SummaryColumn& needed) {
    return SegmentReader(chunk.segments[needed.column]).Summarize(0, chunk.rows, needed.bounds, arena, &summary);
  });
}

void Scan::RecallChunk(const PenumbraChunk& chunk, Chunk* added) const {
  added->owner = chunk.owner;
  for (const ScanFilter& filter : spec_.filters) {
    if (filter.remembered < 0) continue;
    const bool is_worth = IsCostly(chunk.segments[filter.columns[0]]);
    added->remembered.emplace_back(is_worth ? chunk.remembered[filter.remembered] : nullptr, chunk.rows);
    added->learned.emplace_back(is_worth ? chunk.rows : 0);
  }
}

void Scan::Learn(Chunk* chunk, const ScanFilter& filter, uint32_t vector, const uint64_t* known,
                 const uint64_t* matches) {
  if (learned_bytes_.load(std::memory_order_relaxed) > kLearnedBytesMax) return;
  learned_bytes_.fetch_add(chunk->learned[filter.remembered].Learn(vector, known, matches), std::memory_order_relaxed);
}

bool Scan::NextLearned(PenumbraLearned* learned) {
  const auto filters = static_cast<size_t>(spec_.remembered_filters);
  for (; next_learned_ < chunks_.size() * filters; ++next_learned_) {
    const Chunk& chunk = chunks_[next_learned_ / filters];
    const size_t number = next_learned_ % filters;
    if (chunk.learned.empty() || chunk.learned[number].is_empty()) continue;
    learned_image_ = chunk.learned[number].ToImage(chunk.remembered[number]);
    *learned = {static_cast<int>(number), chunk.owner, learned_image_.data(), learned_image_.size()};
    ++next_learned_;
    return true;
  }
  return false;
}

// Returns false if the zone maps exclude the chunk, if no row passes a remembered filter, or if it has no valid rows.
// The adapter's ranges are checked, since the scan relies on their order.
bool Scan::FillChunk(const PenumbraChunk& chunk, Chunk* added) {
  uint64_t valid_rows = 0;
  for (uint32_t i = 0; i < chunk.range_count; ++i) {
    const PenumbraRowRange& range = chunk.ranges[i];
    if (range.begin > range.end || range.end > chunk.rows || (i > 0 && range.begin < chunk.ranges[i - 1].end)) {
      throw EngineError(PENUMBRA_INTERNAL, "row ranges of a chunk are not sorted and disjoint");
    }
    valid_rows +=
        chunk.row_bits == nullptr ? range.end - range.begin : CountBitRange(chunk.row_bits, range.begin, range.end);
  }
  ++chunk_count_;
  std::vector<Verdict> verdicts;
  if (!CheckChunk(spec_, chunk, &verdicts)) {
    ++skipped_count_;
    return false;
  }
  if (valid_rows == 0) return false;
  added->rows = chunk.rows;
  added->segments.assign(chunk.segments, chunk.segments + spec_.types.size());
  added->first_position = chunk.first_position;
  added->ranges.assign(chunk.ranges, chunk.ranges + chunk.range_count);
  if (chunk.row_bits != nullptr) added->row_bits.assign(chunk.row_bits, chunk.row_bits + (chunk.rows + 63) / 64);
  added->valid_rows = valid_rows;
  added->verdicts = std::move(verdicts);
  if (chunk.remembered != nullptr) RecallChunk(chunk, added);
  if (std::any_of(added->remembered.begin(), added->remembered.end(),
                  [](const RememberedRows& rows) { return rows.none_matches(); })) {
    forgone_vectors_ += (chunk.rows + kVectorRows - 1) / kVectorRows;
    forgone_rows_ += valid_rows;
    return false;
  }
  added->is_summarized = spec_.takes_summaries && valid_rows == chunk.rows && CanSummarizeChunk(*added);
  return true;
}

void Scan::AddChunk(const PenumbraChunk& chunk) {
  Chunk& added = chunks_.emplace_back();
  if (!FillChunk(chunk, &added)) {
    chunks_.pop_back();
    return;
  }
  rows_left_ += added.rows;
  if (!added.is_summarized) total_rows_ += added.valid_rows;
}

// False: no row can match the joins that have built.
bool Scan::CheckKeyFilters(Chunk* chunk) {
  for (size_t i = spec_.filters.size(); i < filters_.size(); ++i) {
    const ScanPredicate& predicate = *filters_[i]->predicate;
    chunk->verdicts.push_back(predicate.Check(ZoneMapOf(chunk->segments[predicate.column()])));
    if (chunk->verdicts.back() != Verdict::kNone) continue;
    dropped_rows_[i] += chunk->valid_rows;
    return false;
  }
  return true;
}

bool Scan::SkipChunk(const PenumbraZoneMap* zone_maps) {
  if (IsChunkSkipped(spec_, zone_maps)) {
    ++chunk_count_;
    ++skipped_count_;
    return true;
  }
  for (size_t i = spec_.filters.size(); i < filters_.size(); ++i) {
    const PenumbraZoneMap& zone_map = zone_maps[filters_[i]->predicate->column()];
    if (filters_[i]->predicate->Check(zone_map) != Verdict::kNone) continue;
    ++chunk_count_;
    dropped_rows_[i] += zone_map.rows;
    return true;
  }
  return false;
}

void Scan::PushChunk(const PenumbraChunk& chunk) {
  auto added = std::make_unique<Chunk>();
  added->is_pushed = true;
  // Without rows it is finished as soon as those before it.
  if (!FillChunk(chunk, added.get()) || !CheckKeyFilters(added.get())) added->rows = 0;
  std::lock_guard lock(pushed_mutex_);
  rows_left_ += added->rows;
  pushed_.push_back(std::move(added));
  unfinished_chunks_.fetch_add(1, std::memory_order_relaxed);
  DropFinishedLocked();
}

void Scan::DropFinishedLocked() {
  uint64_t finished = 0;
  while (!pushed_.empty() && pushed_.front()->cursors == 0 &&
         pushed_.front()->next_row.load(std::memory_order_relaxed) >= pushed_.front()->rows) {
    pushed_.pop_front();
    ++finished;
  }
  if (finished == 0) return;
  unfinished_chunks_.fetch_sub(static_cast<uint32_t>(finished), std::memory_order_relaxed);
  finished_chunks_.fetch_add(finished, std::memory_order_release);
  finished_.notify_all();
}

void Scan::LeaveChunk(Chunk* chunk) {
  std::lock_guard lock(pushed_mutex_);
  --chunk->cursors;
  DropFinishedLocked();
}

void Scan::AwaitFinished(uint64_t count, Clock::time_point deadline) {
  std::unique_lock lock(pushed_mutex_);
  finished_.wait_until(lock, deadline, [this, count] { return finished_chunks() >= count; });
}

bool Scan::ClaimPushed(Morsel* morsel) {
  std::lock_guard lock(pushed_mutex_);
  for (const std::unique_ptr<Chunk>& chunk : pushed_) {
    if (!ClaimFrom(chunk.get(), morsel)) continue;
    ++chunk->cursors;
    return true;
  }
  return false;
}

bool Scan::ClaimFrom(Chunk* chunk, Morsel* morsel) {
  if (chunk->next_row.load(std::memory_order_relaxed) >= chunk->rows) return false;
  const uint32_t claimed_rows = chunk->is_summarized ? chunk->rows : kMorselRows;
  uint32_t begin = chunk->next_row.fetch_add(claimed_rows, std::memory_order_relaxed);
  if (begin >= chunk->rows) return false;
  *morsel = {chunk, begin, std::min(begin + claimed_rows, chunk->rows)};
  rows_left_.fetch_sub(morsel->end - begin, std::memory_order_relaxed);
  return true;
}

void Scan::GiveBack(const Morsel& morsel) {
  std::lock_guard lock(given_back_mutex_);
  given_back_.push_back(morsel);
  given_back_count_.store(given_back_.size(), std::memory_order_relaxed);
  rows_left_.fetch_add(morsel.end - morsel.begin, std::memory_order_relaxed);
}

bool Scan::ClaimGivenBack(Morsel* morsel) {
  std::lock_guard lock(given_back_mutex_);
  if (given_back_.empty()) return false;
  *morsel = given_back_.back();
  given_back_.pop_back();
  given_back_count_.store(given_back_.size(), std::memory_order_relaxed);
  rows_left_.fetch_sub(morsel->end - morsel->begin, std::memory_order_relaxed);
  return true;
}

bool Scan::ClaimMorsel(Chunk* current, Morsel* morsel) {
  if (rows_left_.load(std::memory_order_relaxed) <= 0) return false;
  if (given_back_count_.load(std::memory_order_relaxed) > 0 && ClaimGivenBack(morsel)) return true;
  if (current != nullptr && ClaimFrom(current, morsel)) return true;
  if (unfinished_chunks_.load(std::memory_order_relaxed) > 0 && ClaimPushed(morsel)) return true;
  while (next_chunk_.load(std::memory_order_relaxed) < chunks_.size()) {
    size_t index = next_chunk_.fetch_add(1, std::memory_order_relaxed);
    if (index < chunks_.size() && ClaimFrom(&chunks_[index], morsel)) return true;
  }
  for (Chunk& chunk : chunks_) {
    if (ClaimFrom(&chunk, morsel)) return true;
  }
  return false;
}

template <typename Copy>
bool Scan::TryAdd(size_t added_bytes, size_t batches, size_t bytes, const Copy& copy) {
  {
    // One caller adds; others only take away.
    std::lock_guard lock(added_mutex_);
    if (added_.size() >= batches || added_bytes_ + added_bytes > bytes) return false;
  }
  AddedRows added = copy();
  std::lock_guard lock(added_mutex_);
  added.bytes = added_bytes;
  added_bytes_ += added_bytes;
  added_.push_back(std::move(added));
  added_count_.store(added_.size(), std::memory_order_relaxed);
  return true;
}

bool Scan::TryAddRows(const Rows& rows, size_t batches, size_t bytes) {
  return TryAdd(rows.byte_count(), batches, bytes,
                [&rows] { return AddedRows{std::make_unique<Rows>(rows.Copy()), nullptr}; });
}

bool Scan::TryAddTuples(Tuples* tuples, size_t batches, size_t bytes) {
  return TryAdd(tuples->byte_count(), batches, bytes, [tuples] {
    auto added = std::make_unique<Tuples>(tuples->layout());
    added->Swap(tuples);
    return AddedRows{nullptr, std::move(added)};
  });
}

std::unique_ptr<Rows> Scan::ClaimRows() {
  if (added_count_.load(std::memory_order_relaxed) == 0) return nullptr;
  AddedRows claimed;
  {
    std::lock_guard lock(added_mutex_);
    if (added_.empty()) return nullptr;
    claimed = std::move(added_.front());
    added_.pop_front();
    added_bytes_ -= claimed.bytes;
    added_count_.store(added_.size(), std::memory_order_relaxed);
  }
  return claimed.rows != nullptr ? std::move(claimed.rows) : claimed.tuples->ToRows();
}

// The columns of one vector of rows, decoded when asked for, for the rows still selected.
class ScanCursor::Columns {
 public:
  Columns(ScanCursor& cursor, uint32_t count) : cursor_(cursor), count_(count), row_count_(count) {
    while (!cursor_.loaded_.empty()) Unload(cursor_.loaded_.size() - 1);
  }
  virtual ~Columns() = default;

  uint32_t row_count() const { return row_count_; }
  Batch batch() const { return {row_count_, static_cast<uint32_t>(cursor_.vectors_.size()), cursor_.vectors_.data()}; }

  // `selected`: of rows [0, count); kept by reference.
  void Select(const uint16_t* selected, uint32_t n) {
    selected_ = selected;
    row_count_ = n;
  }

  // Of the rows the selected ones.
  void FindSelected(uint64_t* bits) const {
    if (selected_ == nullptr) {
      kernels::SetBits(bits, count_);
      return;
    }
    std::fill_n(bits, kernels::BitmapWords(count_), 0);
    for (uint32_t i = 0; i < row_count_; ++i) bits[selected_[i] / 64] |= uint64_t{1} << (selected_[i] % 64);
  }

  void Load(int column, Arena& arena) {
    if (cursor_.is_loaded_[column] != 0) return;
    cursor_.is_loaded_[column] = 1;
    cursor_.loaded_.push_back(column);
    cursor_.vectors_[column] = selected_ == nullptr ? Decode(column, count_, arena)
                                                    : DecodeSelected(column, count_, selected_, row_count_, arena);
  }

  // Keeps the rows passed[0..n) of the rows still selected.
  void Narrow(const uint16_t* passed, uint32_t n, Arena& arena) {
    for (size_t i = cursor_.loaded_.size(); i-- > 0;) {
      int column = cursor_.loaded_[i];
      if (cursor_.is_kept_[column] != 0) {
        cursor_.vectors_[column] = Gather(cursor_.vectors_[column], passed, n, arena);
      } else {
        Unload(i);
      }
    }
    if (selected_ == nullptr) {
      Select(passed, n);
      return;
    }
    auto* selected = arena.AllocateArray<uint16_t>(n);
    for (uint32_t i = 0; i < n; ++i) selected[i] = selected_[passed[i]];
    Select(selected, n);
  }

 private:
  // loaded_[index]; the last takes its place.
  void Unload(size_t index) {
    int column = cursor_.loaded_[index];
    cursor_.loaded_[index] = cursor_.loaded_.back();
    cursor_.loaded_.pop_back();
    cursor_.is_loaded_[column] = 0;
    cursor_.vectors_[column] = NullConstant(cursor_.vectors_[column].type);
  }
  virtual Vector Decode(int column, uint32_t count, Arena& arena) = 0;
  virtual Vector DecodeSelected(int column, uint32_t count, const uint16_t* selected, uint32_t n, Arena& arena) = 0;

  ScanCursor& cursor_;
  const uint32_t count_;
  const uint16_t* selected_ = nullptr;  // null: all
  uint32_t row_count_;
};

class ScanCursor::ChunkColumns final : public Columns {
 public:
  ChunkColumns(ScanCursor& cursor, uint32_t begin, uint32_t count)
      : Columns(cursor, count),
        readers_(cursor.readers_),
        decoded_bytes_(cursor.counts_.decoded_bytes),
        first_position_(cursor.chunk_->first_position + begin),
        begin_(begin) {}

 private:
  Vector Decode(int column, uint32_t count, Arena& arena) override {
    if (readers_[column].segment() != nullptr) return Counted(readers_[column].Decode(begin_, count, arena), count);
    return Positions(count, arena, [](uint32_t i) { return i; });
  }
  Vector DecodeSelected(int column, uint32_t count, const uint16_t* selected, uint32_t n, Arena& arena) override {
    if (readers_[column].segment() != nullptr) {
      return Counted(readers_[column].DecodeSelected(begin_, count, selected, n, arena), n);
    }
    return Positions(n, arena, [selected](uint32_t i) { return selected[i]; });
  }
  Vector Counted(Vector decoded, uint32_t count) {
    decoded_bytes_ += uint64_t{count} * FlatWidth(decoded);
    return decoded;
  }
  template <typename RowAt>
  Vector Positions(uint32_t count, Arena& arena, RowAt row_at) const {
    int64_t* positions = arena.AllocateArray<int64_t>(count);
    for (uint32_t i = 0; i < count; ++i) positions[i] = first_position_ + row_at(i);
    return FlatVector(PENUMBRA_INT8, positions, nullptr);
  }

  const std::vector<SegmentReader>& readers_;
  uint64_t& decoded_bytes_;
  const int64_t first_position_;
  const uint32_t begin_;
};

class ScanCursor::RowColumns final : public Columns {
 public:
  RowColumns(ScanCursor& cursor, const Rows& rows, uint32_t begin, uint32_t count)
      : Columns(cursor, count), rows_(rows), begin_(begin) {}

 private:
  Vector Decode(int column, uint32_t count, Arena& arena) override { return rows_.Slice(column, begin_, count, arena); }
  Vector DecodeSelected(int column, uint32_t count, const uint16_t* selected, uint32_t n, Arena& arena) override {
    return Gather(rows_.Slice(column, begin_, count, arena), selected, n, arena);
  }

  const Rows& rows_;
  const uint32_t begin_;
};

ScanCursor::ScanCursor(Scan& scan, bool is_output, ExecutionEnvironment& environment)
    : scan_(scan), is_output_(is_output), environment_(environment), chunk_arena_(&environment.budget) {
  size_t width = scan.spec().types.size();
  for (PenumbraType type : scan.spec().types) vectors_.push_back(NullConstant(type));
  is_loaded_.resize(width);
  std::vector<int> uses(width);
  const std::vector<const ScanFilter*>& filters = scan.filters();
  counts_.dropped_rows.resize(filters.size());
  for (size_t i = 0; i < filters.size(); ++i) {
    for (int column : filters[i]->columns) ++uses[column];
    if (!filters[i]->can_fail()) movable_.push_back({i});
  }
  for (size_t c = 0; c < width; ++c) {
    is_kept_.push_back(scan.spec().needed[c] || uses[c] > 1);
    if (scan.spec().needed[c]) needed_.push_back(static_cast<int>(c));
  }
}

ScanCursor::~ScanCursor() { LeaveChunk(); }

// Nothing refers to a pushed chunk any more when the cursor is asked for the next batch.
void ScanCursor::LeaveChunk() {
  if (!is_at_pushed_chunk()) return;
  scan_.LeaveChunk(chunk_);
  chunk_ = nullptr;
}

bool ScanCursor::OpenMorsel() {
  environment_.CheckCancelled();
  if (!scan_.ClaimMorsel(chunk_, &morsel_)) {
    LeaveChunk();
    return false;
  }
  position_ = morsel_.begin;
  if (morsel_.chunk != chunk_) {
    LeaveChunk();
    chunk_ = morsel_.chunk;
    BindChunk();
  }
  auto first = std::lower_bound(chunk_->ranges.begin(), chunk_->ranges.end(), position_,
                                [](const PenumbraRowRange& range, uint32_t row) { return range.end <= row; });
  range_ = static_cast<size_t>(first - chunk_->ranges.begin());
  OrderFilters();
  return true;
}

void ScanCursor::BindChunk() {
  bound_.clear();
  is_chunk_decoded_ = false;
  chunk_arena_.Reset();
  readers_.clear();
  Arena* kept = is_output_ ? nullptr : &chunk_arena_;
  for (const void* segment : chunk_->segments) readers_.emplace_back(segment, kept);
  const std::vector<const ScanFilter*>& filters = scan_.filters();
  bound_.resize(filters.size());
  is_bound_.assign(filters.size(), 0);
  for (size_t i = 0; i < filters.size(); ++i) {
    const bool may_be_known = filters[i]->remembered >= 0 && !chunk_->remembered.empty() &&
                              !chunk_->remembered[filters[i]->remembered].is_empty();
    if (chunk_->verdicts[i] == Verdict::kAll || may_be_known) continue;
    is_chunk_decoded_ |= BindFilter(i) == nullptr;
  }
}

ScanPredicate::Bound* ScanCursor::BindFilter(size_t index) {
  const ScanFilter& filter = *scan_.filters()[index];
  if (is_bound_[index] == 0 && filter.predicate != nullptr) {
    EvalContext context = environment_.MakeContext(chunk_arena_);
    bound_[index] = filter.predicate->Bind(readers_[filter.predicate->column()], context);
  }
  is_bound_[index] = 1;
  return bound_[index].get();
}

// What costs least per row that it removes runs first.
void ScanCursor::OrderFilters() {
  if (movable_.size() < 2) return;
  auto rank = [](const FilterState& state) {
    double removed = 1.0 - state.rows_out / state.rows_in;
    return state.cost_ns / std::max(removed, 1e-3);
  };
  std::stable_sort(movable_.begin(), movable_.end(),
                   [&rank](const FilterState& a, const FilterState& b) { return rank(a) < rank(b); });
}

// Halves what was seen long ago.
void ScanCursor::Observe(uint32_t rows_in, uint32_t rows_out, FilterState* state) {
  if (state->rows_in > 64 * kVectorRows) {
    state->rows_in /= 2;
    state->rows_out /= 2;
  }
  state->rows_in += rows_in;
  state->rows_out += rows_out;
}

bool ScanCursor::IsResting(FilterState* state) {
  if (state->rest == 0) return false;
  --state->rest;
  return true;
}

// Counts what a runtime filter drops, and sends it to rest when that is little: a join that finds no match costs about
// ten times as much as the filter.
void ScanCursor::NoteDropped(uint32_t rows_in, uint32_t rows_out, FilterState* state) {
  constexpr double kVectorsSeen = 6 * kVectorRows, kUselessShare = 0.9;
  constexpr uint32_t kRestMax = 1024;
  counts_.dropped_rows[state->index] += rows_in - rows_out;
  Observe(rows_in, rows_out, state);
  if (state->rows_in < kVectorsSeen) return;
  if (state->rows_out < kUselessShare * state->rows_in) {
    state->next_rest = FilterState().next_rest;
    return;
  }
  state->rest = state->next_rest;
  state->next_rest = std::min(2 * state->next_rest, kRestMax);
  state->rows_in = 1;
  state->rows_out = 0.5;
}

bool ScanCursor::SetValidBits(uint32_t begin, uint32_t count, uint64_t* bits) {
  const std::vector<PenumbraRowRange>& ranges = chunk_->ranges;
  uint32_t end = begin + count;
  while (range_ < ranges.size() && ranges[range_].end <= begin) ++range_;
  if (range_ == ranges.size() || ranges[range_].begin >= end) return false;
  std::fill(bits, bits + (count + 63) / 64, 0);
  for (size_t r = range_; r < ranges.size() && ranges[r].begin < end; ++r) {
    SetBitRange(std::max(ranges[r].begin, begin) - begin, std::min(ranges[r].end, end) - begin, bits);
  }
  if (chunk_->row_bits.empty()) return true;
  assert(begin % 64 == 0);
  uint64_t any = 0;
  for (uint32_t word = 0; word < (count + 63) / 64; ++word) any |= bits[word] &= chunk_->row_bits[begin / 64 + word];
  return any != 0;
}

bool ScanCursor::Recall(uint32_t count, uint64_t* bits) {
  if (chunk_->remembered.empty()) return true;
  const size_t words = kernels::BitmapWords(count);
  for (FilterState& state : movable_) {
    const int number = scan_.filters()[state.index]->remembered;
    if (number < 0) continue;
    const RememberedRows& remembered = chunk_->remembered[number];
    uint64_t known[kValidityWords], matches[kValidityWords];
    if (!remembered.FindKnown(vector_, known)) continue;
    remembered.FindMatches(vector_, matches);
    uint64_t left = 0, unknown = 0;
    for (size_t w = 0; w < words; ++w) {
      counts_.recalled_rows += static_cast<uint64_t>(std::popcount(bits[w] & known[w]));
      unknown |= bits[w] & ~known[w];
      left |= bits[w] &= ~known[w] | matches[w];
    }
    if (left == 0) {
      ++counts_.recalled_vectors;
      return false;
    }
    state.is_recalled = unknown == 0;
  }
  return true;
}

void ScanCursor::ApplyBound(const FilterState& state, uint32_t begin, uint32_t count, uint64_t* bits,
                            EvalContext& context) {
  ScanPredicate::Bound& bound = *bound_[state.index];
  const ScanFilter& filter = *scan_.filters()[state.index];
  if (!chunk_->Learns(filter)) {
    bound.Apply(begin, count, bits, context);
    return;
  }
  const size_t words = kernels::BitmapWords(count);
  uint64_t known[kValidityWords], unknown[kValidityWords], matches[kValidityWords];
  std::copy_n(bits, words, unknown);
  const bool is_any_known = chunk_->remembered[filter.remembered].FindKnown(vector_, known);
  if (is_any_known) kernels::AndNotBits(unknown, known, count);
  std::copy_n(unknown, words, matches);
  bound.Apply(begin, count, matches, context);
  scan_.Learn(chunk_, filter, vector_, unknown, matches);
  if (!is_any_known) {
    std::copy_n(matches, words, bits);
    return;
  }
  for (size_t w = 0; w < words; ++w) bits[w] = (bits[w] & known[w]) | matches[w];
}

// Filters that cannot fail run in the order of their measured costs and selectivities; every kMeasureInterval-th vector
// is measured. All bounds are checked before any filter runs, since one that excludes the vector saves all evaluation.
bool ScanCursor::ApplyPredicates(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context) {
  bool is_measured = movable_.size() > 1 && vectors_seen_ % kMeasureInterval == 0;
  vector_ = begin / kVectorRows;
  for (FilterState& state : movable_) {
    state.is_recalled = false;
    state.verdict = Verdict::kSome;
    if (bound_[state.index] == nullptr) continue;
    state.verdict = bound_[state.index]->Check(begin, count);
    if (state.verdict != Verdict::kNone) continue;
    if (scan_.filters()[state.index]->keys != nullptr) {
      counts_.dropped_rows[state.index] += kernels::CountBits(bits, count);
    }
    return false;
  }
  if (!Recall(count, bits)) return false;
  is_filtered_decoded_ = is_chunk_decoded_;
  uint32_t rows_in = is_measured ? kernels::CountBits(bits, count) : 0;
  for (FilterState& state : movable_) {
    if (state.is_recalled || chunk_->verdicts[state.index] == Verdict::kAll) continue;
    if (BindFilter(state.index) == nullptr) {
      is_filtered_decoded_ = true;
      continue;
    }
    if (state.verdict == Verdict::kAll) continue;
    const bool is_of_keys = scan_.filters()[state.index]->keys != nullptr;
    if (is_of_keys && IsResting(&state)) continue;
    const uint32_t key_rows_in = is_of_keys ? kernels::CountBits(bits, count) : 0;
    auto started = is_measured ? Clock::now() : Clock::time_point();
    ApplyBound(state, begin, count, bits, context);
    if (is_measured) {
      double cost_ns = std::chrono::duration<double, std::nano>(Clock::now() - started).count();
      state.cost_ns += (cost_ns / count - state.cost_ns) / 4;
      uint32_t rows_out = kernels::CountBits(bits, count);
      if (!is_of_keys) Observe(rows_in, rows_out, &state);
      rows_in = rows_out;
    }
    if (is_of_keys) NoteDropped(key_rows_in, kernels::CountBits(bits, count), &state);
    if (std::all_of(bits, bits + (count + 63) / 64, [](uint64_t word) { return word == 0; })) return false;
  }
  return true;
}

bool ScanCursor::RunFilter(const ScanFilter& filter, Columns& columns, EvalContext& context) {
  for (int column : filter.columns) columns.Load(column, context.arena);
  Batch batch = columns.batch();
  if (context.memo != nullptr) context.memo->Begin(batch);
  auto* passed = AllocateSelection(batch.rows, context.arena);
  uint32_t n;
  if (filter.keys != nullptr) {
    uint64_t bits[kValidityWords];
    kernels::SetBits(bits, batch.rows);
    filter.keys->Apply(batch.columns[filter.columns[0]], batch.rows, context.arena, bits);
    n = kernels::BitsToSelection(bits, batch.rows, passed);
  } else {
    n = EvaluateFilter(*filter.expr, batch, context, passed);
  }
  if (n == 0) return false;
  if (n < batch.rows) columns.Narrow(passed, n, context.arena);
  return true;
}

void ScanCursor::SetSink(Sink* sink, Sink::Local* local) {
  summaries_.resize(scan_.spec().summary_columns.size());
  sink_ = sink;
  sink_local_ = local;
}

bool ScanCursor::EmitSummary(uint32_t begin, uint32_t count, EvalContext& context) {
  for (size_t i = 0; i < summaries_.size(); ++i) {
    const SummaryColumn& needed = scan_.spec().summary_columns[i];
    if (!readers_[needed.column].Summarize(begin, count, needed.bounds, context.arena, &summaries_[i])) return false;
  }
  counts_.rows_out += count;
  counts_.summarized_rows += count;
  sink_->ConsumeSummary(*sink_local_, count, summaries_.data(), context.arena);
  return true;
}

bool ScanCursor::RunPrefilter(Columns& columns, EvalContext& context) {
  for (int column : prefilter_->columns()) columns.Load(column, context.arena);
  const Batch batch = columns.batch();
  auto* wanted = AllocateSelection(batch.rows, context.arena);
  const uint32_t n = prefilter_->Select(batch, context, wanted);
  if (n == 0) return false;
  if (n < batch.rows) columns.Narrow(wanted, n, context.arena);
  return true;
}

// Filters that cannot fail run in the order of what dropping a row costs them, which is measured every so many vectors;
// those that can fail run last and in the query's order, on rows that all others pass, so that only rows fail that
// PostgreSQL evaluates. Columns are loaded when something reads them, and the rest for the rows that are left.
bool ScanCursor::RunMovable(Columns& columns, bool is_chunk, EvalContext& context) {
  const std::vector<const ScanFilter*>& filters = scan_.filters();
  bool is_measured = movable_.size() > 1 && vectors_seen_ % kMeasureInterval == 0;
  for (FilterState& state : movable_) {
    const ScanFilter& filter = *filters[state.index];
    if (is_chunk &&
        (state.is_recalled || bound_[state.index] != nullptr || chunk_->verdicts[state.index] == Verdict::kAll)) {
      continue;
    }
    if (filter.keys != nullptr && IsResting(&state)) continue;
    const bool is_learned = is_chunk && chunk_->Learns(filter);
    uint32_t rows_in = columns.row_count();
    uint64_t known[kValidityWords], matches[kValidityWords];
    if (is_learned) columns.FindSelected(known);
    auto started = is_measured ? Clock::now() : Clock::time_point();
    bool any = RunFilter(filter, columns, context);
    if (is_measured) {
      double cost_ns = std::chrono::duration<double, std::nano>(Clock::now() - started).count();
      state.cost_ns += (cost_ns / rows_in - state.cost_ns) / 4;
    }
    if (is_learned) {
      columns.FindSelected(matches);
      if (!any) std::fill_n(matches, kValidityWords, 0);
      scan_.Learn(chunk_, filter, vector_, known, matches);
    }
    const uint32_t rows_out = any ? columns.row_count() : 0;
    if (filter.keys != nullptr) {
      NoteDropped(rows_in, rows_out, &state);
    } else {
      Observe(rows_in, rows_out, &state);
    }
    if (!any) return false;
  }
  return true;
}

ScanCursor::Progress ScanCursor::Emit(Columns& columns, bool is_chunk, EvalContext& context, Batch* batch) {
  if (!RunMovable(columns, is_chunk, context)) return Progress::kNoRows;
  for (const ScanFilter* filter : scan_.filters()) {
    if (filter->can_fail() && !RunFilter(*filter, columns, context)) return Progress::kNoRows;
  }
  counts_.rows_out += columns.row_count();
  if (prefilter_ != nullptr && !RunPrefilter(columns, context)) return Progress::kNoRows;
  for (int column : needed_) columns.Load(column, context.arena);
  *batch = columns.batch();
  return Progress::kRows;
}

bool ScanCursor::OpenRows() {
  if (rows_ != nullptr && rows_begin_ < rows_->row_count()) return true;
  if (chunk_ != nullptr && position_ < morsel_.end) return false;
  rows_begin_ = 0;
  rows_ = scan_.ClaimRows();
  return rows_ != nullptr;
}

// One vector, or a chunk that is answered by its summary: valid rows, then predicates on encoded values as bits, then
// what must be decoded.
ScanCursor::Progress ScanCursor::Next(EvalContext& context, Batch* batch) {
  if (OpenRows()) {
    environment_.CheckCancelled();
    const uint32_t first = rows_begin_;
    const uint32_t n = std::min(kVectorRows, rows_->row_count() - first);
    rows_begin_ += n;
    return Filter(*rows_, first, n, context, batch);
  }
  if (chunk_ == nullptr || position_ >= morsel_.end) {
    if (!OpenMorsel()) return Progress::kExhausted;
  }
  uint32_t begin = position_;
  uint32_t count = std::min(kVectorRows, chunk_->rows - begin);
  ++vectors_seen_;
  if (chunk_->is_summarized) {
    position_ = chunk_->rows;
    counts_.rows_in += chunk_->rows;
    if (!EmitSummary(0, chunk_->rows, context)) throw EngineError(PENUMBRA_INTERNAL, "a chunk without its summary");
    return Progress::kNoRows;
  }
  position_ += count;
  uint64_t bits[kValidityWords];
  if (!SetValidBits(begin, count, bits)) return Progress::kNoRows;
  counts_.rows_in += kernels::CountBits(bits, count);
  if (!ApplyPredicates(begin, count, bits, context)) return Progress::kNoRows;
  const uint32_t n = kernels::CountBits(bits, count);
  if (n == count && scan_.spec().takes_summaries && !is_filtered_decoded_ && EmitSummary(begin, count, context))
    return Progress::kNoRows;
  ChunkColumns columns(*this, begin, count);
  if (n < count) {
    auto* selected = AllocateSelection(count, context.arena);
    kernels::BitsToSelection(bits, count, selected);
    columns.Select(selected, n);
  }
  const Progress progress = Emit(columns, true, context, batch);
  if (chunk_->own_values != nullptr) batch->own_values = &chunk_->own_values[begin / kVectorRows];
  return progress;
}

ScanCursor::Progress ScanCursor::FindRow(EvalContext& context, uint64_t* cost) {
  if ((chunk_ == nullptr || position_ >= morsel_.end) && !OpenMorsel()) return Progress::kExhausted;
  if (chunk_->is_summarized) return Progress::kRows;
  const uint32_t begin = position_, count = std::min(kVectorRows, chunk_->rows - begin);
  ++vectors_seen_;
  *cost += count;
  uint64_t bits[kValidityWords];
  uint32_t valid_rows = 0;
  if (SetValidBits(begin, count, bits)) {
    valid_rows = kernels::CountBits(bits, count);
    if (ApplyPredicates(begin, count, bits, context)) {
      if (!is_filtered_decoded_) return Progress::kRows;
      ChunkColumns columns(*this, begin, count);
      auto* selected = AllocateSelection(count, context.arena);
      columns.Select(selected, kernels::BitsToSelection(bits, count, selected));
      *cost += kDecodedCost * columns.row_count();
      if (RunMovable(columns, true, context)) return Progress::kRows;
    }
  }
  position_ += count;
  counts_.rows_in += valid_rows;
  return Progress::kNoRows;
}

void ScanCursor::GiveBack() {
  if (chunk_ == nullptr || position_ >= morsel_.end) return;
  scan_.GiveBack({chunk_, position_, morsel_.end});
  position_ = morsel_.end;
}

bool ScanCursor::FindRow(const Rows& rows, EvalContext& context) {
  for (uint32_t begin = 0; begin < rows.row_count(); begin += kVectorRows) {
    ++vectors_seen_;
    RowColumns columns(*this, rows, begin, std::min(kVectorRows, rows.row_count() - begin));
    if (RunMovable(columns, false, context)) return true;
  }
  counts_.rows_in += rows.row_count();
  counts_.pushed_rows += rows.row_count();
  return false;
}

ScanCursor::Progress ScanCursor::Filter(const Rows& rows, uint32_t begin, uint32_t count, EvalContext& context,
                                        Batch* batch) {
  ++vectors_seen_;
  counts_.rows_in += count;
  counts_.pushed_rows += count;
  RowColumns columns(*this, rows, begin, count);
  return Emit(columns, false, context, batch);
}

}  // namespace penumbra

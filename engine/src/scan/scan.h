// A source of pipelines: chunks of encoded columns, handed out in morsels, and
// rows that the caller pushes.
//
// Scan is shared by all threads; ScanCursor belongs to one. AddChunk() calls come before the first
// cursor; chunks that are pushed later are there for as long as cursors read them. A vector of rows goes
// through valid ranges -> bitmap, predicates on encoded data -> bitmap, the other conjuncts on the rows
// left, and only then are the output's columns decoded, for these rows.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "operator/execution_environment.h"
#include "operator/key_filter.h"
#include "operator/placed_prefilter.h"
#include "operator/sink.h"
#include "scan/own_values.h"
#include "scan/remembered_rows.h"
#include "scan/scan_spec.h"
#include "segment/rows.h"
#include "segment/segment.h"
#include "segment/tuples.h"

namespace penumbra {

constexpr uint32_t kMorselRows = 16 * kVectorRows;

class Scan {
 public:
  explicit Scan(const ScanSpec& spec);
  Scan(const Scan&) = delete;

  // Left out if zone maps prove that no row passes.
  void AddChunk(const PenumbraChunk& chunk);
  // For total_rows(): of chunks that will be pushed.
  void ExpectRows(uint64_t rows) {
    total_rows_ += rows;
    expects_chunks_ = true;
  }
  bool has_added_rows() const { return added_count_.load(std::memory_order_relaxed) > 0; }
  // The same of a chunk that nobody has read: whether zone maps, by column, prove that no row of it passes, nor finds a
  // match by the key filters. It is counted then.
  bool SkipChunk(const PenumbraZoneMap* zone_maps);
  // One thread pushes, after AddKeyFilter().
  void PushChunk(const PenumbraChunk& chunk);
  // Of the pushed chunks those, from the first on, that nobody reads any more.
  uint64_t finished_chunks() const { return finished_chunks_.load(std::memory_order_acquire); }
  // Returns when there are so many of these, or later than the deadline.
  void AwaitFinished(uint64_t count, std::chrono::steady_clock::time_point deadline);
  // Before the first cursor, after the chunks: the rows that match nothing are dropped, whole chunks at once.
  void AddKeyFilter(const RuntimeFilter& filter, const KeyFilter& keys);
  // Before the first cursor, if nothing comes but the chunks and the rows that were added: finds for each vector which
  // values of the column, of an integer type, no other vector and no added row has (Batch::own_values).
  void FindOwnValues(int column);
  // Whether a morsel or rows may be left to claim.
  bool HasWork() const {
    return rows_left_.load(std::memory_order_relaxed) > 0 || added_count_.load(std::memory_order_relaxed) > 0;
  }
  // Rows of the row store, for whichever cursor claims them, if there are fewer batches and bytes of them then.
  bool TryAddRows(const Rows& rows, size_t batches, size_t bytes);
  // The same; `tuples` are empty after.
  bool TryAddTuples(Tuples* tuples, size_t batches, size_t bytes);
  // Null: there are none at the moment.
  std::unique_ptr<Rows> ClaimRows();
  // Of which rows have to be looked at.
  uint64_t total_rows() const { return total_rows_; }
  uint32_t chunk_count() const { return chunk_count_; }
  uint32_t skipped_count() const { return skipped_count_; }
  // Of chunks that remembered filters left out when they were added.
  uint64_t forgone_vectors() const { return forgone_vectors_; }
  uint64_t forgone_rows() const { return forgone_rows_; }
  const ScanSpec& spec() const { return spec_; }
  // The spec's, then runtime filters.
  const std::vector<const ScanFilter*>& filters() const { return filters_; }
  // Of chunks that runtime filters dropped, by place in filters().
  const std::vector<uint64_t>& dropped_rows() const { return dropped_rows_; }

  struct Chunk {
    uint32_t rows = 0;
    std::vector<const void*> segments;  // null: positions
    int64_t first_position = 0;
    std::vector<PenumbraRowRange> ranges;
    std::vector<uint64_t> row_bits;  // of these, the valid ones; empty: all
    uint64_t valid_rows = 0;
    std::vector<Verdict> verdicts;           // of each scan filter, from the whole segment's zone map
    void* owner = nullptr;                   // of what is learned
    std::vector<RememberedRows> remembered;  // by number of the filter; empty: nothing is known
    std::vector<LearnedRows> learned;        // the same; empty: nothing is to be learned
    const OwnValues* own_values = nullptr;   // by vector, see FindOwnValues(); null: not known
    bool is_summarized = false;              // all rows count, and metadata says all that the sink needs
    bool is_pushed = false;
    bool Learns(const ScanFilter& filter) const {
      return filter.remembered >= 0 && !learned.empty() && learned[filter.remembered].has_rows();
    }
    int cursors = 0;  // that read it, if it is pushed; under pushed_mutex_
    std::atomic<uint32_t> next_row{0};
  };
  struct Morsel {
    Chunk* chunk = nullptr;
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // Prefers `current`, then a pushed chunk, whose memory is waited for, then a chunk that nobody has begun, then what
  // other threads have left of theirs: a thread that stays with a chunk binds its predicates once.
  bool ClaimMorsel(Chunk* current, Morsel* morsel);
  // What is left of a morsel whose rows were only looked at: for the next who claims one.
  void GiveBack(const Morsel& morsel);
  // Whether chunks were announced that are not there yet.
  bool expects_chunks() const { return expects_chunks_; }
  // A cursor has done with the last morsel that it claimed of a pushed chunk, which may be gone then.
  void LeaveChunk(Chunk* chunk);
  // That the filter was evaluated for these rows of a vector, and is true for some of them. It is forgotten once there
  // is more than a query should keep.
  void Learn(Chunk* chunk, const ScanFilter& filter, uint32_t vector, const uint64_t* known, const uint64_t* matches);
  // What was learned, one filter of a chunk after the other, when no cursor reads any more. False: that was all.
  bool NextLearned(PenumbraLearned* learned);

 private:
  struct AddedRows {
    std::unique_ptr<Rows> rows;  // null: tuples
    std::unique_ptr<Tuples> tuples;
    size_t bytes = 0;
  };

  // False: nothing of the chunk is to be read.
  bool FillChunk(const PenumbraChunk& chunk, Chunk* added);
  bool CheckKeyFilters(Chunk* chunk);
  bool ClaimPushed(Morsel* morsel);
  bool ClaimGivenBack(Morsel* morsel);
  void DropFinishedLocked();
  template <typename Copy>
  bool TryAdd(size_t added_bytes, size_t batches, size_t bytes, const Copy& copy);
  bool ClaimFrom(Chunk* chunk, Morsel* morsel);
  void ReadAddedValues(int column);
  void RecallChunk(const PenumbraChunk& chunk, Chunk* added) const;
  bool CanSummarizeChunk(const Chunk& chunk) const;

  const ScanSpec& spec_;
  std::deque<ScanFilter> key_filters_;
  std::vector<const ScanFilter*> filters_;
  std::vector<uint64_t> dropped_rows_;
  std::deque<Chunk> chunks_;
  std::vector<OwnValues> own_values_;
  std::vector<int64_t> shared_values_;  // to which these refer
  std::atomic<size_t> next_chunk_{0};
  std::atomic<int64_t> rows_left_{0};
  std::mutex pushed_mutex_;  // guards pushed_
  std::condition_variable finished_;
  std::deque<std::unique_ptr<Chunk>> pushed_;  // from the first on that is not finished
  std::atomic<uint32_t> unfinished_chunks_{0};
  std::atomic<uint64_t> finished_chunks_{0};
  std::mutex added_mutex_;  // guards added_ and its bytes
  std::deque<AddedRows> added_;
  size_t added_bytes_ = 0;
  std::atomic<size_t> added_count_{0};
  std::mutex given_back_mutex_;  // guards given_back_
  std::vector<Morsel> given_back_;
  std::atomic<size_t> given_back_count_{0};
  bool expects_chunks_ = false;
  uint64_t total_rows_ = 0;
  uint32_t chunk_count_ = 0;
  uint32_t skipped_count_ = 0;
  uint64_t forgone_vectors_ = 0;
  uint64_t forgone_rows_ = 0;
  std::atomic<size_t> learned_bytes_{0};
  size_t next_learned_ = 0;          // of the chunks' filters, for NextLearned()
  std::vector<char> learned_image_;  // that it gave last
};

// Whether the zone maps of a chunk, by column, prove that no row of it passes the scan's filters.
bool IsChunkSkipped(const ScanSpec& spec, const PenumbraZoneMap* zone_maps);

struct ScanCounts {
  uint64_t rows_in = 0;           // valid rows looked at
  uint64_t rows_out = 0;          // that passed the filter
  uint64_t pushed_rows = 0;       // of rows_in
  uint64_t summarized_rows = 0;   // of rows_in: metadata was enough
  uint64_t recalled_rows = 0;     // of rows_in: for which a remembered filter was not evaluated, summed over filters
  uint64_t recalled_vectors = 0;  // of which remembered filters left no row
  uint64_t decoded_bytes = 0;     // of the vectors that were made, without the bytes of strings
  uint64_t time_ns = 0;
  std::vector<uint64_t> dropped_rows;  // of rows_in, by place in Scan::filters(): by runtime filters
};

class ScanCursor {
 public:
  // `is_output`: the batches are results, whose strings must stay when this cursor is at the next chunk.
  ScanCursor(Scan& scan, bool is_output, ExecutionEnvironment& environment);
  ~ScanCursor();

  // Whether the last batch is of a chunk whose memory may be gone before the result is fetched.
  bool is_at_pushed_chunk() const { return chunk_ != nullptr && chunk_->is_pushed; }
  // Whether all rows that it claimed have been looked at. LeaveChunk(): the next batch is of another morsel.
  bool is_between_morsels() const {
    return (chunk_ == nullptr || position_ >= morsel_.end) && (rows_ == nullptr || rows_begin_ >= rows_->row_count());
  }
  void LeaveChunk();
  enum class Progress { kRows, kNoRows, kExhausted };
  // Looks at one vector of rows, of the scan's added rows first: whoever adds them may wait for room. The batch lives
  // in context.arena, in the segments and (unless is_output) in this cursor's chunk state: until the next call.
  Progress Next(EvalContext& context, Batch* batch);
  // The same for pushed rows [begin, begin + count), begin a multiple of kVectorRows.
  Progress Filter(const Rows& rows, uint32_t begin, uint32_t count, EvalContext& context, Batch* batch);
  // Looks at one vector of the chunks for a row that passes all conjuncts that cannot fail (kRows). A vector without
  // such a row is done with; one with a row is claimed again after GiveBack(). `cost` grows by the rows, and by
  // kDecodedCost for each that had to be decoded.
  Progress FindRow(EvalContext& context, uint64_t* cost);
  static constexpr uint64_t kDecodedCost = 16;
  void GiveBack();
  // The same of all these rows; they are done with if there is none.
  bool FindRow(const Rows& rows, EvalContext& context);
  const ScanCounts& counts() const { return counts_; }
  // The sink that takes the scan's batches as they are, and summaries instead of rows where it can use them.
  void SetSink(Sink* sink, Sink::Local* local);
  // It is asked which rows to decode, and lives as long as the cursor.
  void SetPrefilter(const PlacedPrefilter* prefilter) { prefilter_ = prefilter; }

 private:
  class Columns;
  class ChunkColumns;
  class RowColumns;
  // What this thread has learned of a conjunct that may be moved.
  struct FilterState {
    size_t index = 0;  // in the spec's filters
    double rows_in = 1;
    double rows_out = 0.5;
    double cost_ns = 1;                // per row
    Verdict verdict = Verdict::kSome;  // on the vector in hand
    bool is_recalled = false;          // of that vector all rows that are left are known
    // A runtime filter that drops little rests for so many vectors, and longer each time.
    uint32_t rest = 0;
    uint32_t next_rest = 16;
  };

  bool OpenMorsel();
  bool OpenRows();
  void BindChunk();
  // Null: decode and evaluate.
  ScanPredicate::Bound* BindFilter(size_t index);
  void OrderFilters();
  static void Observe(uint32_t rows_in, uint32_t rows_out, FilterState* state);
  bool IsResting(FilterState* state);
  void NoteDropped(uint32_t rows_in, uint32_t rows_out, FilterState* state);
  bool SetValidBits(uint32_t begin, uint32_t count, uint64_t* bits);
  bool ApplyPredicates(uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context);
  // Drops the rows for which a remembered filter is known not to be true; false: no row is left.
  bool Recall(uint32_t count, uint64_t* bits);
  // Applies a filter that has a bound form, to those rows that are not known where it is remembered.
  void ApplyBound(const FilterState& state, uint32_t begin, uint32_t count, uint64_t* bits, EvalContext& context);
  // Runs the conjuncts that cannot fail and that ApplyPredicates() did not run; false: no row is left.
  bool RunMovable(Columns& columns, bool is_chunk, EvalContext& context);
  // Runs what is left of the conjuncts and decodes the output.
  Progress Emit(Columns& columns, bool is_chunk, EvalContext& context, Batch* batch);
  bool RunFilter(const ScanFilter& filter, Columns& columns, EvalContext& context);
  bool RunPrefilter(Columns& columns, EvalContext& context);
  // Gives the sink what metadata says of these rows, all of which are valid and pass; false: they have
  // to be decoded.
  bool EmitSummary(uint32_t begin, uint32_t count, EvalContext& context);

  Scan& scan_;
  const bool is_output_;
  ExecutionEnvironment& environment_;
  std::unique_ptr<Rows> rows_;  // claimed; until the next are
  uint32_t rows_begin_ = 0;     // of the next vector of them
  Scan::Morsel morsel_;
  uint32_t position_ = 0;  // in the morsel's chunk
  size_t range_ = 0;
  Scan::Chunk* chunk_ = nullptr;
  Arena chunk_arena_;
  std::vector<SegmentReader> readers_;
  std::vector<std::unique_ptr<ScanPredicate::Bound>> bound_;  // by filter; null: decode and evaluate
  std::vector<uint8_t> is_bound_;                             // by filter; a remembered one is when it is needed
  std::vector<FilterState> movable_;                          // filters that cannot fail, in the order to run them
  std::vector<Vector> vectors_;                               // the batch's columns; null constants unless loaded
  std::vector<uint8_t> is_loaded_;                            // by column: decoded for the rows still selected
  std::vector<int> loaded_;                                   // the columns that are
  std::vector<int> needed_;                                   // the columns of the output
  std::vector<uint8_t> is_kept_;                              // by column: worth narrowing rather than decoding again
  Sink* sink_ = nullptr;
  Sink::Local* sink_local_ = nullptr;
  const PlacedPrefilter* prefilter_ = nullptr;
  bool is_chunk_decoded_ = false;     // a conjunct is evaluated on decoded rows of the chunk
  bool is_filtered_decoded_ = false;  // the same of the vector in hand
  std::vector<ColumnSummary> summaries_;
  uint32_t vector_ = 0;  // in hand, of the chunk
  uint32_t vectors_seen_ = 0;
  ScanCounts counts_;
};

}  // namespace penumbra

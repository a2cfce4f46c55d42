// The operators that break pipelines: they consume batches from all threads, finish in parallel tasks,
// then are the source of the next pipeline. The scheduler (executor.cc) guarantees, in this order:
//
//   CreateLocal     once per thread, on that thread
//   Consume         any number of times per thread, only with that thread's Local
//   Combine         once per Local after its last Consume, maybe on another thread and concurrently with
//                   other threads' calls; the Local is destroyed after it
//   PrepareFinish   alone, after every Combine; returns how many finish tasks there are. It is called
//                   again after those tasks have run, until it returns 0 (DISTINCT needs two rounds)
//   RunFinishTask   once per task of each round, concurrently; tasks may be picked up by any thread
//   Seal            once, alone, after the last round; returns how many partitions can be read
//   OpenPartition   once per partition, concurrently; the reader is used by one thread
//
// Every loop that can run longer than some milliseconds calls CheckCancelled(). Errors are thrown.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expression/expr.h"
#include "operator/spill_file.h"
#include "penumbra/engine.h"
#include "segment/segment.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// Shared by all operators of one execution.
struct ExecutionEnvironment {
  MemoryBudget budget;
  std::atomic<bool> is_cancelled{false};
  SpillSpace spill_space;
  int thread_count = 1;  // that call Consume, the caller's included
  const Session& session;
  // Of PenumbraExecOptions. Between calls they mean nothing to the execution, so engine threads do not look.
  const volatile sig_atomic_t* interrupts[2] = {};
  const pthread_t caller = pthread_self();
  bool is_timed = false;

  ExecutionEnvironment(size_t budget_bytes, const Session& s, const char* temporary_prefix = nullptr,
                       PenumbraTemporarySpace* temporary_space = nullptr)
      : budget(budget_bytes),
        spill_space(temporary_prefix != nullptr ? temporary_prefix : "/tmp/penumbra_spill", temporary_space),
        session(s) {}
  void CheckCancelled() const {
    if (is_cancelled.load(std::memory_order_relaxed) || IsInterrupted()) throw EngineError(PENUMBRA_CANCELLED);
  }

 private:
  bool IsInterrupted() const {
    if (!pthread_equal(pthread_self(), caller)) return false;
    return (interrupts[0] != nullptr && *interrupts[0] != 0) || (interrupts[1] != nullptr && *interrupts[1] != 0);
  }
};

// What a zone map or an encoded predicate says of a range of rows.
enum class Verdict : uint8_t { kNone, kSome, kAll };

// For EXPLAIN ANALYZE.
struct SinkStats {
  uint64_t groups = 0;
  uint64_t spilled_bytes = 0;
  uint64_t memory_peak_bytes = 0;
  const char* join_table = nullptr;  // see PenumbraOperatorStats
  uint64_t build_rows = 0;
  uint64_t dropped_groups = 0;  // beside `groups`: by AggregationSpec::having
};

class Sink {
 public:
  class Local {
   public:
    virtual ~Local() = default;
  };
  class Reader {
   public:
    virtual ~Reader() = default;
    // The next batch (rows > 0), valid until the next call; false at the end.
    virtual bool Next(Batch* batch) = 0;
  };

  virtual ~Sink() = default;
  virtual std::unique_ptr<Local> CreateLocal() = 0;
  // The batch and its vectors are dead after the call; context.arena may be used for temporaries.
  virtual void Consume(Local& local, const Batch& batch, EvalContext& context) = 0;
  virtual void Combine(Local& local) = 0;

  // Late materialisation, optional: a sink that can tell from few columns that most rows do not matter
  // (a top-N that is full, from its keys) names them here, and says which rows of a batch may matter. A
  // scan or join below then decodes or reads the other columns for these rows only. The batch of
  // Prefilter has only the named columns set. Writes the rows that may matter, ascending, to `selected`
  // (room for batch.rows rounded up to 64) and returns how many. `all_come`: Consume gets all of these,
  // none is dropped on the way.
  struct PrefilterNeeds {
    std::vector<int> columns;  // empty: there is no prefilter
    bool can_fail = false;
  };
  virtual PrefilterNeeds prefilter_needs() const { return {}; }
  virtual uint32_t Prefilter(Local& /*local*/, const Batch& batch, bool /*all_come*/, EvalContext& /*context*/,
                             uint16_t* selected) {
    for (uint32_t i = 0; i < batch.rows; ++i) selected[i] = static_cast<uint16_t>(i);
    return batch.rows;
  }

  // Rows of which metadata says all that the sink needs (CanSummarize()) need not be decoded: `columns`
  // are, in CanSummarize()'s order, what is known of them.
  virtual void ConsumeSummary(Local& /*local*/, uint32_t /*rows*/, const ColumnSummary* /*columns*/, Arena& /*arena*/) {
    throw EngineError(PENUMBRA_INTERNAL, "a summary for a sink that needs the rows");
  }

  // Optional: the column, of an integer type, of which the sink wants to know which values a batch has alone
  // (Batch::own_values), as when a table lies in its order; -1: none. A scan whose batches come as they are tells it.
  virtual int own_values_column() const { return -1; }

  virtual int PrepareFinish() = 0;
  virtual void RunFinishTask(int task) = 0;
  virtual int Seal() = 0;
  // Partitions of a sorted result are read in order, one after the other.
  virtual bool is_ordered() const = 0;
  virtual std::unique_ptr<Reader> OpenPartition(int partition) = 0;
  virtual SinkStats stats() const = 0;
  // Of the sealed sink, as long as it lives: whether all batches that a column comes in have one dictionary of values
  // that are all different (by the column's equality; codes have two bytes, and are below 2^15). Then a dictionary
  // vector without rows; one whose dictionary_id is 0: all rows are null. Null: no.
  virtual const Vector* dictionary_of(int /*column*/) const { return nullptr; }
  // At any time: a join's build side has more rows than it may.
  virtual bool is_too_large() const { return false; }
};

// A sink's prefilter at a place below it, where the columns that it needs may be others.
class PlacedPrefilter {
 public:
  PlacedPrefilter(Sink* sink, Sink::Local* local, std::vector<int> columns, bool all_come)
      : sink_(sink),
        local_(local),
        sink_columns_(sink->prefilter_needs().columns),
        columns_(std::move(columns)),
        all_come_(all_come) {}
  // Of the batches here, in the order of those that the sink needs.
  const std::vector<int>& columns() const { return columns_; }
  uint32_t Select(const Batch& batch, EvalContext& context, uint16_t* selected) const {
    const int width = *std::max_element(sink_columns_.begin(), sink_columns_.end()) + 1;
    auto* vectors = context.arena.AllocateArray<Vector>(width);
    for (size_t i = 0; i < columns_.size(); ++i) vectors[sink_columns_[i]] = batch.columns[columns_[i]];
    const Batch needed{batch.rows, static_cast<uint32_t>(width), vectors};
    if (context.memo != nullptr) context.memo->Begin(needed);
    return sink_->Prefilter(*local_, needed, all_come_, context, selected);
  }

 private:
  Sink* const sink_;
  Sink::Local* const local_;
  const std::vector<int> sink_columns_;
  const std::vector<int> columns_;
  const bool all_come_;
};

// Joins. The build side is a sink; whoever reads the probe side gives each batch to a JoinProbe.
struct JoinKeySpec {
  const Expr* probe;
  const Expr* build;
  bool nulls_are_equal;
  bool is_filter = false;  // a scan of the probe side asks for its KeyFilter
};
// Which values a key has on the build side of a join. Rows of its probe side that have none of them, or a null, match
// nothing. Shared by threads.
class KeyFilter {
 public:
  virtual ~KeyFilter() = default;
  // Of an integer type: what is known without looking at rows of values from `least` to `greatest`; kAll is said of
  // rows without a null only.
  virtual Verdict CheckBounds(int64_t least, int64_t greatest) const = 0;
  // Clears the bits of rows that match nothing, and maybe not of all of them. `v` has any form.
  virtual void Apply(const Vector& v, uint32_t rows, Arena& arena, uint64_t* bits) const = 0;
  // The same of the integers base + codes[i], without nulls; false: they have to be decoded.
  virtual bool ApplyCodes(const uint16_t* codes, int64_t base, uint32_t rows, uint64_t* bits) const = 0;
};
struct JoinSpec {
  PenumbraJoinKind kind = PENUMBRA_JOIN_INNER;
  bool is_null_aware = false;
  uint64_t build_rows_max = 0;  // see PenumbraJoin
  std::vector<JoinKeySpec> keys;
  std::vector<const Expr*> conditions;  // over the probe's columns, then the build's
  std::vector<PenumbraType> probe_types;
  std::vector<PenumbraType> build_types;
  std::vector<bool> needed;  // which columns of the output somebody reads

  bool has_probe_columns() const { return kind != PENUMBRA_JOIN_RIGHT_SEMI && kind != PENUMBRA_JOIN_RIGHT_ANTI; }
  bool has_build_columns() const {
    return kind != PENUMBRA_JOIN_SEMI && kind != PENUMBRA_JOIN_ANTI && kind != PENUMBRA_JOIN_MARK;
  }
  // Whether build rows that match nothing are rows of the output, or those that match are without their matches.
  bool gives_build_rows() const {
    return kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL || !has_probe_columns();
  }
  // Columns of the probe input (or the build input, numbered from 0) that the join or its readers read.
  std::vector<int> ProbeColumnsRead() const;
  std::vector<int> BuildColumnsRead() const;
  // Those of the build input that its rows keep: without what only keys read.
  std::vector<int> BuildColumnsKept() const;
  bool CanBeUnsupported() const;
};

// One thread's. It takes a batch, then gives its matches in as many batches as it takes.
class JoinProbe {
 public:
  virtual ~JoinProbe() = default;
  // The batch and context.arena stay as they are while is_pending().
  virtual void Begin(const Batch& batch, EvalContext& context) = 0;
  virtual bool is_pending() const = 0;
  // A bounded piece of work; false: it gave no row.
  virtual bool Next(EvalContext& context, Batch* batch) = 0;
  // Of the batches that Next() gives, which then have rows that may matter only. It lives as long as the probe.
  virtual void SetPrefilter(const PlacedPrefilter* /*prefilter*/) {}
  // There are no more batches for now. The last call comes before the probe is gone, but for errors.
  virtual void Flush() {}
};

class JoinSink : public Sink {
 public:
  // Of the sealed sink.
  virtual bool is_spilled() const = 0;
  // Late materialisation: a reader that needs columns of the build side of few rows, and late, gets numbers of build
  // rows. How many there are, from 0 on; 0: rows have none, as those of a build on disk.
  virtual uint64_t NumberedRows() const = 0;
  // Whether it is known that no two of these rows are alike in the columns (of the output, from the build side).
  virtual bool AreDistinct(const std::vector<int>& columns) const = 0;
  // Before CreateProbe(): in place of the columns batches have the numbers of their rows (int4; null: no row, its
  // columns are null) in the first of them, and nulls in the others.
  virtual void NumberRows(const std::vector<int>& columns) = 0;
  virtual Vector ReadColumn(int column, const Vector& row_numbers, uint32_t rows, Arena& arena) const = 0;
  // After Seal(). The probe is gone before the sink is.
  virtual std::unique_ptr<JoinProbe> CreateProbe() = 0;
  // After Seal(), as long as the sink; null: nothing would be gained.
  virtual const KeyFilter* key_filter(int key) const = 0;
};
std::unique_ptr<JoinSink> CreateJoin(const JoinSpec& spec, ExecutionEnvironment& environment);

// Aggregation by keys (none: one group). Output columns: keys, then aggregates. See hash_aggregation_groups.h.
struct AggregateSpec {
  PenumbraAggregate function;
  PenumbraType result;
  std::vector<const Expr*> arguments;
  const Expr* filter = nullptr;  // null for none
  bool distinct = false;
  const Collation* collation = nullptr;  // of MIN and MAX of text; null: C
};
struct AggregationSpec {
  std::vector<const Expr*> keys;
  // Of GROUPING SETS: bit k of a set says that it groups by key k; the other keys are NULL in its groups, and the
  // set's number follows the keys. Empty: one set of all keys, without a number.
  std::vector<uint64_t> sets;
  std::vector<AggregateSpec> aggregates;
  // Over the output: groups that do not pass may be dropped, for somebody above drops them. None can fail.
  std::vector<const Expr*> having;
};
// Whether the aggregation needs no more of its rows than how many there are, how many of them are valid
// in some columns of its input, and the bounds there. Then *columns are those, each once.
struct SummaryColumn {
  int column;
  BoundsNeeded bounds;
};
bool CanSummarize(const AggregationSpec& spec, std::vector<SummaryColumn>* columns);
// Says of a column of a sink's input what Sink::dictionary_of() does; empty: of none.
using DictionaryFinder = std::function<const Vector*(int column)>;
// Keys of an aggregation that are columns of one build side: batches have the numbers of their rows in place of them.
struct BuildRowKeys {
  JoinSink* join;
  std::vector<int> keys;     // in AggregationSpec::keys, all of them columns of the input
  std::vector<int> columns;  // what they are in the join's output
  std::vector<PenumbraType> types;
};
std::unique_ptr<Sink> CreateAggregation(const AggregationSpec& spec, ExecutionEnvironment& environment,
                                        const DictionaryFinder& find_dictionary = {},
                                        std::vector<BuildRowKeys> build_row_keys = {});
// The key by whose values an aggregation knows complete groups (Sink::own_values_column()); -1: none.
int OwnValuesKey(const AggregationSpec& spec);
// Whether the aggregation takes numbers of build rows for keys.
bool CanGroupByBuildRows(const AggregationSpec& spec);
// Whether the function takes the argument types to the result type; false fills *reason.
bool CheckAggregate(const AggregateSpec& spec, std::string* reason);

struct SortKeySpec {
  const Expr* expr = nullptr;
  bool descending = false;
  bool nulls_first = false;
  const Collation* collation = nullptr;  // of text; null: C
};
struct SortSpec {
  std::vector<SortKeySpec> keys;
  std::vector<PenumbraType> column_types;  // of the batches, all of which pass through
  int64_t limit = -1;                      // -1: all rows
  int64_t offset = 0;
};
// Sort, or top-N when there is a limit.
std::unique_ptr<Sink> CreateSort(const SortSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

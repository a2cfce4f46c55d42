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
//   OpenPartition   once per partition and pipeline that reads the sink, concurrently; the reader is used by one thread
//
// Every loop that can run longer than some milliseconds calls CheckCancelled(). Errors are thrown.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "expression/expr.h"
#include "segment/segment.h"
#include "vector/arena.h"
#include "vector/vector.h"

namespace penumbra {

// For EXPLAIN ANALYZE.
struct SinkStats {
  uint64_t groups = 0;
  uint64_t spilled_bytes = 0;
  const char* join_table = nullptr;  // see PenumbraOperatorStats
  uint64_t build_rows = 0;
  uint64_t dropped_groups = 0;  // beside `groups`: by AggregationSpec::having
  uint64_t iterations = 0;      // of a recursion
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

}  // namespace penumbra

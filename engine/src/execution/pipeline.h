// A pipeline: a source (a scan, or the partitions of a sink), steps that work on a batch at a time (filter,
// projection, the probe of a join), and a sink or the query's output. Several pipelines may end in one sink or in the
// output: a union is nothing else, and a join's build rows that nothing matched follow so those that did.
//
// Pipeline is shared by all threads; PipelineCursor belongs to one thread and runs the source and the
// steps one vector at a time, so that whoever calls can stop after each.
//
// A join's probe and unnesting can give more batches than they take. So these cut the steps into stretches: a stretch
// runs only when the one above it has given all rows of what it got before, and whoever calls gets one batch at a time,
// however many come of a row.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/execution_environment.h"
#include "operator/join_sink.h"
#include "operator/multiplying_step.h"
#include "operator/placed_prefilter.h"
#include "operator/sink.h"
#include "plan/plan.h"
#include "scan/scan.h"
#include "segment/rows.h"

namespace penumbra {

// Rows and time of one operator, added up by one thread.
struct OperatorCounts {
  uint64_t rows_in = 0;
  uint64_t rows_out = 0;
  uint64_t time_ns = 0;
  uint64_t filtered_rows = 0;  // of a join: by its runtime filters
};

// Adds the time of its scope to a counter, where times are wanted.
class Stopwatch {
 public:
  Stopwatch(const ExecutionEnvironment& environment, uint64_t* time_ns)
      : time_ns_(environment.is_timed ? time_ns : nullptr) {
    if (time_ns_ != nullptr) started_ = Clock::now();
  }
  ~Stopwatch() {
    if (time_ns_ == nullptr) return;
    *time_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  uint64_t* const time_ns_;
  Clock::time_point started_;
};

// Adds rows that a scan's runtime filters dropped, by place in its filters(), to their joins.
void AddDroppedRows(const Scan& scan, const std::vector<uint64_t>& dropped_rows, std::vector<OperatorCounts>* counts);

// One pipeline of a plan, by numbers of operators.
struct PipelineSpec {
  PenumbraOperator source = -1;         // a scan or a breaker
  PenumbraOperator scan_filter = -1;    // the filter that the scan runs; -1: none
  std::vector<PenumbraOperator> steps;  // from there on
  PenumbraOperator sink = -1;           // the breaker that takes the rows; -1: the output
  bool is_peek = false;                 // it only looks whether the scan has a row that may pass
  bool reads_again = false;             // a pipeline before has read the source,
  size_t repeated_steps = 0;            // and run the first of the steps over its rows: they are not counted again
};

// The pipelines of a finished plan in the order to run them: those that end in one sink are neighbours, and
// come before those that read it. All builds of the joins that a pipeline probes come before it, and a join's own
// rows, where they are a source, after all pipelines that probe it.
std::vector<PipelineSpec> FindPipelines(const Plan& plan);
// The steps of a recursion's term, from the working table on.
PipelineSpec FindRecursiveTerm(const Plan& plan, PenumbraOperator recursion);

// What Sink::dictionary_of() says of a column of the batches that come to a pipeline's end. `sinks`, `partitions`: by
// operator, see Pipeline.
const Vector* FindDictionary(const Plan& plan, const PipelineSpec& spec,
                             const std::vector<std::unique_ptr<Sink>>& sinks, const std::vector<int>& partitions,
                             int column);

class Pipeline {
 public:
  // `scan` or `source` is where the rows come from; Seal() of the latter returned `partitions`. `sinks` has, by
  // operator, the builds of the joins that the steps probe.
  Pipeline(const Plan& plan, const PipelineSpec& spec, Scan* scan, Sink* source, int partitions,
           const std::vector<std::unique_ptr<Sink>>& sinks);

  const PipelineSpec& spec() const { return spec_; }
  const std::vector<const Operator*>& steps() const { return steps_; }
  JoinSink* join(size_t step) const { return joins_[step]; }  // null: no join
  // Whether a step may give more rows than it takes.
  bool multiplies_rows() const;
  Scan* scan() const { return scan_; }
  Sink* source() const { return source_; }
  bool is_output() const { return spec_.sink < 0 && !spec_.is_peek; }
  bool is_peek() const { return spec_.is_peek; }
  // One thread must run it: the order of rows is the sort's.
  bool is_sequential() const { return is_sequential_; }
  // Whether a batch may be left for a thread that has not begun.
  bool HasWork() const;
  // -1 when none is left.
  int ClaimPartition();

 private:
  const PipelineSpec& spec_;
  std::vector<const Operator*> steps_;
  std::vector<JoinSink*> joins_;  // by step
  Scan* const scan_;
  Sink* const source_;
  const int partitions_;
  const bool is_sequential_;
  std::atomic<int> next_partition_{0};
};

class PipelineCursor {
 public:
  using Progress = ScanCursor::Progress;

  PipelineCursor(Pipeline& pipeline, ExecutionEnvironment& environment);

  // Called when the sink takes what this cursor gives.
  void SetSink(Sink* sink, Sink::Local* local);
  // One vector from the source, or from the last step that has not given all, to the last step. The batch lives until
  // the next call; what of it is not in context.arena, until the next call too.
  Progress Next(EvalContext& context, Batch* batch);
  // Of a peek; see ScanCursor.
  Progress FindRow(EvalContext& context, uint64_t* cost) { return scan_cursor_->FindRow(context, cost); }
  bool FindRow(const Rows& rows, EvalContext& context) { return scan_cursor_->FindRow(rows, context); }
  void GiveBack() { scan_cursor_->GiveBack(); }
  // One vector of rows for the next call of Next(), which stay until !has_input(); the pipeline's source is the scan.
  void Push(const Rows& rows, uint32_t begin, uint32_t count);
  // The same of a batch that stays as long; the source is a working table.
  void Push(const Batch& batch) { pushed_batch_ = batch; }
  // Whether Next() has work before it asks the source.
  bool has_input() const;
  // Whether nothing is left of what Next() claimed of the source, so that the thread can pause; Flush() and
  // LeaveChunk() before.
  bool is_between_morsels() const {
    return reader_ == nullptr && !has_input() && (scan_cursor_ == nullptr || scan_cursor_->is_between_morsels());
  }
  void Flush();
  void LeaveChunk() {
    if (scan_cursor_ != nullptr) scan_cursor_->LeaveChunk();
  }

  // By operator; the source's and the steps' of this pipeline, and of the filter that its scan runs.
  void AddCounts(std::vector<OperatorCounts>* counts) const;
  // See ScanCursor.
  bool is_at_pushed_chunk() const { return scan_cursor_ != nullptr && scan_cursor_->is_at_pushed_chunk(); }
  // Null when the source is a sink.
  const ScanCounts* scan_counts() const { return scan_cursor_ == nullptr ? nullptr : &scan_cursor_->counts(); }

 private:
  // The steps from one that multiplies rows to the next, or to the end.
  struct Stretch {
    explicit Stretch(MemoryBudget* budget) : arena(budget) {}

    std::unique_ptr<MultiplyingStep> source;  // that gives the batches; null: the pipeline's source does
    size_t source_step = 0;
    size_t begin = 0, end = 0;  // steps
    Arena arena;                // of the batch that the next stretch's source has; unused by the last
  };
  struct PushedRows {
    const Rows* rows = nullptr;
    uint32_t begin = 0;
    uint32_t count = 0;
  };

  Progress NextOfSource(EvalContext& context, Batch* batch);
  Progress NextOfSink(Batch* batch);
  Progress NextOfStretch(size_t number, EvalContext& context, Batch* batch);
  Progress NextOfStep(size_t number, EvalContext& context, Batch* batch);
  Progress RunSteps(const Stretch& stretch, EvalContext& context, Batch* batch);
  bool RunFilter(const Operator& filter, EvalContext& context, Batch* batch);
  void RunProjection(const Operator& projection, EvalContext& context, Batch* batch);

  Pipeline& pipeline_;
  ExecutionEnvironment& environment_;
  std::optional<PlacedPrefilter> prefilter_;
  std::unique_ptr<ScanCursor> scan_cursor_;
  std::unique_ptr<Sink::Reader> reader_;
  std::deque<Stretch> stretches_;
  PushedRows pushed_;
  std::optional<Batch> pushed_batch_;
  std::vector<OperatorCounts> step_counts_;
  uint64_t source_rows_ = 0;  // of a sink or a working table
  uint64_t source_time_ns_ = 0;
};

}  // namespace penumbra

// A pipeline: a source (a scan, or the partitions of a sink), steps that work on a batch at a time (filter,
// projection), and a sink or the query's output. Several pipelines may end in one sink or in the output: a union
// is nothing else.
//
// Pipeline is shared by all threads; PipelineCursor belongs to one thread and runs the source and the
// steps one vector at a time, so that whoever calls can stop after each.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "operator/operator.h"
#include "plan/plan.h"
#include "scan/scan.h"
#include "segment/rows.h"

namespace penumbra {

// Rows and time of one operator, added up by one thread.
struct OperatorCounts {
  uint64_t rows_in = 0;
  uint64_t rows_out = 0;
  uint64_t time_ns = 0;
};

// One pipeline of a plan, by numbers of operators.
struct PipelineSpec {
  PenumbraOperator source = -1;         // a scan or a breaker
  PenumbraOperator scan_filter = -1;    // the filter that the scan runs; -1: none
  std::vector<PenumbraOperator> steps;  // from there on
  PenumbraOperator sink = -1;           // the breaker that takes the rows; -1: the output
};

// The pipelines of a finished plan in the order to run them: those that end in one sink are neighbours, and
// come before the one that reads it.
std::vector<PipelineSpec> FindPipelines(const Plan& plan);

class Pipeline {
 public:
  // `scan` or `source` is where the rows come from; Seal() of the latter returned `partitions`.
  Pipeline(const Plan& plan, const PipelineSpec& spec, Scan* scan, Sink* source, int partitions);

  const PipelineSpec& spec() const { return spec_; }
  const std::vector<const Operator*>& steps() const { return steps_; }
  Scan* scan() const { return scan_; }
  Sink* source() const { return source_; }
  bool is_output() const { return spec_.sink < 0; }
  // One thread must run it: the order of rows is the sort's.
  bool is_sequential() const { return is_sequential_; }
  // Whether a batch may be left for a thread that has not begun.
  bool HasWork() const;
  // -1 when none is left.
  int ClaimPartition();

 private:
  const PipelineSpec& spec_;
  std::vector<const Operator*> steps_;
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
  // One vector from source to the last step. The batch lives until the next call.
  Progress Next(EvalContext& context, Batch* batch);
  // One vector of pushed rows; the pipeline's source is the scan.
  Progress Push(const Rows& rows, uint32_t begin, uint32_t count, EvalContext& context, Batch* batch);

  // By operator; the source's and the steps' of this pipeline, and of the filter that its scan runs.
  void AddCounts(std::vector<OperatorCounts>* counts) const;
  // Null when the source is a sink.
  const ScanCounts* scan_counts() const { return scan_cursor_ == nullptr ? nullptr : &scan_cursor_->counts(); }

 private:
  Progress NextOfSource(Batch* batch);
  Progress RunSteps(EvalContext& context, Batch* batch);
  bool RunFilter(const Operator& filter, EvalContext& context, Batch* batch);
  void RunProjection(const Operator& projection, EvalContext& context, Batch* batch);

  Pipeline& pipeline_;
  ExecutionEnvironment& environment_;
  std::unique_ptr<ScanCursor> scan_cursor_;
  std::unique_ptr<Sink::Reader> reader_;
  std::vector<OperatorCounts> step_counts_;
  uint64_t source_rows_ = 0;  // of a sink
  uint64_t source_time_ns_ = 0;
};

}  // namespace penumbra

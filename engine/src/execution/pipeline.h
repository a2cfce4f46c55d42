// A pipeline: a source (the scan, or the partitions of the sink before), steps that work on a batch at
// a time (filter, projection, limit), and a sink or the query's output.
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

// Hands rows out to a LIMIT: which of the next rows are within offset and limit, in order of arrival.
class LimitCounter {
 public:
  LimitCounter(int64_t limit, int64_t offset) : begin_(offset), end_(limit < 0 ? -1 : offset + limit) {}
  // Of `rows` rows arriving now, [*first, *first + result) are wanted.
  uint32_t Take(uint32_t rows, uint32_t* first);
  // Rows that may still be wanted; UINT32_MAX when there is no limit or it is far.
  uint32_t RowsLeft() const;
  bool IsSatisfied() const { return end_ >= 0 && arrived_.load(std::memory_order_relaxed) >= end_; }

 private:
  const int64_t begin_;
  const int64_t end_;  // -1: none
  std::atomic<int64_t> arrived_{0};
};

class Pipeline {
 public:
  struct Step {
    const Stage* stage;
    int operator_index;
    std::vector<bool> needed;      // of the step's output columns
    std::unique_ptr<LimitCounter> limit;
  };

  // From the scan or from `source`, whose Seal() returned `partitions`. Takes stages from `first_stage`
  // up to the first that needs a sink; end_stage() is that stage or the number of stages.
  Pipeline(const Plan& plan, const std::vector<std::vector<bool>>& needed, size_t first_stage, Scan* scan,
           Sink* source, int partitions);

  size_t first_stage() const { return first_stage_; }
  size_t end_stage() const { return end_stage_; }
  Scan* scan() const { return scan_; }
  Sink* source() const { return source_; }
  const std::vector<Step>& steps() const { return steps_; }
  bool is_output() const { return is_output_; }
  // One thread must run it: the order of rows is the sort's.
  bool is_sequential() const { return is_sequential_; }
  // Whether a batch may be left for a thread that has not begun.
  bool HasWork() const;
  void Stop();
  bool IsSatisfied() const;
  // How many rows of the source can matter from now on: less than UINT32_MAX when a limit stands above it
  // with nothing between that drops rows.
  uint32_t SourceRowsLeft() const;
  // -1 when none is left.
  int ClaimPartition();

 private:
  const size_t first_stage_;
  Scan* const scan_;
  Sink* const source_;
  const int partitions_;
  std::atomic<int> next_partition_{0};
  std::atomic<bool> is_stopped_{false};
  std::vector<Step> steps_;
  size_t end_stage_ = 0;
  bool is_output_ = false;
  bool is_sequential_ = false;
};

class PipelineCursor {
 public:
  using Progress = ScanCursor::Progress;

  PipelineCursor(const Plan& plan, Pipeline& pipeline, ExecutionEnvironment& environment);

  // Called when the sink takes what this cursor gives.
  void SetSink(Sink* sink, Sink::Local* local);
  // One vector from source to the last step. The batch lives until the next call.
  Progress Next(EvalContext& context, Batch* batch);
  // One vector of pushed rows; the pipeline's source is the scan.
  Progress Push(const Rows& rows, uint32_t begin, uint32_t count, EvalContext& context, Batch* batch);

  // By operator index; the scan's and the steps' of this pipeline.
  void AddCounts(std::vector<OperatorCounts>* counts) const;
  // Null when the source is a sink.
  const ScanCounts* scan_counts() const { return scan_cursor_ == nullptr ? nullptr : &scan_cursor_->counts(); }

 private:
  Progress NextOfSource(Batch* batch);
  Progress RunSteps(EvalContext& context, Batch* batch);
  bool RunFilter(const Pipeline::Step& step, EvalContext& context, Batch* batch);
  void RunProjection(const Pipeline::Step& step, EvalContext& context, Batch* batch);
  bool RunLimit(const Pipeline::Step& step, EvalContext& context, Batch* batch);

  const Plan& plan_;
  Pipeline& pipeline_;
  ExecutionEnvironment& environment_;
  std::unique_ptr<ScanCursor> scan_cursor_;
  std::unique_ptr<Sink::Reader> reader_;
  std::vector<OperatorCounts> step_counts_;
  uint64_t source_rows_ = 0;  // of a sink
  uint64_t source_time_ns_ = 0;
};

}  // namespace penumbra

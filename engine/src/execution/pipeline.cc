#include "execution/pipeline.h"

#include <algorithm>
#include <chrono>

#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Adds the time of its scope to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(uint64_t* time_ns) : time_ns_(time_ns), started_(Clock::now()) {}
  ~Stopwatch() {
    *time_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - started_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  uint64_t* const time_ns_;
  const Clock::time_point started_;
};

bool IsStep(const Stage& stage) {
  return stage.kind != Stage::Kind::kAggregation && stage.kind != Stage::Kind::kSort;
}

// The needed columns of the rows selected[0..n).
Batch SelectRows(const Batch& batch, const std::vector<bool>& needed, const uint16_t* selected, uint32_t n,
                  Arena& arena) {
  auto* columns = arena.AllocateArray<Vector>(batch.column_count);
  for (uint32_t c = 0; c < batch.column_count; ++c) {
    columns[c] =
        needed[c] ? Gather(batch.columns[c], selected, n, arena) : NullConstant(batch.columns[c].type);
  }
  return {n, batch.column_count, columns};
}

}  // namespace

uint32_t LimitCounter::Take(uint32_t rows, uint32_t* first) {
  int64_t arrived = arrived_.fetch_add(rows, std::memory_order_relaxed);
  int64_t begin = std::max(begin_, arrived);
  int64_t end = arrived + rows;
  if (end_ >= 0) end = std::min(end, end_);
  if (begin >= end) return 0;
  *first = static_cast<uint32_t>(begin - arrived);
  return static_cast<uint32_t>(end - begin);
}

uint32_t LimitCounter::RowsLeft() const {
  if (end_ < 0) return UINT32_MAX;
  int64_t left = end_ - arrived_.load(std::memory_order_relaxed);
  return static_cast<uint32_t>(std::clamp<int64_t>(left, 0, UINT32_MAX));
}

Pipeline::Pipeline(const Plan& plan, const std::vector<std::vector<bool>>& needed, size_t first_stage, Scan* scan,
                   Sink* source, int partitions)
    : first_stage_(first_stage), scan_(scan), source_(source), partitions_(partitions) {
  const std::vector<Stage>& stages = plan.stages();
  size_t s = first_stage;
  bool has_limit = false;
  for (; s < stages.size() && IsStep(stages[s]); ++s) {
    // The scan runs the first filter.
    if (s == 0 && stages[s].kind == Stage::Kind::kFilter) continue;
    Step& step = steps_.emplace_back();
    step.stage = &stages[s];
    step.operator_index = static_cast<int>(s) + 1;
    step.needed = needed[s + 1];
    if (stages[s].kind == Stage::Kind::kLimit) {
      step.limit = std::make_unique<LimitCounter>(stages[s].limit, stages[s].offset);
      has_limit = true;
    }
  }
  end_stage_ = s;
  is_output_ = s == stages.size();
  is_sequential_ = source != nullptr && source->is_ordered() && (is_output_ || has_limit);
}

bool Pipeline::HasWork() const {
  if (is_stopped_.load(std::memory_order_relaxed)) return false;
  if (scan_ != nullptr) return scan_->HasWork();
  return next_partition_.load(std::memory_order_relaxed) < partitions_;
}

void Pipeline::Stop() {
  is_stopped_.store(true, std::memory_order_relaxed);
  if (scan_ != nullptr) scan_->Stop();
}

bool Pipeline::IsSatisfied() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.limit != nullptr && step.limit->IsSatisfied(); });
}

uint32_t Pipeline::SourceRowsLeft() const {
  for (const Step& step : steps_) {
    if (step.limit != nullptr) return step.limit->RowsLeft();
    if (step.stage->kind != Stage::Kind::kProjection) break;
  }
  return UINT32_MAX;
}

int Pipeline::ClaimPartition() {
  if (!HasWork()) return -1;
  int partition = next_partition_.fetch_add(1, std::memory_order_relaxed);
  return partition < partitions_ ? partition : -1;
}

PipelineCursor::PipelineCursor(const Plan& plan, Pipeline& pipeline, ExecutionEnvironment& environment)
    : plan_(plan), pipeline_(pipeline), environment_(environment), step_counts_(pipeline.steps().size()) {
  if (pipeline.scan() != nullptr) {
    scan_cursor_ = std::make_unique<ScanCursor>(*pipeline.scan(), pipeline.is_output(), environment);
  }
}

void PipelineCursor::SetSink(Sink* sink, Sink::Local* local) {
  if (scan_cursor_ != nullptr && pipeline_.steps().empty()) scan_cursor_->SetSink(sink, local);
}

PipelineCursor::Progress PipelineCursor::NextOfSource(Batch* batch) {
  environment_.CheckCancelled();
  if (reader_ == nullptr) {
    int partition = pipeline_.ClaimPartition();
    if (partition < 0) return Progress::kExhausted;
    reader_ = pipeline_.source()->OpenPartition(partition);
  } else if (pipeline_.IsSatisfied()) {
    return Progress::kExhausted;
  }
  if (reader_->Next(batch)) {
    source_rows_ += batch->rows;
    return Progress::kRows;
  }
  reader_.reset();
  return Progress::kNoRows;
}

PipelineCursor::Progress PipelineCursor::Next(EvalContext& context, Batch* batch) {
  Progress progress;
  {
    Stopwatch watch(&source_time_ns_);
    if (scan_cursor_ != nullptr) {
      progress = scan_cursor_->Next(pipeline_.SourceRowsLeft(), context, batch);
    } else {
      progress = NextOfSource(batch);
    }
  }
  return progress == Progress::kRows ? RunSteps(context, batch) : progress;
}

PipelineCursor::Progress PipelineCursor::Push(const Rows& rows, uint32_t begin, uint32_t count,
                                              EvalContext& context, Batch* batch) {
  Progress progress;
  {
    Stopwatch watch(&source_time_ns_);
    progress = scan_cursor_->Filter(rows, begin, count, pipeline_.SourceRowsLeft(), context, batch);
  }
  return progress == Progress::kRows ? RunSteps(context, batch) : progress;
}

PipelineCursor::Progress PipelineCursor::RunSteps(EvalContext& context, Batch* batch) {
  for (size_t i = 0; i < step_counts_.size(); ++i) {
    const Pipeline::Step& step = pipeline_.steps()[i];
    OperatorCounts& counts = step_counts_[i];
    Stopwatch watch(&counts.time_ns);
    counts.rows_in += batch->rows;
    bool any = true;
    switch (step.stage->kind) {
      case Stage::Kind::kFilter: any = RunFilter(step, context, batch); break;
      case Stage::Kind::kProjection: RunProjection(step, context, batch); break;
      case Stage::Kind::kLimit: any = RunLimit(step, context, batch); break;
      default: throw EngineError(PENUMBRA_INTERNAL, "a stage that is no step");
    }
    if (!any) return Progress::kNoRows;
    counts.rows_out += batch->rows;
  }
  if (context.memo != nullptr) context.memo->Begin(*batch);
  return Progress::kRows;
}

bool PipelineCursor::RunFilter(const Pipeline::Step& step, EvalContext& context, Batch* batch) {
  // Columns that only this filter reads stay until its last conjunct.
  std::vector<bool> kept(step.needed);
  for (size_t i = 1; i < step.stage->exprs.size(); ++i) {
    std::vector<int> columns;
    CollectColumns(*step.stage->exprs[i], &columns);
    for (int column : columns) kept[column] = true;
  }
  for (const Expr* conjunct : step.stage->exprs) {
    if (context.memo != nullptr) context.memo->Begin(*batch);
    // Kernels write whole words of 64 rows.
    auto* selected = context.arena.AllocateArray<uint16_t>((batch->rows + 63) / 64 * 64);
    uint32_t n = EvaluateFilter(*conjunct, *batch, context, selected);
    if (n == 0) return false;
    if (n < batch->rows) *batch = SelectRows(*batch, kept, selected, n, context.arena);
  }
  return true;
}

void PipelineCursor::RunProjection(const Pipeline::Step& step, EvalContext& context, Batch* batch) {
  if (context.memo != nullptr) context.memo->Begin(*batch);
  const std::vector<const Expr*>& exprs = step.stage->exprs;
  auto* columns = context.arena.AllocateArray<Vector>(exprs.size());
  for (size_t i = 0; i < exprs.size(); ++i) {
    columns[i] = step.needed[i] || exprs[i]->can_fail ? Evaluate(*exprs[i], *batch, context)
                                                       : NullConstant(exprs[i]->type);
  }
  *batch = {batch->rows, static_cast<uint32_t>(exprs.size()), columns};
}

bool PipelineCursor::RunLimit(const Pipeline::Step& step, EvalContext& context, Batch* batch) {
  uint32_t first = 0;
  uint32_t n = step.limit->Take(batch->rows, &first);
  if (step.limit->IsSatisfied()) pipeline_.Stop();
  if (n == 0) return false;
  if (n < batch->rows) {
    auto* selected = context.arena.AllocateArray<uint16_t>(n);
    for (uint32_t i = 0; i < n; ++i) selected[i] = static_cast<uint16_t>(first + i);
    *batch = SelectRows(*batch, step.needed, selected, n, context.arena);
  }
  return true;
}

void PipelineCursor::AddCounts(std::vector<OperatorCounts>* counts) const {
  const std::vector<Pipeline::Step>& steps = pipeline_.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    OperatorCounts& sum = (*counts)[steps[i].operator_index];
    sum.rows_in += step_counts_[i].rows_in;
    sum.rows_out += step_counts_[i].rows_out;
    sum.time_ns += step_counts_[i].time_ns;
  }
  if (scan_cursor_ == nullptr) {
    // The stage before the first is the sink that is read.
    OperatorCounts& sum = (*counts)[pipeline_.first_stage()];
    sum.rows_out += source_rows_;
    sum.time_ns += source_time_ns_;
    return;
  }
  // The scan and the filter that it runs are timed together.
  const ScanCounts& scan = scan_cursor_->counts();
  bool has_filter = !plan_.scan_filters().empty();
  (*counts)[0].rows_in += scan.rows_in;
  (*counts)[0].rows_out += has_filter ? scan.rows_in : scan.rows_out;
  (*counts)[0].time_ns += source_time_ns_;
  if (has_filter) {
    (*counts)[1].rows_in += scan.rows_in;
    (*counts)[1].rows_out += scan.rows_out;
  }
}

}  // namespace penumbra

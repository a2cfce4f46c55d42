#include "execution/pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "execution/prefilter_place.h"
#include "plan/operator_kinds.h"
#include "unnest/list_aggregation.h"
#include "unnest/unnest.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// The needed columns of the rows selected[0..n).
Batch SelectRows(const Batch& batch, const std::vector<bool>& needed, const uint16_t* selected, uint32_t n,
                 Arena& arena) {
  auto* columns = arena.AllocateArray<Vector>(batch.column_count);
  for (uint32_t c = 0; c < batch.column_count; ++c) {
    columns[c] = needed[c] ? Gather(batch.columns[c], selected, n, arena) : NullConstant(batch.columns[c].type);
  }
  return {n, batch.column_count, columns};
}

// Whether more rows may come out of the step than go in.
bool Multiplies(const Operator& step) {
  const PipelineRole role = KindOf(step).role;
  return role == PipelineRole::kMultiply || role == PipelineRole::kProbe;
}

class PipelineFinder {
 public:
  explicit PipelineFinder(const Plan& plan)
      : plan_(plan), is_sealed_(plan.operators().size()), is_read_(plan.operators().size()) {}

  // Those that end in the sink, and before them those that must run first.
  void FindInto(PenumbraOperator sink, PenumbraOperator top, std::vector<PipelineSpec>* pipelines) {
    std::vector<PipelineSpec> group;
    Descend(top, {.sink = sink}, &group, pipelines);
    std::move(group.begin(), group.end(), std::back_inserter(*pipelines));
  }

 private:
  // Goes down from `id`; `above` has what is known of the pipeline that it belongs to, the topmost step first.
  // `group` gets the pipelines that end where that one does, `before` those that must run first. Kept apart, so that
  // pipelines into one sink are neighbours.
  void Descend(PenumbraOperator id, PipelineSpec above, std::vector<PipelineSpec>* group,
               std::vector<PipelineSpec>* before) {
    const Operator& current = plan_.op(id);
    switch (KindOf(current).role) {
      case PipelineRole::kStep:
      case PipelineRole::kMultiply:
        if (current.runs_in_scan) {
          above.scan_filter = id;
        } else {
          above.steps.push_back(id);
        }
        Descend(current.inputs[0], std::move(above), group, before);
        return;
      case PipelineRole::kUnion:
        for (PenumbraOperator input : current.inputs) Descend(input, above, group, before);
        return;
      case PipelineRole::kProbe: {
        FindInto(id, current.inputs[1], before);
        PipelineSpec rest = above;
        above.steps.push_back(id);
        Descend(current.inputs[0], std::move(above), group, before);
        // Build rows, or what was spilled.
        AddPipeline(id, std::move(rest), group);
        return;
      }
      case PipelineRole::kRecursion:
        if (!is_sealed_[id]) FindBuildsOfTerm(current.inputs[1], before);
        [[fallthrough]];
      case PipelineRole::kBreaker:
        if (!is_sealed_[id]) FindInto(id, current.inputs[0], before);
        is_sealed_[id] = true;
        break;
      case PipelineRole::kWorkingTable:
      case PipelineRole::kSource: break;
    }
    AddPipeline(id, std::move(above), group);
  }
  // The term itself is no pipeline: whoever reads the recursion runs it.
  void FindBuildsOfTerm(PenumbraOperator id, std::vector<PipelineSpec>* before) {
    for (; KindOf(plan_.op(id)).role != PipelineRole::kWorkingTable; id = plan_.op(id).inputs[0]) {
      if (KindOf(plan_.op(id)).role == PipelineRole::kProbe) FindInto(id, plan_.op(id).inputs[1], before);
    }
  }
  // `above` has the steps from the topmost down.
  void AddPipeline(PenumbraOperator source, PipelineSpec above, std::vector<PipelineSpec>* group) {
    above.source = source;
    std::reverse(above.steps.begin(), above.steps.end());
    if (plan_.op(source).is_read_again) {
      above.reads_again = is_read_[source];
      is_read_[source] = true;
      for (PenumbraOperator step : above.steps) {
        if (!plan_.op(step).is_read_again) break;
        above.repeated_steps += is_read_[step];
        is_read_[step] = true;
      }
    }
    group->push_back(std::move(above));
  }

  const Plan& plan_;
  std::vector<bool> is_sealed_;  // breakers whose pipelines were found
  std::vector<bool> is_read_;    // of what is read again: by a pipeline
};

}  // namespace

void AddDroppedRows(const Scan& scan, const std::vector<uint64_t>& dropped_rows, std::vector<OperatorCounts>* counts) {
  for (size_t i = 0; i < dropped_rows.size(); ++i) {
    const int join = scan.filters()[i]->join;
    if (join >= 0) (*counts)[join].filtered_rows += dropped_rows[i];
  }
}

std::vector<PipelineSpec> FindPipelines(const Plan& plan) {
  std::vector<PipelineSpec> pipelines;
  PipelineFinder(plan).FindInto(-1, plan.output(), &pipelines);
  return pipelines;
}

PipelineSpec FindRecursiveTerm(const Plan& plan, PenumbraOperator recursion) {
  PipelineSpec term;
  term.source = plan.op(recursion).inputs[1];
  for (; KindOf(plan.op(term.source)).role != PipelineRole::kWorkingTable;
       term.source = plan.op(term.source).inputs[0]) {
    term.steps.push_back(term.source);
  }
  std::reverse(term.steps.begin(), term.steps.end());
  return term;
}

// From the end to where the column comes from. Steps keep a dictionary, but for projections that make another value.
const Vector* FindDictionary(const Plan& plan, const PipelineSpec& spec,
                             const std::vector<std::unique_ptr<Sink>>& sinks, const std::vector<int>& partitions,
                             int column) {
  static const Vector kNoRows;
  for (auto id = spec.steps.rbegin(); id != spec.steps.rend(); ++id) {
    const Operator& step = plan.op(*id);
    if (step.kind == Operator::Kind::kProjection) {
      const Expr& expr = *step.exprs[column];
      if (expr.kind != Expr::Kind::kColumn) return nullptr;
      column = expr.column;
    } else if (KindOf(step).role == PipelineRole::kMultiply) {
      if (static_cast<size_t>(column) >= step.unnest.input_columns) return nullptr;
    } else if (KindOf(step).role == PipelineRole::kProbe) {
      if (!step.join.has_probe_columns()) return &kNoRows;
      if (static_cast<size_t>(column) < step.join.probe_types.size()) continue;
      return step.join.has_build_columns() ? sinks[*id]->dictionary_of(column) : nullptr;
    }
  }
  if (sinks[spec.source] == nullptr) return nullptr;
  return partitions[spec.source] == 0 ? &kNoRows : sinks[spec.source]->dictionary_of(column);
}

Pipeline::Pipeline(const Plan& plan, const PipelineSpec& spec, Scan* scan, Sink* source, int partitions,
                   const std::vector<std::unique_ptr<Sink>>& sinks)
    : spec_(spec),
      scan_(scan),
      source_(source),
      partitions_(partitions),
      is_sequential_(source != nullptr && source->is_ordered() && spec.sink < 0) {
  for (PenumbraOperator step : spec.steps) {
    steps_.push_back(&plan.op(step));
    const bool is_join = KindOf(*steps_.back()).role == PipelineRole::kProbe;
    joins_.push_back(is_join ? static_cast<JoinSink*>(sinks[step].get()) : nullptr);
  }
}

bool Pipeline::multiplies_rows() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Operator* step) { return Multiplies(*step); });
}

bool Pipeline::HasWork() const {
  if (scan_ != nullptr) return scan_->HasWork();
  return next_partition_.load(std::memory_order_relaxed) < partitions_;
}

int Pipeline::ClaimPartition() {
  int partition = next_partition_.fetch_add(1, std::memory_order_relaxed);
  return partition < partitions_ ? partition : -1;
}

std::unique_ptr<MultiplyingStep> CreateStep(const Pipeline& pipeline, size_t number,
                                            ExecutionEnvironment& environment) {
  if (pipeline.join(number) != nullptr) return pipeline.join(number)->CreateProbe();
  const UnnestSpec& unnest = pipeline.steps()[number]->unnest;
  if (unnest.is_aggregated) return CreateListAggregation(unnest, environment);
  return CreateUnnest(unnest, &environment.budget);
}

PipelineCursor::PipelineCursor(Pipeline& pipeline, ExecutionEnvironment& environment)
    : pipeline_(pipeline), environment_(environment), step_counts_(pipeline.steps().size()) {
  if (pipeline.scan() != nullptr) {
    // Before such a step the batches are no results.
    const bool is_output = pipeline.is_output() && !pipeline.multiplies_rows();
    scan_cursor_ = std::make_unique<ScanCursor>(*pipeline.scan(), is_output, environment);
  }
  stretches_.emplace_back(&environment.budget);
  for (size_t i = 0; i < pipeline.steps().size(); ++i) {
    if (Multiplies(*pipeline.steps()[i])) {
      Stretch& added = stretches_.emplace_back(&environment.budget);
      added.source = CreateStep(pipeline, i, environment);
      added.source_step = i;
      added.begin = i + 1;
    }
    stretches_.back().end = i + 1;
  }
}

void PipelineCursor::SetSink(Sink* sink, Sink::Local* local) {
  if (scan_cursor_ != nullptr && pipeline_.steps().empty()) scan_cursor_->SetSink(sink, local);
  const PrefilterPlace place = FindPrefilterPlace(pipeline_.steps(), scan_cursor_ != nullptr, sink->prefilter_needs());
  if (place.kind == PrefilterPlace::Kind::kNone) return;
  prefilter_.emplace(sink, local, place.columns, place.all_come);
  if (place.kind == PrefilterPlace::Kind::kScan) {
    scan_cursor_->SetPrefilter(&*prefilter_);
    return;
  }
  for (Stretch& stretch : stretches_) {
    if (stretch.source != nullptr && stretch.source_step == place.step) stretch.source->SetPrefilter(&*prefilter_);
  }
}

void PipelineCursor::Push(const Rows& rows, uint32_t begin, uint32_t count) { pushed_ = {&rows, begin, count}; }

bool PipelineCursor::has_input() const {
  return pushed_.rows != nullptr || pushed_batch_.has_value() ||
         std::any_of(stretches_.begin() + 1, stretches_.end(),
                     [](const Stretch& stretch) { return stretch.source->is_pending(); });
}

void PipelineCursor::Flush() {
  for (Stretch& stretch : stretches_) {
    if (stretch.source != nullptr) stretch.source->Flush();
  }
}

PipelineCursor::Progress PipelineCursor::NextOfSink(Batch* batch) {
  if (reader_ == nullptr) {
    int partition = pipeline_.ClaimPartition();
    if (partition < 0) return Progress::kExhausted;
    reader_ = pipeline_.source()->OpenPartition(partition);
  }
  if (reader_->Next(batch)) {
    source_rows_ += batch->rows;
    return Progress::kRows;
  }
  reader_.reset();
  return Progress::kNoRows;
}

PipelineCursor::Progress PipelineCursor::NextOfSource(EvalContext& context, Batch* batch) {
  Stopwatch watch(environment_, &source_time_ns_);
  if (pushed_.rows != nullptr) {
    const PushedRows pushed = std::exchange(pushed_, {});
    return scan_cursor_->Filter(*pushed.rows, pushed.begin, pushed.count, context, batch);
  }
  if (scan_cursor_ != nullptr) return scan_cursor_->Next(context, batch);
  if (pipeline_.source() != nullptr) return NextOfSink(batch);
  if (!pushed_batch_.has_value()) return Progress::kExhausted;
  *batch = *std::exchange(pushed_batch_, std::nullopt);
  source_rows_ += batch->rows;
  return Progress::kRows;
}

// The input lies in the arena of the stretch below. That arena is reset only when the step has given all rows of the
// input. No watch runs during NextOfStretch(): the stretches below measure their own time.
PipelineCursor::Progress PipelineCursor::NextOfStep(size_t number, EvalContext& context, Batch* batch) {
  const Stretch& stretch = stretches_[number];
  OperatorCounts& counts = step_counts_[stretch.source_step];
  if (!stretch.source->is_pending()) {
    Stretch& below = stretches_[number - 1];
    below.arena.Reset();
    EvalContext input_context = environment_.MakeContext(below.arena, context.memo);
    Batch input;
    const Progress progress = NextOfStretch(number - 1, input_context, &input);
    if (progress == Progress::kExhausted) stretch.source->Flush();
    if (progress != Progress::kRows) return progress;
    Stopwatch watch(environment_, &counts.time_ns);
    counts.rows_in += input.rows;
    stretch.source->Begin(input, input_context);
  }
  Stopwatch watch(environment_, &counts.time_ns);
  if (!stretch.source->Next(context, batch)) return Progress::kNoRows;
  counts.rows_out += batch->rows;
  return Progress::kRows;
}

PipelineCursor::Progress PipelineCursor::NextOfStretch(size_t number, EvalContext& context, Batch* batch) {
  const Stretch& stretch = stretches_[number];
  const Progress progress =
      stretch.source != nullptr ? NextOfStep(number, context, batch) : NextOfSource(context, batch);
  return progress == Progress::kRows ? RunSteps(stretch, context, batch) : progress;
}

PipelineCursor::Progress PipelineCursor::Next(EvalContext& context, Batch* batch) {
  environment_.CheckCancelled();
  return NextOfStretch(stretches_.size() - 1, context, batch);
}

PipelineCursor::Progress PipelineCursor::RunSteps(const Stretch& stretch, EvalContext& context, Batch* batch) {
  for (size_t i = stretch.begin; i < stretch.end; ++i) {
    const Operator& step = *pipeline_.steps()[i];
    OperatorCounts& counts = step_counts_[i];
    Stopwatch watch(environment_, &counts.time_ns);
    counts.rows_in += batch->rows;
    if (step.kind == Operator::Kind::kFilter) {
      if (!RunFilter(step, context, batch)) return Progress::kNoRows;
    } else {
      RunProjection(step, context, batch);
    }
    counts.rows_out += batch->rows;
  }
  if (context.memo != nullptr) context.memo->Begin(*batch);
  return Progress::kRows;
}

bool PipelineCursor::RunFilter(const Operator& filter, EvalContext& context, Batch* batch) {
  // Columns that only this filter reads stay until its last conjunct.
  std::vector<bool> kept(filter.needed);
  for (size_t i = 1; i < filter.exprs.size(); ++i) {
    std::vector<int> columns;
    CollectColumns(*filter.exprs[i], &columns);
    for (int column : columns) kept[column] = true;
  }
  for (const Expr* conjunct : filter.exprs) {
    if (context.memo != nullptr) context.memo->Begin(*batch);
    // Kernels write whole words of 64 rows.
    auto* selected = context.arena.AllocateArray<uint16_t>((batch->rows + 63) / 64 * 64);
    uint32_t n = EvaluateFilter(*conjunct, *batch, context, selected);
    if (n == 0) return false;
    if (n < batch->rows) *batch = SelectRows(*batch, kept, selected, n, context.arena);
  }
  return true;
}

void PipelineCursor::RunProjection(const Operator& projection, EvalContext& context, Batch* batch) {
  if (context.memo != nullptr) context.memo->Begin(*batch);
  const std::vector<const Expr*>& exprs = projection.exprs;
  auto* columns = context.arena.AllocateArray<Vector>(exprs.size());
  for (size_t i = 0; i < exprs.size(); ++i) {
    columns[i] = projection.needed[i] || exprs[i]->can_fail ? Evaluate(*exprs[i], *batch, context)
                                                            : NullConstant(exprs[i]->type);
  }
  *batch = {batch->rows, static_cast<uint32_t>(exprs.size()), columns};
}

void PipelineCursor::AddCounts(std::vector<OperatorCounts>* counts) const {
  const PipelineSpec& spec = pipeline_.spec();
  for (size_t i = 0; i < spec.steps.size(); ++i) {
    OperatorCounts& sum = (*counts)[spec.steps[i]];
    sum.time_ns += step_counts_[i].time_ns;
    if (i < spec.repeated_steps) continue;
    sum.rows_in += step_counts_[i].rows_in;
    sum.rows_out += step_counts_[i].rows_out;
  }
  OperatorCounts& sum = (*counts)[spec.source];
  sum.time_ns += source_time_ns_;
  if (scan_cursor_ == nullptr) {
    if (!spec.reads_again) sum.rows_out += source_rows_;
    return;
  }
  // The scan and the filter that it runs are timed together.
  const ScanCounts& scan = scan_cursor_->counts();
  AddDroppedRows(*pipeline_.scan(), scan.dropped_rows, counts);
  sum.rows_in += scan.rows_in;
  sum.rows_out += spec.scan_filter < 0 ? scan.rows_out : scan.rows_in;
  if (spec.scan_filter >= 0) {
    (*counts)[spec.scan_filter].rows_in += scan.rows_in;
    (*counts)[spec.scan_filter].rows_out += scan.rows_out;
  }
}

}  // namespace penumbra

#include "execution/executor.h"

#include <algorithm>
#include <climits>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "aggregate/hash_aggregation.h"
#include "execution/build_row_numbers.h"
#include "execution/stop_points.h"
#include "plan/operator_kinds.h"
#include "recursion/recursion.h"

namespace penumbra {
namespace {

// A fetch works this long on the caller's thread, or waits this long, before it returns.
constexpr auto kPieceTime = std::chrono::milliseconds(10);
constexpr auto kWaitTime = std::chrono::milliseconds(20);
// A chunk that is waited for may end without a result, or a result may come before.
constexpr auto kChunkWaitTime = std::chrono::milliseconds(1);
// Starting a thread costs about as much as this many rows.
constexpr uint64_t kRowsPerThread = 64 * 1024;
// A finish over more rows may take longer than a caller may be kept.
constexpr uint64_t kCallerFinishRows = 128 * 1024;
// Reading more groups than this, or spilled ones, is left to engine threads.
constexpr uint64_t kCallerGroups = 32 * 1024;
constexpr size_t kQueuedBatchesPerThread = 8;
constexpr size_t kSharedBatchesPerThread = 4;
constexpr size_t kQueuedBytes = size_t{16} << 20;
// A peek looks at as many rows as the build reads, at least at so many; at more by so much where they are not decoded.
constexpr uint64_t kPeekRowsMin = 16 * 1024;
// Of the rows that will be pushed the engine does not know how many there are.
constexpr uint64_t kPushedRowsGuess = 64 * 1024;

uint64_t NanosecondsSince(std::chrono::steady_clock::time_point started) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - started).count();
}

}  // namespace

Executor::Executor(const Plan& plan, const PenumbraExecOptions& options)
    : plan_(plan),
      max_threads_(std::clamp(options.threads, 0, 1024)),
      tickets_(options),
      environment_(options.memory_budget_bytes, plan.session(), options.temporary_prefix, options.temporary_space,
                   SharedMemory{options.all_usage, options.own_usage, options.max_memory_bytes}),
      specs_(FindPipelines(plan)),
      scans_(plan.operators().size()),
      queue_(&environment_.budget, kQueuedBatchesPerThread * (max_threads_ + 1), kQueuedBytes),
      caller_(&environment_.budget, plan.memo_slots()),
      emptiness_(plan),
      sinks_(scans_.size()),
      terms_(scans_.size()),
      partitions_(scans_.size(), -1),
      rows_ended_(scans_.size()),
      counts_(scans_.size()) {
  std::copy(std::begin(options.interrupts), std::end(options.interrupts), environment_.interrupts);
  environment_.is_timed = options.is_timed;
  if (options.host_function != nullptr || options.host_frames != nullptr) {
    host_calls_ = std::make_unique<HostCalls>(options, &environment_.budget, [this] {
      std::lock_guard lock(mutex_);
      NotifyProgressLocked();
      queue_.Wake();
    });
    environment_.host = host_calls_.get();
  }
  for (PenumbraOperator id : plan.order()) {
    if (plan.IsScan(id)) scans_[id] = std::make_unique<Scan>(plan.op(id).scan);
  }
}

void Executor::Stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    environment_.is_cancelled.store(true, std::memory_order_relaxed);
    WakeAllLocked();
  }
  queue_.Close();
  if (host_calls_ != nullptr) host_calls_->Stop();
  threads_.clear();  // joined before the vector changes: until then they look whether it is empty
}

Executor::~Executor() {
  Stop();
  // What a thread holds of a sink goes before the sink.
  caller_.local.reset();
  caller_.cursor.reset();
}

bool Executor::NextLearned(PenumbraOperator scan, PenumbraLearned* learned) {
  Stop();
  return FindScan(scan)->NextLearned(learned);
}

Scan* Executor::FindScan(PenumbraOperator id) {
  if (!plan_.IsScan(id) || scans_[id] == nullptr)
    throw EngineError(PENUMBRA_INTERNAL, "a scan that the plan does not have");
  return scans_[id].get();
}

void Executor::AddChunk(PenumbraOperator scan, const PenumbraChunk& chunk) {
  if (is_started_) throw EngineError(PENUMBRA_INTERNAL, "a chunk after the start");
  FindScan(scan)->AddChunk(chunk);
}

bool Executor::TakesRowsFirst(PenumbraOperator scan) const {
  return std::any_of(specs_.begin(), specs_.end(), [this, scan](const PipelineSpec& spec) {
    if (spec.source != scan || !spec.steps.empty() || spec.sink < 0) return false;
    return OwnValuesKey(plan_.op(spec.sink).aggregation) >= 0;  // of other kinds that is empty
  });
}

void Executor::Start() {
  if (is_started_) throw EngineError(PENUMBRA_INTERNAL, "started twice");
  is_started_ = true;
  const ThreadTickets::Call call(tickets_);
  uint64_t rows = 0;
  for (const auto& scan : scans_) {
    if (scan != nullptr) rows = std::max(rows, scan->total_rows());
  }
  Lock lock(mutex_);
  const int threads = CountThreads(rows);
  KnowScansLocked();
  BeginPipelineLocked(0);
  AdvanceLocked();
  unstarted_threads_ = threads;
  StartThreadsLocked(tickets_.free_tickets());
}

// For the work on so many rows. One more than run beside the caller: while the caller waits, as it does for the finish
// of a sink, that one has its processor.
int Executor::CountThreads(uint64_t rows) {
  const auto threads = static_cast<int>(std::min<uint64_t>(max_threads_, rows / kRowsPerThread));
  environment_.thread_count = threads + 1;
  return threads + (threads > 0 && tickets_.are_shared() ? 1 : 0);
}

// So many of those that are not started yet. The caller calls it.
void Executor::StartThreadsLocked(int count) {
  for (int left = std::min(count, unstarted_threads_); left > 0; --left) {
    EngineThread thread([this] { RunThread(); });
    if (!thread.is_running()) {
      // Fewer threads are slower, not wrong.
      unstarted_threads_ = 0;
      return;
    }
    threads_.push_back(std::move(thread));
    --unstarted_threads_;
  }
}

// Long finishes belong to engine threads: the caller has interrupts to look at. That holds without
// parallelism too; then one thread works while the caller waits. Only a caller without threads gets beyond the first
// line, so nobody reads thread_count meanwhile.
void Executor::EnsureThreadsLocked(uint64_t rows) {
  if (!threads_.empty() || rows < kCallerFinishRows) return;
  unstarted_threads_ = std::max(1, CountThreads(rows));
  StartThreadsLocked(std::max(1, tickets_.free_tickets()));
}

// What is known of scans without looking at their rows. Chunks that are not there yet would have to stay in memory
// while others are built.
void Executor::KnowScansLocked() {
  for (PenumbraOperator id : plan_.order()) {
    const Scan* scan = scans_[id].get();
    if (scan == nullptr) continue;
    emptiness_.SetRows(id, scan->total_rows() + (rows_ended_[id] ? 0 : kPushedRowsGuess));
    if (scan->expects_chunks() || scan->has_added_rows() || (scan->HasWork() && scan->filters().empty())) {
      emptiness_.Set(id, false);
    } else if (!scan->HasWork() && rows_ended_[id]) {
      emptiness_.Set(id, true);
    }
  }
}

// Before a build whose probe side may be empty comes a look at that side.
void Executor::BeginPipelineLocked(size_t number) {
  number_ = number;
  is_unneeded_ = emptiness_.IsUnneeded(specs_[number].source);
  const Emptiness::Peek peek = is_unneeded_ ? Emptiness::Peek() : emptiness_.FindPeek(specs_[number].source);
  if (peek.scan >= 0) {
    SetUpPeekLocked(peek);
  } else {
    SetUpPipelineLocked(specs_[number]);
  }
  phase_ = Phase::kConsume;
  active_ = 0;
}

void Executor::SetUpPipelineLocked(const PipelineSpec& spec) {
  Sink* source = sinks_[spec.source].get();
  pipeline_ =
      std::make_unique<Pipeline>(plan_, spec, scans_[spec.source].get(), source, partitions_[spec.source], sinks_);
  sink_ = nullptr;
  if (spec.sink >= 0) {
    if (sinks_[spec.sink] == nullptr) {
      sinks_[spec.sink] = CreateSink(spec.sink);
      has_combined_ = false;
      consumed_rows_ = 0;
    }
    sink_ = sinks_[spec.sink].get();
  }
  if (Scan* scan = scans_[spec.source].get(); scan != nullptr && !is_unneeded_) {
    AddKeyFilters(scan);
    FindOwnValues(spec, scan);
  }
  caller_reads_ = true;
  if (source != nullptr) {
    SinkStats stats = source->stats();
    // What is on disk takes longer to read than a caller may be kept. Of a sort it is one partition, so one thread's.
    if (stats.spilled_bytes > 0) EnsureThreadsLocked(kCallerFinishRows);
    const bool is_small = pipeline_->is_sequential() || stats.groups + stats.build_rows <= kCallerGroups;
    caller_reads_ = threads_.empty() || (is_small && stats.spilled_bytes == 0);
  }
}

// Takes part in nothing but the schedule: no sink, no steps, no runtime filters, which others have to build first.
void Executor::SetUpPeekLocked(const Emptiness::Peek& peek) {
  const auto reads_scan = [&peek](const PipelineSpec& spec) { return spec.source == peek.scan; };
  const auto reader = std::find_if(specs_.begin(), specs_.end(), reads_scan);
  peek_spec_ = {.source = peek.scan, .scan_filter = reader->scan_filter, .is_peek = true};
  pipeline_ = std::make_unique<Pipeline>(plan_, peek_spec_, scans_[peek.scan].get(), nullptr, -1, sinks_);
  sink_ = nullptr;
  caller_reads_ = true;
  may_have_rows_.store(false, std::memory_order_relaxed);
  peek_cost_left_.store(static_cast<int64_t>(ScanCursor::kDecodedCost * std::max(peek.build_rows, kPeekRowsMin)),
                        std::memory_order_relaxed);
}

void Executor::EndPeekLocked() {
  emptiness_.Set(peek_spec_.source, !may_have_rows_.load(std::memory_order_relaxed));
  BeginPipelineLocked(number_);
  WakeThreadsLocked(INT_MAX);
}

// All that its pipelines read is sealed when the first of them begins.
std::unique_ptr<Sink> Executor::CreateSink(PenumbraOperator id) {
  const Operator& op = plan_.op(id);
  return KindOf(op).create_sink(op, {environment_, [this, id](int column) { return FindDictionary(id, column); },
                                     [this, id] { return NumberBuildRows(plan_, specs_, id, sinks_, environment_); }});
}

// What Sink::dictionary_of() says of a column of a sink's input.
const Vector* Executor::FindDictionary(PenumbraOperator sink, int column) const {
  const Vector* found = nullptr;
  for (const PipelineSpec& spec : specs_) {
    if (spec.sink != sink) continue;
    const Vector* dictionary = penumbra::FindDictionary(plan_, spec, sinks_, partitions_, column);
    if (dictionary == nullptr) return nullptr;
    if (dictionary->dictionary_id == 0) continue;
    if (found != nullptr && found->dictionary_id != dictionary->dictionary_id) return nullptr;
    found = dictionary;
  }
  return found;
}

// The joins whose keys the scan's columns are have built.
void Executor::AddKeyFilters(Scan* scan) {
  for (const RuntimeFilter& filter : scan->spec().runtime_filters) {
    if (partitions_[filter.join] < 0) throw EngineError(PENUMBRA_INTERNAL, "a runtime filter before its build");
    const KeyFilter* keys = static_cast<JoinSink*>(sinks_[filter.join].get())->key_filter(filter.key);
    if (keys != nullptr) scan->AddKeyFilter(filter, *keys);
  }
}

// What a sink gets from elsewhere, or later, may have any values.
void Executor::FindOwnValues(const PipelineSpec& spec, Scan* scan) {
  const int column =
      sink_ != nullptr && spec.steps.empty() && rows_ended_[spec.source] ? sink_->own_values_column() : -1;
  const auto feeds_sink = [&spec](const PipelineSpec& other) { return other.sink == spec.sink; };
  if (column >= 0 && std::count_if(specs_.begin(), specs_.end(), feeds_sink) == 1) scan->FindOwnValues(column);
}

bool Executor::ExpectsRowsLocked() const {
  if (is_unneeded_ || (pipeline_->is_peek() && may_have_rows_.load(std::memory_order_relaxed))) return false;
  return phase_ == Phase::kConsume && pipeline_->scan() != nullptr && !rows_ended_[pipeline_->spec().source];
}

template <typename Work>
void Executor::RunGuarded(const Work& work) {
  try {
    work();
  } catch (const EngineError& error) {
    Fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    Fail(PENUMBRA_OUT_OF_MEMORY, "");
  } catch (const std::exception& error) {
    Fail(PENUMBRA_INTERNAL, error.what());
  }
}

void Executor::Fail(PenumbraCode code, const char* message) {
  std::lock_guard lock(mutex_);
  if (!error_.has_value()) error_.emplace(code, message);
  environment_.is_cancelled.store(true, std::memory_order_relaxed);
  queue_.Close();
  queue_.Wake();
  WakeAllLocked();
  NotifyProgressLocked();
}

EngineError Executor::first_error() const {
  std::lock_guard lock(mutex_);
  return error_.value_or(EngineError(PENUMBRA_INTERNAL, "no error"));
}

void Executor::NotifyProgressLocked() {
  ++progress_count_;
  progress_.notify_all();
}

void Executor::ThrowIfFailedLocked() const {
  if (error_.has_value()) throw EngineError(*error_);
}

void Executor::RunThread() {
  Worker worker(&environment_.budget, plan_.memo_slots());
  Lock lock(mutex_);
  while (!is_stopping_ && !error_.has_value()) {
    if (!HasThreadWorkLocked() || !TryTakeTicketLocked(&worker)) {
      WaitLocked(&work_ready_, &work_waiters_, &lock);
      continue;
    }
    if (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      RunGuarded([this, &task] { RunTask(&task); });
      lock.lock();
    } else if (JoinLocked(&worker, false)) {
      lock.unlock();
      RunGuarded([this, &worker] { ConsumeAll(&worker); });
      lock.lock();
    }  // else others, who need no lock for it, have claimed what was left
    GiveTicketLocked(&worker);
  }
}

// As many as there are tickets for, or they would run only to see that there is none. Who gives one looks for work
// itself, and the caller for whom to give it to.
void Executor::WakeThreadsLocked(int count) {
  count = std::min({count, work_waiters_, tickets_.free_tickets()});
  for (int i = 0; i < count; ++i) work_ready_.notify_one();
}

void Executor::WakeAllLocked() {
  work_ready_.notify_all();
  ticket_ready_.notify_all();
}

void Executor::WaitLocked(std::condition_variable* ready, int* waiters, Lock* lock) {
  ++*waiters;
  ready->wait(*lock);
  --*waiters;
}

bool Executor::TryTakeTicketLocked(Worker* worker) {
  worker->has_ticket = tickets_.TryTake();
  return worker->has_ticket;
}

void Executor::GiveTicketLocked(Worker* worker) {
  if (worker->has_ticket) tickets_.Give();
  worker->has_ticket = false;
}

// The caller looks, before each piece of its own work and when it waits, whether another thread may run.
void Executor::UseTicketsLocked(bool has_work) {
  const bool is_waiting = ticket_waiters_ > 0 || (has_work && work_waiters_ + unstarted_threads_ > 0);
  tickets_.SetWaiting(is_waiting);
  if (!is_waiting || !tickets_.are_shared() || !tickets_.MayTake()) return;
  if (ticket_waiters_ > 0) {
    ticket_ready_.notify_one();
  } else if (work_waiters_ > 0) {
    work_ready_.notify_one();
  } else {
    StartThreadsLocked(1);
  }
}

// Waits, between two morsels and without a ticket, until there are rows and a ticket for them. If the pipeline comes
// to its end before that, the worker is out of it.
void Executor::ResumeLocked(Worker* worker, Lock* lock) {
  paused_.push_back(worker);
  if (IsConsumedLocked()) LeavePausedLocked();
  while (worker->pipeline != nullptr) {
    const bool is_over = is_stopping_ || error_.has_value();
    if (is_over || (worker->pipeline->HasWork() && TryTakeTicketLocked(worker))) {
      std::erase(paused_, worker);
      environment_.CheckCancelled();
      worker->counted_until = Clock::now();
      return;
    }
    WaitLocked(&work_ready_, &work_waiters_, lock);
  }
}

// Whoever sees the end of the pipeline takes out those that wait for a ticket, which have nothing left to run for. What
// they have in a sink becomes a task.
void Executor::LeavePausedLocked() {
  for (Worker* worker : std::exchange(paused_, {})) LeaveLocked(worker);
}

// Between two morsels, so that what the thread has claimed does not wait. What it has in a sink is combined later.
void Executor::MayGiveTicket(Worker* worker) {
  if (!tickets_.are_shared()) return;
  const auto now = Clock::now();
  tickets_.AddWork(now - worker->counted_until);
  worker->counted_until = now;
  if (!tickets_.IsNeededElsewhere()) return;
  worker->cursor->Flush();
  Lock lock(mutex_);
  if (!tickets_.TryGive()) return;
  worker->has_ticket = false;
  worker->cursor->LeaveChunk();
  ResumeLocked(worker, &lock);
}

// Who waits for the caller to fetch does not run.
void Executor::PushResult(Worker* worker) {
  if (queue_.TryPush(&worker->batch)) return;
  {
    Lock lock(mutex_);
    GiveTicketLocked(worker);
  }
  queue_.Push(std::move(worker->batch));
  Lock lock(mutex_);
  while (!TryTakeTicketLocked(worker)) {
    environment_.CheckCancelled();
    WaitLocked(&ticket_ready_, &ticket_waiters_, &lock);
  }
  worker->counted_until = Clock::now();
}

bool Executor::CanJoinLocked(bool is_caller) const {
  if (phase_ != Phase::kConsume) return false;
  const Pipeline* pipeline = pipeline_.get();
  if (is_unneeded_ || (pipeline->is_peek() && may_have_rows_.load(std::memory_order_relaxed))) return false;
  if (!pipeline->HasWork() && !(is_caller && ExpectsRowsLocked())) return false;
  if (!caller_reads_) {
    if (is_caller) return false;
  } else if (!is_caller) {
    // Without parallelism the one thread there may be is for what would keep the caller too long. Few
    // rows of a sink are not worth the copy that a queue needs.
    bool is_small = pipeline->source() != nullptr && pipeline->is_output();
    if (max_threads_ == 0 || is_small || pipeline->is_sequential()) return false;
  }
  return true;
}

bool Executor::JoinLocked(Worker* worker, bool is_caller) {
  if (!is_caller) StopAt(StopPoint::kBeforeJoin, *pipeline_, active_);
  if (!CanJoinLocked(is_caller)) return false;
  ++active_;
  worker->pipeline = pipeline_.get();
  worker->sink = sink_;
  return true;
}

void Executor::OpenCursor(Worker* worker) {
  if (worker->cursor != nullptr) return;
  worker->cursor = std::make_unique<PipelineCursor>(*worker->pipeline, environment_);
  if (worker->sink == nullptr) return;
  worker->local = worker->sink->CreateLocal();
  worker->cursor->SetSink(worker->sink, worker->local.get());
}

void Executor::ConsumeAll(Worker* worker) {
  StopAt(StopPoint::kJoined, *worker->pipeline, 0);
  OpenCursor(worker);
  worker->counted_until = Clock::now();
  while (worker->pipeline != nullptr) {
    environment_.CheckCancelled();
    PipelineCursor::Progress progress = Step(worker);
    if (progress == PipelineCursor::Progress::kExhausted) {
      AwaitRows(worker);
    } else {
      if (progress == PipelineCursor::Progress::kRows && worker->sink == nullptr) PushResult(worker);
      if (worker->cursor->is_between_morsels()) MayGiveTicket(worker);
    }
  }
}

// A thread that finds no work stays while rows may come, since what it has in a sink is combined when it leaves.
void Executor::AwaitRows(Worker* worker) {
  if (worker->sink != nullptr) {
    Lock lock(mutex_);
    if (worker->pipeline->HasWork()) return;
    if (ExpectsRowsLocked()) {
      GiveTicketLocked(worker);
      ResumeLocked(worker, &lock);
      return;
    }
  }
  Leave(worker, false);
}

PipelineCursor::Progress Executor::Step(Worker* worker) {
  if (worker->pipeline->is_peek()) return StepPeek(worker);
  return worker->sink != nullptr ? StepIntoSink(worker) : StepIntoBatch(worker);
}

PipelineCursor::Progress Executor::StepPeek(Worker* worker) {
  if (may_have_rows_.load(std::memory_order_relaxed)) return PipelineCursor::Progress::kExhausted;
  worker->arena.Reset();
  EvalContext context = environment_.MakeContext(worker->arena, &worker->memo);
  uint64_t cost = 0;
  const PipelineCursor::Progress progress = worker->cursor->FindRow(context, &cost);
  const auto left = peek_cost_left_.fetch_sub(static_cast<int64_t>(cost), std::memory_order_relaxed);
  if (progress == PipelineCursor::Progress::kExhausted) return progress;
  if (progress == PipelineCursor::Progress::kRows || left <= static_cast<int64_t>(cost)) may_have_rows_ = true;
  return PipelineCursor::Progress::kNoRows;
}

PipelineCursor::Progress Executor::StepIntoSink(Worker* worker) {
  worker->arena.Reset();
  EvalContext context = environment_.MakeContext(worker->arena, &worker->memo);
  Batch batch;
  PipelineCursor::Progress progress = worker->cursor->Next(context, &batch);
  if (progress == PipelineCursor::Progress::kRows) ConsumeBatch(worker, batch, context);
  return progress;
}

void Executor::ConsumeBatch(Worker* worker, const Batch& batch, EvalContext& context) {
  Stopwatch watch(environment_, &worker->sink_counts.time_ns);
  worker->sink->Consume(*worker->local, batch, context);
  worker->sink_counts.rows_in += batch.rows;
}

PipelineCursor::Progress Executor::StepIntoBatch(Worker* worker) {
  if (worker->batch == nullptr) worker->batch = queue_.Allocate();
  worker->batch->Clear();
  EvalContext context = environment_.MakeContext(worker->batch->arena(), &worker->memo);
  Batch batch;
  PipelineCursor::Progress progress = worker->cursor->Next(context, &batch);
  if (progress != PipelineCursor::Progress::kRows) return progress;
  // The readers of a sink, and what runs below a step that multiplies rows, use their memory again for the next batch,
  // which may come before this one is fetched; and a pushed chunk is finished when its last batch is.
  const bool is_elsewhere = worker->pipeline->source() != nullptr || worker->pipeline->multiplies_rows() ||
                            worker->cursor->is_at_pushed_chunk();
  if (is_elsewhere && worker != &caller_) {
    worker->batch->SetCopy(batch);
  } else {
    worker->batch->Set(batch);
  }
  return progress;
}

void Executor::Leave(Worker* worker, bool is_caller) {
  OperatorCounts& counts = worker->sink_counts;
  bool combines_here = worker->local != nullptr;
  if (combines_here && is_caller) {
    Lock lock(mutex_);
    EnsureThreadsLocked(counts.rows_in);
    combines_here = threads_.empty();
  }
  if (combines_here) {
    auto started = Clock::now();
    worker->sink->Combine(*worker->local);
    counts.time_ns += NanosecondsSince(started);
    worker->local.reset();
  }
  Lock lock(mutex_);
  LeaveLocked(worker);
}

void Executor::LeaveLocked(Worker* worker) {
  if (IsConsumedLocked()) LeavePausedLocked();
  has_combined_ = has_combined_ || worker->sink != nullptr;
  consumed_rows_ += worker->sink_counts.rows_in;
  AddCounts(*worker, &counts_);
  if (const ScanCounts* scan = worker->cursor->scan_counts()) {
    pushed_rows_ += scan->pushed_rows;
    summarized_rows_ += scan->summarized_rows;
    recalled_rows_ += scan->recalled_rows;
    recalled_vectors_ += scan->recalled_vectors;
    decoded_bytes_ += scan->decoded_bytes;
  }
  if (worker->sink != nullptr) {
    const PenumbraOperator sink = worker->pipeline->spec().sink;
    OperatorCounts& counts = counts_[sink];
    // A join's are those that probe it.
    if (KindOf(plan_.op(sink)).role != PipelineRole::kProbe) counts.rows_in += worker->sink_counts.rows_in;
    counts.time_ns += worker->sink_counts.time_ns;
  }
  worker->sink_counts = {};
  if (worker->pipeline->is_peek()) {
    worker->cursor->GiveBack();
    NotifyProgressLocked();
  }
  worker->cursor.reset();
  worker->pipeline = nullptr;
  worker->sink = nullptr;
  if (worker->local != nullptr) {
    // Still active until the task is done.
    AddTaskLocked({Task::Kind::kCombine, 0, std::move(worker->local)});
    return;
  }
  --active_;
  AdvanceLocked();
}

void Executor::AddTaskLocked(Task task) {
  tasks_.push_back(std::move(task));
  WakeThreadsLocked(1);
}

void Executor::RunTask(Task* task) {
  Sink* sink;
  bool needs_local;
  {
    std::lock_guard lock(mutex_);
    sink = sink_;
    needs_local = task->kind == Task::Kind::kPrepare && !has_combined_;
    has_combined_ = has_combined_ || needs_local;
  }
  auto started = Clock::now();
  int result = 0;
  switch (task->kind) {
    case Task::Kind::kCombine:
      sink->Combine(*task->local);
      task->local.reset();
      break;
    case Task::Kind::kPrepare:
      // A sink sees at least one thread, also of an empty input.
      if (needs_local) sink->Combine(*sink->CreateLocal());
      result = sink->PrepareFinish();
      break;
    case Task::Kind::kFinish: sink->RunFinishTask(task->index); break;
    case Task::Kind::kSeal:
      result = sink->Seal();
      SetTerm(pipeline_->spec().sink);
      break;
  }
  const uint64_t time_ns = NanosecondsSince(started);
  tickets_.AddWork(std::chrono::nanoseconds(time_ns));
  std::lock_guard lock(mutex_);
  FinishTaskLocked(*task, result, time_ns);
}

// Of a recursion that is sealed, whose joins were built before.
void Executor::SetTerm(PenumbraOperator id) {
  if (KindOf(plan_.op(id)).role != PipelineRole::kRecursion) return;
  terms_[id] = std::make_unique<RecursiveTerm>(plan_, id, sinks_, environment_);
  static_cast<RecursionSink*>(sinks_[id].get())->SetTerm(terms_[id].get());
}

// Of the cursor, and of the recursion that it runs. Those who read that again add nothing.
void Executor::AddCounts(const Worker& worker, std::vector<OperatorCounts>* counts) const {
  const PipelineSpec& spec = worker.pipeline->spec();
  worker.cursor->AddCounts(counts);
  if (terms_[spec.source] != nullptr && !spec.reads_again) terms_[spec.source]->AddCounts(counts);
}

// The phases of a sink: prepare, then the finish tasks that it asked for, and prepare again until it asks for none;
// then seal, and the next pipeline begins. The last task of a phase begins the next one. Combining is part of
// consuming.
void Executor::FinishTaskLocked(const Task& task, int result, uint64_t time_ns) {
  const PenumbraOperator breaker = pipeline_->spec().sink;
  counts_[breaker].time_ns += time_ns;
  switch (task.kind) {
    case Task::Kind::kCombine:
      --active_;
      AdvanceLocked();
      return;
    case Task::Kind::kPrepare:
      phase_ = result > 0 ? Phase::kFinish : Phase::kSeal;
      unfinished_tasks_ = result;
      for (int i = 0; i < result; ++i) AddTaskLocked({Task::Kind::kFinish, i, nullptr});
      if (result == 0) AddTaskLocked({Task::Kind::kSeal, 0, nullptr});
      break;
    case Task::Kind::kFinish:
      if (--unfinished_tasks_ > 0) return;
      phase_ = Phase::kPrepare;
      AddTaskLocked({Task::Kind::kPrepare, 0, nullptr});
      break;
    case Task::Kind::kSeal:
      partitions_[breaker] = result;
      if (KindOf(plan_.op(breaker)).role == PipelineRole::kProbe) {
        emptiness_.Set(plan_.op(breaker).inputs[1], sinks_[breaker]->stats().build_rows == 0);
      } else {
        emptiness_.Set(breaker, result == 0);
      }
      BeginPipelineLocked(number_ + 1);
      WakeThreadsLocked(INT_MAX);
      AdvanceLocked();
      break;
  }
  NotifyProgressLocked();
}

bool Executor::IsConsumedLocked() const {
  if (is_unneeded_ || (pipeline_->is_peek() && may_have_rows_.load(std::memory_order_relaxed))) return true;
  return !pipeline_->HasWork() && !ExpectsRowsLocked();
}

// Ends the consuming phase when there is nothing left to consume and nobody is at it.
void Executor::AdvanceLocked() {
  while (phase_ == Phase::kConsume && active_ == 0 && !error_.has_value() && IsConsumedLocked()) {
    if (pipeline_->is_peek()) {
      EndPeekLocked();
      NotifyProgressLocked();
      continue;
    }
    const bool is_last = number_ + 1 == specs_.size();
    if (!is_last && specs_[number_ + 1].sink == specs_[number_].sink) {
      // Of a union: the next pipeline goes on with the same sink.
      BeginPipelineLocked(number_ + 1);
      WakeThreadsLocked(INT_MAX);
    } else if (sink_ == nullptr) {
      phase_ = Phase::kDone;
      queue_.Wake();
    } else {
      phase_ = Phase::kPrepare;
      EnsureThreadsLocked(consumed_rows_);
      AddTaskLocked({Task::Kind::kPrepare, 0, nullptr});
    }
    NotifyProgressLocked();
  }
}

PenumbraOperator Executor::WantedScan() const {
  std::lock_guard lock(mutex_);
  return is_started_ && !error_.has_value() && WantsRowsLocked() ? pipeline_->spec().source : -1;
}

// A peek looks at the chunks first, and wants rows when no thread can find one there any more.
bool Executor::WantsRowsLocked() const {
  if (!ExpectsRowsLocked() || !pushed_.empty()) return false;
  return !pipeline_->is_peek() || (!pipeline_->HasWork() && active_ == (caller_.pipeline != nullptr ? 1 : 0));
}

PenumbraOperator Executor::NextScan() const {
  std::lock_guard lock(mutex_);
  return NextScanLocked();
}

PenumbraOperator Executor::NextScanLocked() const {
  const bool is_peek = is_started_ && pipeline_->is_peek();
  for (size_t number = number_ + (is_peek ? 0 : 1); is_started_ && number < specs_.size(); ++number) {
    const PenumbraOperator source = specs_[number].source;
    if (emptiness_.IsUnneeded(source)) continue;
    if (scans_[source] != nullptr) return scans_[source]->spec().runtime_filters.empty() ? source : -1;
  }
  return -1;
}

void Executor::CheckWantedLocked(PenumbraOperator scan) const {
  ThrowIfFailedLocked();
  if (!is_started_ || !ExpectsRowsLocked() || pipeline_->spec().source != scan) {
    throw EngineError(PENUMBRA_INTERNAL, "rows for a scan that does not want them");
  }
}

// Leaves rows to the engine's threads; false: they have enough, or there are none. What is no sink's input goes out in
// batches that refer to the rows.
template <typename Add>
bool Executor::ShareLocked(const Add& add) {
  if (threads_.empty() || sink_ == nullptr) return false;
  if (!add(pipeline_->scan(), kSharedBatchesPerThread * threads_.size(), kQueuedBytes)) return false;
  WakeThreadsLocked(1);
  return true;
}

void Executor::PushTuples(PenumbraOperator scan, Tuples* tuples) {
  if (!is_started_) {
    FindScan(scan)->TryAddTuples(tuples, SIZE_MAX, SIZE_MAX);
    return;
  }
  {
    const ThreadTickets::Call call(tickets_);
    Lock lock(mutex_);
    CheckWantedLocked(scan);
    if (tuples->row_count() == 0) return;
    environment_.budget.Admit(tuples->byte_count());
    UseTicketsLocked(sink_ != nullptr);
    if (ShareLocked(
            [tuples](Scan* to, size_t batches, size_t bytes) { return to->TryAddTuples(tuples, batches, bytes); }))
      return;
  }
  const std::unique_ptr<Rows> rows = tuples->ToRows();
  tuples->Clear();
  PushRows(scan, *rows);
}

void Executor::PushRows(PenumbraOperator scan, const Rows& rows) {
  if (!is_started_) {
    FindScan(scan)->TryAddRows(rows, SIZE_MAX, SIZE_MAX);
    return;
  }
  const ThreadTickets::Call call(tickets_);
  {
    Lock lock(mutex_);
    CheckWantedLocked(scan);
    if (rows.row_count() == 0) return;
    environment_.budget.Admit(rows.byte_count());
    UseTicketsLocked(sink_ != nullptr);
    if (ShareLocked([&rows](Scan* to, size_t batches, size_t bytes) { return to->TryAddRows(rows, batches, bytes); }))
      return;
    if (caller_.pipeline == nullptr && !JoinLocked(&caller_, true)) return;
  }
  OpenCursor(&caller_);
  if (caller_.pipeline->is_peek()) {
    PeekRows(rows);
    return;
  }
  if (!caller_.pipeline->multiplies_rows()) {
    for (uint32_t begin = 0; begin < rows.row_count(); begin += kVectorRows) {
      caller_.cursor->Push(rows, begin, std::min(kVectorRows, rows.row_count() - begin));
      RunPushedRows();
    }
    return;
  }
  // Such a step may make more of them than a call may take: the rest is for Fetch().
  pushed_.push_back(rows);
  const auto begun = Clock::now();
  while (FeedPushedRows() && Clock::now() - begun < kPieceTime) RunPushedRows();
}

// Rows of which one may pass wait for the pipeline that reads them.
void Executor::PeekRows(const Rows& rows) {
  caller_.arena.Reset();
  EvalContext context = environment_.MakeContext(caller_.arena, &caller_.memo);
  if (!caller_.cursor->FindRow(rows, context)) return;
  caller_.pipeline->scan()->TryAddRows(rows, SIZE_MAX, SIZE_MAX);
  may_have_rows_ = true;
}

// Gives the caller's cursor the next of the rows handed in, when it has done with those before; false: none is left.
bool Executor::FeedPushedRows() {
  if (caller_.cursor->has_input()) return true;
  while (!pushed_.empty()) {
    const Rows& rows = pushed_.front();
    if (pushed_begin_ < rows.row_count()) {
      const uint32_t count = std::min(kVectorRows, rows.row_count() - pushed_begin_);
      caller_.cursor->Push(rows, pushed_begin_, count);
      pushed_begin_ += count;
      return true;
    }
    pushed_.pop_front();
    pushed_begin_ = 0;
  }
  return false;
}

void Executor::RunPushedRows() {
  Batch batch;
  if (caller_.sink != nullptr) {
    StepIntoSink(&caller_);
    return;
  }
  std::unique_ptr<ResultBatch> out = queue_.Allocate();
  EvalContext context = environment_.MakeContext(out->arena(), &caller_.memo);
  if (caller_.cursor->Next(context, &batch) == PipelineCursor::Progress::kRows) {
    out->SetCopy(batch);
    queue_.PushUnbounded(std::move(out));
  } else {
    queue_.Recycle(std::move(out));
  }
}

// The scan's filters stay while the caller looks at them without the lock: the next scan has no runtime filters, and
// the pipeline of one that wants rows cannot end before the caller ends these. The same holds for PushChunk().
bool Executor::SkipChunk(PenumbraOperator scan, const PenumbraZoneMap* zone_maps) {
  {
    Lock lock(mutex_);
    if (scan != NextScanLocked()) CheckWantedLocked(scan);
  }
  return FindScan(scan)->SkipChunk(zone_maps);
}

void Executor::PushChunk(PenumbraOperator scan, const PenumbraChunk& chunk) {
  {
    Lock lock(mutex_);
    CheckWantedLocked(scan);
  }
  if (!FindScan(scan)->expects_chunks()) throw EngineError(PENUMBRA_INTERNAL, "a chunk that was not announced");
  FindScan(scan)->PushChunk(chunk);
  Lock lock(mutex_);
  WakeThreadsLocked(INT_MAX);
}

uint64_t Executor::FinishedChunks(PenumbraOperator scan, uint64_t awaited) {
  awaited_scan_ = FindScan(scan);
  awaited_chunks_ = awaited;
  return awaited_scan_->finished_chunks();
}

void Executor::EndRows(PenumbraOperator scan) {
  FindScan(scan);
  std::lock_guard lock(mutex_);
  rows_ended_[scan] = true;
  if (!is_started_) return;
  awaited_chunks_ = 0;
  if (IsConsumedLocked()) LeavePausedLocked();
  if (caller_.pipeline == nullptr) AdvanceLocked();
}

// One step of the caller's thread: a result that waits, a task that nobody else will run, or a vector of the pipeline
// at hand. kIdle: it has nothing to do until rows are pushed or threads get on; it must see progress_count_ before it
// looks for work, or what happens between is waited for in vain.
Executor::Piece Executor::RunPiece() {
  {
    Lock lock(mutex_);
    ThrowIfFailedLocked();
    progress_seen_ = progress_count_;
  }
  if (host_calls_ != nullptr && host_calls_->Serve()) return Piece::kProgress;
  {
    Lock lock(mutex_);
    ThrowIfFailedLocked();
    UseTicketsLocked(HasThreadWorkLocked());
    if (sink_ == nullptr) {
      if ((fetched_ = queue_.TryPop()) != nullptr) return Piece::kRows;
      if (phase_ == Phase::kDone) return Piece::kDone;
    }
    if (caller_.pipeline == nullptr && !JoinLocked(&caller_, true)) {
      if (!threads_.empty() || tasks_.empty()) return Piece::kIdle;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      RunTask(&task);
      return Piece::kProgress;
    }
  }
  OpenCursor(&caller_);
  FeedPushedRows();
  PipelineCursor::Progress progress = Step(&caller_);
  if (progress == PipelineCursor::Progress::kRows && caller_.sink == nullptr) {
    fetched_ = std::move(caller_.batch);
    return Piece::kRows;
  }
  if (progress != PipelineCursor::Progress::kExhausted) return Piece::kProgress;
  {
    Lock lock(mutex_);
    if (ExpectsRowsLocked()) return Piece::kIdle;
  }
  Leave(&caller_, true);
  return Piece::kProgress;
}

void Executor::WaitForProgress(Clock::time_point deadline) {
  Lock lock(mutex_);
  if (progress_count_ != progress_seen_) return;
  tickets_.BeginWait();
  UseTicketsLocked(HasThreadWorkLocked());
  if (pipeline_->is_output()) {
    lock.unlock();
    queue_.WaitForBatch(deadline);
    lock.lock();
  } else {
    progress_.wait_until(lock, deadline, [this] { return progress_count_ != progress_seen_; });
  }
  tickets_.EndWait();
}

// Returns after about kPieceTime of work or kWaitTime of waiting, so that the adapter can look at its interrupts. It
// returns early when the scan has finished the chunks whose memory the adapter waits for.
PenumbraFetch Executor::Fetch(PenumbraResult* result) {
  if (!is_started_) throw EngineError(PENUMBRA_INTERNAL, "fetched before the start");
  const ThreadTickets::Call call(tickets_);
  queue_.Recycle(std::move(fetched_));
  auto begun = Clock::now();
  while (true) {
    switch (RunPiece()) {
      case Piece::kRows: *result = fetched_->result(); return PENUMBRA_FETCH_ROWS;
      case Piece::kDone: return PENUMBRA_FETCH_DONE;
      case Piece::kProgress:
        if (Clock::now() - begun > kPieceTime || (awaited_chunks_ > 0 && !AwaitsChunks())) return PENUMBRA_FETCH_WAIT;
        break;
      case Piece::kIdle:
        if (AwaitsChunks() && Clock::now() - begun < kWaitTime) {
          awaited_scan_->AwaitFinished(awaited_chunks_, Clock::now() + kChunkWaitTime);
          break;
        }
        if (WantedScan() >= 0 || Clock::now() - begun > kPieceTime) return PENUMBRA_FETCH_WAIT;
        WaitForProgress(begun + kWaitTime);
        break;
    }
  }
}

void Executor::GetStats(PenumbraExecStats* stats) {
  std::lock_guard lock(mutex_);
  std::vector<OperatorCounts> counts = counts_;
  uint64_t pushed_rows = pushed_rows_, summarized_rows = summarized_rows_, decoded_bytes = decoded_bytes_;
  uint64_t recalled_rows = recalled_rows_, recalled_vectors = recalled_vectors_;
  if (caller_.cursor != nullptr) {
    AddCounts(caller_, &counts);
    if (const ScanCounts* scan = caller_.cursor->scan_counts()) {
      pushed_rows += scan->pushed_rows;
      summarized_rows += scan->summarized_rows;
      recalled_rows += scan->recalled_rows;
      recalled_vectors += scan->recalled_vectors;
      decoded_bytes += scan->decoded_bytes;
    }
  }
  for (const auto& scan : scans_) {
    if (scan != nullptr) AddDroppedRows(*scan, scan->dropped_rows(), &counts);
  }
  *stats = {};
  stats_.clear();
  for (PenumbraOperator id : plan_.order()) {
    const Operator& op = plan_.op(id);
    PenumbraOperatorStats& added = stats_.emplace_back();
    added.id = id;
    added.name = plan_.OperatorName(static_cast<int>(stats_.size()) - 1);
    if (KindOf(op).role == PipelineRole::kUnion) {
      for (PenumbraOperator input : op.inputs) counts[id].rows_out += counts[input].rows_out;
      counts[id].rows_in = counts[id].rows_out;
    }
    added.rows_in = counts[id].rows_in;
    added.rows_out = counts[id].rows_out;
    added.time_ns = counts[id].time_ns;
    // A sink that is not sealed may be at work.
    if (partitions_[id] >= 0) {
      SinkStats sink = sinks_[id]->stats();
      added.groups = sink.groups + sink.dropped_groups;
      added.dropped_groups = sink.dropped_groups;
      added.spilled_bytes = sink.spilled_bytes;
      added.iterations = sink.iterations;
      added.join_table = sink.join_table;
      added.build_rows = sink.build_rows;
    }
    added.is_build_too_large = sinks_[id] != nullptr && sinks_[id]->is_too_large();
    added.filtered_rows = counts[id].filtered_rows;
    if (scans_[id] == nullptr) continue;
    stats->chunks += scans_[id]->chunk_count();
    stats->chunks_skipped += scans_[id]->skipped_count();
    recalled_vectors += scans_[id]->forgone_vectors();
    recalled_rows += scans_[id]->forgone_rows();
    stats->cached_rows += counts[id].rows_in;
  }
  stats->threads = static_cast<int>(threads_.size());
  stats->cached_rows -= pushed_rows;
  stats->pushed_rows = pushed_rows;
  stats->summarized_rows = summarized_rows;
  stats->recalled_rows = recalled_rows;
  stats->recalled_vectors = recalled_vectors;
  stats->decoded_bytes = decoded_bytes;
  stats->memory_peak_bytes = environment_.budget.peak_bytes();
  stats->operator_count = static_cast<int>(stats_.size());
  stats->operators = stats_.data();
  temporary_file_bytes_ = environment_.spill_space.file_bytes();
  stats->temporary_file_count = static_cast<int>(temporary_file_bytes_.size());
  stats->temporary_file_bytes = temporary_file_bytes_.data();
}

}  // namespace penumbra

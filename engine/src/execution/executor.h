// Runs a plan: pipelines one after the other, each morsel by morsel on the engine's threads and, in
// bounded pieces inside Fetch() and PushRows(), on the caller's.
//
// Locking: mutex_ guards the state of the schedule (which pipeline and phase, who takes part, tasks, the
// first error, summed statistics). It is never held while rows are processed or a sink is called,
// except to create one; but for a copy of pushed rows, which must not be told of too early. The result
// queue and each scan's pushed rows have their own mutexes, taken after mutex_ or alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "execution/emptiness.h"
#include "execution/pipeline.h"
#include "execution/recursive_term.h"
#include "execution/result_queue.h"
#include "execution/thread.h"
#include "execution/thread_tickets.h"
#include "expression/host_calls.h"
#include "operator/execution_environment.h"
#include "operator/sink.h"
#include "plan/plan.h"
#include "scan/scan.h"
#include "segment/rows.h"
#include "segment/tuples.h"

namespace penumbra {

class Executor {
 public:
  Executor(const Plan& plan, const PenumbraExecOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // One thread, the caller's, calls all of these. They throw; the thrower then calls Fail().
  void AddChunk(PenumbraOperator scan, const PenumbraChunk& chunk);
  void ExpectChunks(PenumbraOperator scan, uint64_t rows) { FindScan(scan)->ExpectRows(rows); }
  void Start();
  bool TakesRowsFirst(PenumbraOperator scan) const;
  PenumbraOperator WantedScan() const;
  PenumbraOperator NextScan() const;
  void PushRows(PenumbraOperator scan, const Rows& rows);
  void PushTuples(PenumbraOperator scan, Tuples* tuples);
  bool SkipChunk(PenumbraOperator scan, const PenumbraZoneMap* zone_maps);
  void PushChunk(PenumbraOperator scan, const PenumbraChunk& chunk);
  uint64_t FinishedChunks(PenumbraOperator scan, uint64_t awaited);
  void EndRows(PenumbraOperator scan);
  PenumbraFetch Fetch(PenumbraResult* result);
  void GetStats(PenumbraExecStats* stats);

  // Ends the threads. Nothing but GetStats(), NextLearned() and the destructor may follow.
  void Stop();
  // Stops it first.
  bool NextLearned(PenumbraOperator scan, PenumbraLearned* learned);
  // Cancels everything. The first failure is the execution's; the others are its echo.
  void Fail(PenumbraCode code, const char* message);
  EngineError first_error() const;

 private:
  // Pipelines run one after the other, in the order of FindPipelines(). The last one that ends in a sink goes
  // on from kConsume through the phases that finish the sink; after the last of all comes kDone.
  enum class Phase : uint8_t { kConsume, kPrepare, kFinish, kSeal, kDone };
  enum class Piece : uint8_t { kRows, kProgress, kIdle, kDone };

  // What a thread owns while it takes part in a pipeline.
  struct Worker {
    Worker(MemoryBudget* budget, int memo_slots) : arena(budget), memo(memo_slots) {}

    Arena arena;
    EvalMemo memo;
    Pipeline* pipeline = nullptr;  // null: takes part in none
    bool has_ticket = false;       // not the caller's, which needs none
    Sink* sink = nullptr;          // of that pipeline; null: the output
    std::unique_ptr<PipelineCursor> cursor;
    std::unique_ptr<Sink::Local> local;
    std::unique_ptr<ResultBatch> batch;
    OperatorCounts sink_counts;
    std::chrono::steady_clock::time_point counted_until;  // its work
  };

  struct Task {
    enum class Kind : uint8_t { kCombine, kPrepare, kFinish, kSeal };
    Kind kind;
    int index = 0;
    std::shared_ptr<Sink::Local> local;  // of kCombine
  };

  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  void RunThread();
  template <typename Work>
  void RunGuarded(const Work& work);
  void ThrowIfFailedLocked() const;

  void KnowScansLocked();
  void BeginPipelineLocked(size_t number);
  void SetUpPipelineLocked(const PipelineSpec& spec);
  void SetUpPeekLocked(const Emptiness::Peek& peek);
  void EndPeekLocked();
  std::unique_ptr<Sink> CreateSink(PenumbraOperator id);
  const Vector* FindDictionary(PenumbraOperator sink, int column) const;
  void AddKeyFilters(Scan* scan);
  void FindOwnValues(const PipelineSpec& spec, Scan* scan);
  Scan* FindScan(PenumbraOperator id);
  bool ExpectsRowsLocked() const;
  PenumbraOperator NextScanLocked() const;
  bool WantsRowsLocked() const;
  bool IsConsumedLocked() const;
  void CheckWantedLocked(PenumbraOperator scan) const;
  bool CanJoinLocked(bool is_caller) const;
  [[nodiscard]] bool JoinLocked(Worker* worker, bool is_caller);
  bool HasThreadWorkLocked() const { return !tasks_.empty() || CanJoinLocked(false); }
  void UseTicketsLocked(bool has_work);
  [[nodiscard]] bool TryTakeTicketLocked(Worker* worker);
  void GiveTicketLocked(Worker* worker);
  void WaitLocked(std::condition_variable* ready, int* waiters, Lock* lock);
  void ResumeLocked(Worker* worker, Lock* lock);
  void LeavePausedLocked();
  void MayGiveTicket(Worker* worker);
  void PushResult(Worker* worker);
  void WakeThreadsLocked(int count);
  void WakeAllLocked();
  void OpenCursor(Worker* worker);
  void ConsumeAll(Worker* worker);
  void AwaitRows(Worker* worker);
  template <typename Add>
  bool ShareLocked(const Add& add);
  PipelineCursor::Progress Step(Worker* worker);
  PipelineCursor::Progress StepPeek(Worker* worker);
  PipelineCursor::Progress StepIntoSink(Worker* worker);
  PipelineCursor::Progress StepIntoBatch(Worker* worker);
  void PeekRows(const Rows& rows);
  bool FeedPushedRows();
  void RunPushedRows();
  void ConsumeBatch(Worker* worker, const Batch& batch, EvalContext& context);
  void Leave(Worker* worker, bool is_caller);
  void LeaveLocked(Worker* worker);

  void RunTask(Task* task);
  void SetTerm(PenumbraOperator id);
  void AddCounts(const Worker& worker, std::vector<OperatorCounts>* counts) const;
  void FinishTaskLocked(const Task& task, int result, uint64_t time_ns);
  void AddTaskLocked(Task task);
  void AdvanceLocked();
  int CountThreads(uint64_t rows);
  void EnsureThreadsLocked(uint64_t rows);
  void StartThreadsLocked(int count);
  Piece RunPiece();
  void NotifyProgressLocked();
  void WaitForProgress(Clock::time_point deadline);
  bool AwaitsChunks() const { return awaited_chunks_ > 0 && awaited_scan_->finished_chunks() < awaited_chunks_; }

  const Plan& plan_;
  const int max_threads_;
  ThreadTickets tickets_;
  ExecutionEnvironment environment_;
  std::unique_ptr<HostCalls> host_calls_;  // null: the host has no functions
  const std::vector<PipelineSpec> specs_;
  std::vector<std::unique_ptr<Scan>> scans_;  // by operator; null: another kind
  ResultQueue queue_;
  Worker caller_;
  // Copies of rows handed in that the caller's cursor has not done with, and where it is in the first.
  std::deque<Rows> pushed_;
  uint32_t pushed_begin_ = 0;
  std::unique_ptr<ResultBatch> fetched_;
  Scan* awaited_scan_ = nullptr;  // Fetch() goes on until it has finished so many chunks
  uint64_t awaited_chunks_ = 0;
  bool is_started_ = false;

  mutable std::mutex mutex_;
  std::condition_variable work_ready_;    // engine threads wait, for work that they have a ticket for
  int work_waiters_ = 0;                  // so many of them
  std::condition_variable ticket_ready_;  // those that have claimed rows wait for no more than a ticket
  int ticket_waiters_ = 0;
  std::vector<Worker*> paused_;         // of work_waiters_: those in the pipeline, between two morsels
  int unstarted_threads_ = 0;           // for want of tickets
  std::condition_variable progress_;    // the caller waits
  uint64_t progress_count_ = 0;         // of what it may wait for
  uint64_t progress_seen_ = 0;          // when the caller last looked
  size_t number_ = 0;                   // of the pipeline that runs
  std::unique_ptr<Pipeline> pipeline_;  // that one, or the peek before it
  Emptiness emptiness_;
  bool is_unneeded_ = false;                           // the pipeline has nothing to do
  PipelineSpec peek_spec_;                             // of the peek
  std::atomic<bool> may_have_rows_{false};             // what it looks at: one was found, or it has looked long enough
  std::atomic<int64_t> peek_cost_left_{0};             // see ScanCursor::FindRow()
  Sink* sink_ = nullptr;                               // of that one; null: the output
  std::vector<std::unique_ptr<Sink>> sinks_;           // by operator; null: no breaker, or not begun
  std::vector<std::unique_ptr<RecursiveTerm>> terms_;  // by operator; null: no recursion, or not sealed
  std::vector<int> partitions_;                        // by operator; -1: the sink is not sealed
  std::vector<bool> rows_ended_;                       // by operator: no more rows will be pushed
  Phase phase_ = Phase::kConsume;
  bool caller_reads_ = true;  // the current pipeline, if its source is a sink; else engine threads do
  bool is_stopping_ = false;
  int active_ = 0;              // workers that have not left the pipeline
  bool has_combined_ = false;   // at least one Local of sink_
  uint64_t consumed_rows_ = 0;  // by sink_
  int unfinished_tasks_ = 0;    // of the phase
  std::deque<Task> tasks_;
  std::optional<EngineError> error_;
  std::vector<OperatorCounts> counts_;
  uint64_t pushed_rows_ = 0;
  uint64_t summarized_rows_ = 0;
  uint64_t recalled_rows_ = 0;
  uint64_t recalled_vectors_ = 0;
  uint64_t decoded_bytes_ = 0;
  std::vector<PenumbraOperatorStats> stats_;
  std::vector<uint64_t> temporary_file_bytes_;
  std::vector<EngineThread> threads_;  // last: joined first
};

}  // namespace penumbra

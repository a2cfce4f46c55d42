#include "recursion/recursion.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "recursion/recursion_rows.h"

namespace penumbra {
namespace {

class Recursion final : public RecursionSink {
 public:
  Recursion(const RecursionSpec& spec, ExecutionEnvironment& environment)
      : environment_(environment),
        format_(spec),
        rows_(format_, environment),
        input_arena_(&environment.budget),
        output_arena_(&environment.budget) {}

  std::unique_ptr<Local> CreateLocal() override { return std::make_unique<RowsLocal>(format_, environment_); }
  void Consume(Local& local, const Batch& batch, EvalContext& context) override;
  void Combine(Local& local) override;
  int PrepareFinish() override { return 0; }
  void RunFinishTask(int /*task*/) override {}
  int Seal() override;
  bool is_ordered() const override { return true; }
  std::unique_ptr<Reader> OpenPartition(int partition) override;
  SinkStats stats() const override { return {.spilled_bytes = spilled_bytes_, .iterations = iterations_}; }
  void SetTerm(MultiplyingStep* term) override { term_ = term; }

 private:
  using Place = RecursionRows::Place;
  struct RowsLocal : Local {
    RowsLocal(const RecursionFormat& format, ExecutionEnvironment& environment) : rows(format, environment) {}
    RecursionRows rows;
  };
  class RowsReader;

  void Compute(const Place& given);
  bool BeginBatch(const Place& given);

  ExecutionEnvironment& environment_;
  const RecursionFormat format_;
  std::mutex mutex_;  // guards rows_ during Combine
  RecursionRows rows_;
  MultiplyingStep* term_ = nullptr;
  Place expanded_;          // rows before it have gone into the term
  uint64_t level_end_ = 0;  // so many rows are of iterations that have begun, or were there
  Arena input_arena_;       // of the batch that is in the term,
  Arena output_arena_;      // and of one that comes out
  std::exception_ptr error_;
  std::atomic<uint64_t> iterations_{0};
  std::atomic<uint64_t> spilled_bytes_{0};
};

void Recursion::Consume(Local& local, const Batch& batch, EvalContext& context) {
  RecursionRows& rows = static_cast<RowsLocal&>(local).rows;
  rows.Append(batch, context.arena);
  rows.Evict({}, {});
}

void Recursion::Combine(Local& local) {
  std::lock_guard lock(mutex_);
  rows_.Take(std::move(static_cast<RowsLocal&>(local).rows));
}

int Recursion::Seal() {
  level_end_ = rows_.row_count();
  spilled_bytes_ = rows_.spilled_bytes();
  return rows_.row_count() > 0 ? 1 : 0;
}

// The next rows of the working table go into the term; false: there are none. Those of two iterations do not go
// together, so that the rows of one come before those of the next.
bool Recursion::BeginBatch(const Place& given) {
  if (expanded_.row_count == rows_.row_count()) return false;
  if (expanded_.row_count == level_end_) {
    level_end_ = rows_.row_count();
    iterations_.fetch_add(1, std::memory_order_relaxed);
  }
  input_arena_.Reset();
  const Batch input = rows_.Read(&expanded_, given, level_end_, input_arena_);
  EvalContext context = environment_.MakeContext(input_arena_);
  term_->Begin(input, context);
  return true;
}

// Until there is a batch of rows from the place on, or none are left to come.
void Recursion::Compute(const Place& given) {
  while (format_.spec.gives_late || rows_.row_count() - given.row_count < kVectorRows) {
    if (!term_->is_pending() && !BeginBatch(given)) return;
    output_arena_.Reset();
    EvalContext context = environment_.MakeContext(output_arena_);
    Batch output;
    if (!term_->Next(context, &output)) continue;
    rows_.Append(output, output_arena_);
    rows_.Evict(given, expanded_);
    spilled_bytes_.store(rows_.spilled_bytes(), std::memory_order_relaxed);
  }
}

// Of several one comes after the other. The later ones find the rows there, and go on where an earlier one has ended.
class Recursion::RowsReader : public Reader {
 public:
  explicit RowsReader(Recursion& of) : of_(of), arena_(&of.environment_.budget) {}

  bool Next(Batch* batch) override {
    if (of_.error_ == nullptr) {
      try {
        of_.Compute(given_);
      } catch (...) {
        of_.error_ = std::current_exception();
      }
    }
    if (given_.row_count == of_.rows_.row_count()) {
      if (of_.error_ != nullptr) std::rethrow_exception(of_.error_);
      return false;
    }
    arena_.Reset();
    *batch = of_.rows_.Read(&given_, of_.expanded_, of_.rows_.row_count(), arena_);
    if (!of_.format_.spec.is_read_again) of_.rows_.Free(given_, of_.expanded_);
    return true;
  }

 private:
  Recursion& of_;
  Arena arena_;
  Place given_;
};

std::unique_ptr<Sink::Reader> Recursion::OpenPartition(int /*partition*/) {
  return std::make_unique<RowsReader>(*this);
}

}  // namespace

std::unique_ptr<RecursionSink> CreateRecursion(const RecursionSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<Recursion>(spec, environment);
}

}  // namespace penumbra

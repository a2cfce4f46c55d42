// The first rows of an order, without keeping the others.
//
// Each thread collects candidates. When it has as many as are wanted it knows a bound that no row
// beyond can matter; with twice as many it drops the worse half and knows a better one. The best
// bound of all threads is shared: the first word of the prefix of the row at the bound. Only rows
// whose first key is not beyond it are looked at further, and only theirs are all columns evaluated,
// encoded and copied. A batch that has more such rows than are wanted gives a bound by itself, from
// the first words alone: wide rows are not even decoded for it, and it helps where each batch is
// better than the ones before (the latest rows of a table that grows).
//
// Past the budget a thread writes its candidates as a run (sort_runs.h) and goes on with the bound that they gave.
#include "sort/top_n.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "kernels/kernels.h"
#include "sort/sort_runs.h"

namespace penumbra {
namespace {

constexpr uint64_t kCandidatesMin = 64;
// After a batch whose words gave no better bound (many equal keys) so many are not tried.
constexpr uint32_t kTightenPause = 16;
constexpr size_t kBlockBytes = size_t{32} << 10;

// Of the selected rows keeps those whose word is not beyond the bound.
uint32_t KeepWithin(const uint64_t* words, uint64_t bound, uint32_t count, uint16_t* selected) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint16_t row = selected[i];
    selected[kept] = row;
    kept += words[row] <= bound;
  }
  return kept;
}

class TopN : public Sink {
 public:
  TopN(const SortSpec& spec, ExecutionEnvironment& environment)
      : input_(spec, false),
        offset_(static_cast<uint64_t>(spec.offset)),
        wanted_(static_cast<uint64_t>(spec.limit) + offset_),
        capacity_(std::max(2 * wanted_, kCandidatesMin)),
        environment_(environment),
        runs_(input_, wanted_, environment) {}

  std::unique_ptr<Sink::Local> CreateLocal() override { return std::make_unique<TopNLocal>(input_, environment_); }
  void Consume(Sink::Local& local, const Batch& batch, EvalContext& context) override;
  PrefilterNeeds prefilter_needs() const override { return {input_.first_key_columns(), input_.can_first_key_fail()}; }
  uint32_t Prefilter(Sink::Local& local, const Batch& batch, bool all_come, EvalContext& context,
                     uint16_t* selected) override {
    return SelectByFirstKey(static_cast<TopNLocal&>(local), batch, all_come, context, selected);
  }
  void Combine(Sink::Local& local) override;
  int PrepareFinish() override { return round_++ == 0 ? 1 : runs_.PlanRound(); }
  void RunFinishTask(int task) override;
  int Seal() override { return 1; }
  bool is_ordered() const override { return true; }
  std::unique_ptr<Sink::Reader> OpenPartition(int partition) override;
  SinkStats stats() const override { return {.spilled_bytes = runs_.spilled_bytes()}; }

 private:
  struct TopNLocal : Sink::Local {
    TopNLocal(const SortInput& input, ExecutionEnvironment& environment)
        : arena(std::make_unique<Arena>(&environment.budget, kBlockBytes)),
          columns(input.layout().column_count()),
          keys(input.key_count()),
          prefixes(kVectorRows) {}
    std::unique_ptr<Arena> arena;  // rows and strings of the candidates, and of some dropped ones
    std::vector<SortEntry> candidates;
    bool is_bounded = false;
    SortEntry bound;  // the last candidate that may matter, when is_bounded
    BeyondCodes beyond;
    uint32_t tighten_pause = 0;
    std::shared_ptr<SpillFile> file;  // null: nothing spilled yet
    std::vector<Vector> columns;
    std::vector<Vector> keys;
    std::vector<SortPrefix> prefixes;
  };

  uint32_t SelectByFirstKey(TopNLocal& local, const Batch& batch, bool all_come, EvalContext& context,
                            uint16_t* selected);
  uint32_t SelectByBound(const Vector& key, uint32_t rows, uint64_t bound, EvalContext& context,
                         uint16_t* selected) const;
  uint32_t Tighten(TopNLocal& local, const Vector& key, uint32_t rows, EvalContext& context, uint32_t count,
                   uint16_t* selected);
  void ShareBound(uint64_t bound);
  void AddCandidates(TopNLocal& local, const Batch& batch, EvalContext& context);
  void DropWorst(TopNLocal& local);
  void Spill(TopNLocal& local);
  void WriteRun(std::vector<SortEntry>* entries, std::shared_ptr<SpillFile>* file);

  const SortInput input_;
  const uint64_t offset_;
  const uint64_t wanted_;  // with the offset
  const uint64_t capacity_;
  ExecutionEnvironment& environment_;
  // No row whose prefix starts with a greater word can matter.
  std::atomic<uint64_t> shared_bound_{UINT64_MAX};
  std::mutex mutex_;  // guards what follows during Combine
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<SortEntry> entries_;
  SortRuns runs_;
  std::vector<char*> rows_;
  int round_ = 0;
};

// Rows that may be dropped before they are candidates give no bound.
uint32_t TopN::SelectByFirstKey(TopNLocal& local, const Batch& batch, bool all_come, EvalContext& context,
                                uint16_t* selected) {
  const uint64_t bound = shared_bound_.load(std::memory_order_relaxed);
  if (bound == UINT64_MAX && (!all_come || batch.rows <= wanted_)) {
    std::iota(selected, selected + batch.rows, uint16_t{0});
    return batch.rows;
  }
  Vector key = input_.EvaluateFirstKey(batch, context);
  uint32_t count;
  if (local.is_bounded && input_.keys().IsFirstString()) {
    // Words say little of strings that begin alike.
    if (key.form != VectorForm::kDictionary || key.dictionary_id == 0) key = Flatten(key, batch.rows, context.arena);
    count = input_.keys().SelectStrings(key, batch.rows, local.bound.row, &local.beyond, selected);
    if (bound < local.bound.prefix.high && count > 0) {
      uint64_t* words = context.arena.AllocateArray<uint64_t>(batch.rows);
      input_.keys().EncodeFirstWords(Flatten(key, batch.rows, context.arena), batch.rows, words);
      count = KeepWithin(words, bound, count, selected);
    }
  } else {
    key = Flatten(key, batch.rows, context.arena);
    count = SelectByBound(key, batch.rows, bound, context, selected);
  }
  if (!all_come || count <= wanted_ || wanted_ == 0) return count;
  return Tighten(local, Flatten(key, batch.rows, context.arena), batch.rows, context, count, selected);
}

uint32_t TopN::SelectByBound(const Vector& key, uint32_t rows, uint64_t bound, EvalContext& context,
                             uint16_t* selected) const {
  if (bound == UINT64_MAX) {
    std::iota(selected, selected + rows, uint16_t{0});
    return rows;
  }
  uint64_t bits[kValidityWords];
  if (input_.keys().SelectFirst(key, rows, bound, bits)) {
    return static_cast<uint32_t>(kernels::BitsToSelection(bits, rows, selected));
  }
  uint64_t* words = context.arena.AllocateArray<uint64_t>(rows);
  input_.keys().EncodeFirstWords(key, rows, words);
  // A first key shorter than the word leaves the rest zero, so that it is not beyond a longer
  // bound.
  std::iota(selected, selected + rows, uint16_t{0});
  return KeepWithin(words, bound, rows, selected);
}

// Of more rows than are wanted, keeps those not beyond the last one wanted.
uint32_t TopN::Tighten(TopNLocal& local, const Vector& key, uint32_t rows, EvalContext& context, uint32_t count,
                       uint16_t* selected) {
  if (local.tighten_pause > 0) {
    --local.tighten_pause;
    return count;
  }
  uint64_t* words = context.arena.AllocateArray<uint64_t>(rows);
  uint64_t* ordered = context.arena.AllocateArray<uint64_t>(count);
  input_.keys().EncodeFirstWords(key, rows, words);
  for (uint32_t i = 0; i < count; ++i) ordered[i] = words[selected[i]];
  std::nth_element(ordered, ordered + (wanted_ - 1), ordered + count);
  const uint64_t bound = ordered[wanted_ - 1];
  const uint32_t kept = KeepWithin(words, bound, count, selected);
  if (kept == count) local.tighten_pause = kTightenPause;
  ShareBound(bound);
  return kept;
}

void TopN::ShareBound(uint64_t bound) {
  uint64_t known = shared_bound_.load(std::memory_order_relaxed);
  while (bound < known && !shared_bound_.compare_exchange_weak(known, bound, std::memory_order_relaxed)) {
  }
}

void TopN::Consume(Sink::Local& sink_local, const Batch& batch, EvalContext& context) {
  if (batch.rows == 0 || wanted_ == 0) return;
  TopNLocal& local = static_cast<TopNLocal&>(sink_local);
  if (context.memo != nullptr) context.memo->Begin(batch);
  uint16_t* selected = context.arena.AllocateArray<uint16_t>(kVectorRows);
  const uint32_t count = SelectByFirstKey(local, batch, true, context, selected);
  if (count == 0) return;
  if (count == batch.rows) {
    AddCandidates(local, batch, context);
  } else {
    Vector* columns = context.arena.AllocateArray<Vector>(batch.column_count);
    for (uint32_t c = 0; c < batch.column_count; ++c) {
      columns[c] = Gather(batch.columns[c], selected, count, context.arena);
    }
    AddCandidates(local, {count, batch.column_count, columns}, context);
  }
  if (!runs_.ShouldSpill(local.arena->bytes())) return;
  if (local.candidates.size() > wanted_) DropWorst(local);
  if (runs_.ShouldSpill(local.arena->bytes())) Spill(local);
}

void TopN::Spill(TopNLocal& local) {
  WriteRun(&local.candidates, &local.file);
  if (local.candidates.size() >= wanted_) {
    local.bound = local.candidates[wanted_ - 1];
    local.is_bounded = true;
    ShareBound(local.bound.prefix.high);
  }
  auto arena = std::make_unique<Arena>(&environment_.budget, kBlockBytes);
  if (local.is_bounded) local.bound.row = input_.layout().Copy(local.bound.row, *arena);
  local.arena = std::move(arena);
  local.candidates.clear();
}

void TopN::WriteRun(std::vector<SortEntry>* entries, std::shared_ptr<SpillFile>* file) {
  if (entries->empty()) return;
  std::sort(entries->begin(), entries->end(), SortOrder(input_, environment_));
  SortRuns::Writer run(runs_, file);
  for (const SortEntry& entry : *entries) run.Add(entry);
  run.Finish();
}

void TopN::AddCandidates(TopNLocal& local, const Batch& batch, EvalContext& context) {
  input_.Evaluate(batch, context, local.columns.data());
  input_.SelectKeys(local.columns.data(), local.keys.data());
  input_.keys().Encode(local.keys.data(), {nullptr, batch.rows}, local.prefixes.data());
  const uint32_t row_bytes = input_.layout().row_bytes();
  for (uint32_t i = 0; i < batch.rows; ++i) {
    // Ties of the prefix may still matter; their rows are compared once they are made.
    if (local.is_bounded && local.bound.prefix < local.prefixes[i]) continue;
    char* row = static_cast<char*>(local.arena->Allocate(row_bytes));
    std::memset(row, 0, row_bytes);
    const uint16_t index = static_cast<uint16_t>(i);
    input_.layout().Write(local.columns.data(), {&index, 1}, &row, *local.arena);
    local.candidates.push_back({local.prefixes[i], row});
    if (local.candidates.size() == wanted_ && !local.is_bounded) {
      local.bound =
          *std::max_element(local.candidates.begin(), local.candidates.end(), SortOrder(input_, environment_));
      local.is_bounded = true;
      ShareBound(local.bound.prefix.high);
    }
    if (local.candidates.size() >= capacity_) DropWorst(local);
  }
}

void TopN::DropWorst(TopNLocal& local) {
  environment_.CheckCancelled();
  auto last = local.candidates.begin() + static_cast<ptrdiff_t>(wanted_ - 1);
  std::nth_element(local.candidates.begin(), last, local.candidates.end(), SortOrder(input_, environment_));
  local.candidates.resize(wanted_);
  // The dropped rows' memory goes with the old arena.
  auto arena = std::make_unique<Arena>(&environment_.budget, kBlockBytes);
  for (SortEntry& entry : local.candidates) entry.row = input_.layout().Copy(entry.row, *arena);
  local.arena = std::move(arena);
  local.bound = local.candidates.back();
  local.is_bounded = true;
  ShareBound(local.bound.prefix.high);
}

void TopN::Combine(Sink::Local& sink_local) {
  TopNLocal& local = static_cast<TopNLocal&>(sink_local);
  std::lock_guard<std::mutex> lock(mutex_);
  arenas_.push_back(std::move(local.arena));
  entries_.insert(entries_.end(), local.candidates.begin(), local.candidates.end());
}

void TopN::RunFinishTask(int task) {
  if (round_ > 1) {
    runs_.RunTask(task);
  } else if (!runs_.is_empty()) {
    std::shared_ptr<SpillFile> file;
    WriteRun(&entries_, &file);
    arenas_.clear();
  } else {
    const uint64_t count = std::min<uint64_t>(wanted_, entries_.size());
    std::partial_sort(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(count), entries_.end(),
                      SortOrder(input_, environment_));
    for (uint64_t i = offset_; i < count; ++i) rows_.push_back(entries_[i].row);
  }
}

std::unique_ptr<Sink::Reader> TopN::OpenPartition(int) {
  if (!runs_.is_empty()) return runs_.Open(offset_);
  return std::make_unique<SortedReader>(input_, environment_, rows_.data(), rows_.size());
}

}  // namespace

std::unique_ptr<Sink> CreateTopN(const SortSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<TopN>(spec, environment);
}

}  // namespace penumbra

#include "sort/sort_runs.h"

namespace penumbra {
namespace {

// Less than this is not worth a run: another operator holds the memory.
constexpr size_t kRunBytesMin = size_t{64} << 10;
// A thread gives up what it holds only past this part of its share, if the others' has made the budget full.
constexpr size_t kRunShare = 8;
constexpr size_t kExtentBytesMin = size_t{16} << 10;
constexpr size_t kExtentBytesMax = size_t{1} << 20;
// Of the budget, for the extents of one merge, and of those for each: 128 runs are merged at once. A batch that is read
// may keep as much again until the next.
constexpr size_t kMergeShare = 4;
constexpr size_t kMergeBytesMin = size_t{1} << 20;
constexpr size_t kMergedRuns = 128;
// Past so many bytes of rows a batch ends: whoever is above copies them.
constexpr size_t kBatchBytes = size_t{4} << 20;

size_t MergeBytes(const MemoryBudget& budget) { return std::max(budget.budget_bytes() / kMergeShare, kMergeBytesMin); }

using Buffers = std::vector<std::unique_ptr<Arena>>;

// A place in a run. Rows stay in the extent's buffer.
class RunCursor {
 public:
  RunCursor(const RowFormat& format, const SpilledRows& run, ExecutionEnvironment& environment)
      : format_(&format), reader_(run, environment) {}

  bool is_at_end() const { return entry_.row == nullptr; }
  const SortEntry& entry() const { return entry_; }
  size_t row_bytes() const { return row_bytes_; }
  // The buffer of rows that are done with goes to `used`.
  void Advance(Buffers* used) {
    if (reader_.is_at_end()) {
      entry_.row = nullptr;
      return;
    }
    if (reader_.needs_extent()) {
      if (auto buffer = reader_.TakeBuffer()) used->push_back(std::move(buffer));
    }
    char* bytes = reader_.Begin();
    std::memcpy(static_cast<void*>(&entry_.prefix), bytes, sizeof(SortPrefix));
    entry_.row = bytes + sizeof(SortPrefix);
    row_bytes_ = reader_.End(format_->LoadStrings(entry_.row, entry_.row + format_->row_bytes, nullptr));
  }

 private:
  const RowFormat* format_;
  SpilledRowReader reader_;
  SortEntry entry_{{}, nullptr};
  size_t row_bytes_ = 0;
};

// A tree of losers over the cursors: node 1 is the root, leaf c is node count + c. Each inner node holds the cursor
// that lost there, so that the path of the winner's leaf alone is played again when it advances.
class RunMerge {
 public:
  RunMerge(const SortInput& input, const RowFormat& format, const std::vector<SpilledRows>& runs,
           ExecutionEnvironment& environment)
      : keys_(input.keys()), is_less_(input, environment), environment_(environment) {
    cursors_.reserve(runs.size());
    for (const SpilledRows& run : runs) cursors_.emplace_back(format, run, environment).Advance(&used_);
    // Who is not there yet beats all: it moves up as the leaves come in, and out with the last.
    losers_.assign(runs.size(), kAbsent);
    for (size_t c = 0; c < runs.size(); ++c) Play(static_cast<uint32_t>(c));
  }

  bool is_at_end() const { return cursors_[winner_].is_at_end(); }
  const SortEntry& entry() const { return cursors_[winner_].entry(); }
  size_t row_bytes() const { return cursors_[winner_].row_bytes(); }
  void Advance() {
    cursors_[winner_].Advance(&used_);
    Play(winner_);
  }
  // Frees what rows before the present one lie in.
  void DropUsed() { used_.clear(); }

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  bool Beats(uint32_t a, uint32_t b) {
    if (a == kAbsent || b == kAbsent) return a == kAbsent;
    const RunCursor &x = cursors_[a], &y = cursors_[b];
    if (x.is_at_end() || y.is_at_end()) return y.is_at_end();
    // Runs in a locale's order were proven by values. A merge by prefixes would need a proof of its own, which would
    // come when rows are out already.
    if (keys_.NeedsProof()) {
      if (++compared_ % kPollCompares == 0) environment_.CheckCancelled();
      return keys_.CompareRows(x.entry().row, y.entry().row) < 0;
    }
    return is_less_(x.entry(), y.entry());
  }
  void Play(uint32_t cursor) {
    for (size_t node = (losers_.size() + cursor) / 2; node > 0; node /= 2) {
      if (Beats(losers_[node], cursor)) std::swap(losers_[node], cursor);
    }
    winner_ = cursor;
  }

  static constexpr uint32_t kPollCompares = 1 << 10;
  const SortKeys& keys_;
  SortOrder is_less_;
  const ExecutionEnvironment& environment_;
  std::vector<RunCursor> cursors_;
  std::vector<uint32_t> losers_;
  uint32_t winner_ = 0;
  uint32_t compared_ = 0;
  Buffers used_;
};

class MergeReader final : public Sink::Reader {
 public:
  MergeReader(const SortInput& input, const RowFormat& format, const std::vector<SpilledRows>& runs, uint64_t offset,
              uint64_t wanted, ExecutionEnvironment& environment)
      : input_(input), merge_(input, format, runs, environment), to_skip_(offset), left_(wanted) {}

  bool Next(Batch* batch) override {
    for (; to_skip_ > 0 && !IsAtEnd(); --to_skip_, --left_) {
      merge_.DropUsed();
      merge_.Advance();
    }
    merge_.DropUsed();
    uint32_t count = 0;
    for (size_t bytes = 0; count < kVectorRows && bytes < kBatchBytes && !IsAtEnd(); ++count, --left_) {
      rows_[count] = merge_.entry().row;
      bytes += merge_.row_bytes();
      merge_.Advance();
    }
    if (count == 0) return false;
    *batch = columns_.Read(input_, rows_, count);
    return true;
  }

 private:
  bool IsAtEnd() const { return left_ == 0 || merge_.is_at_end(); }

  const SortInput& input_;
  RunMerge merge_;
  uint64_t to_skip_;
  uint64_t left_;  // of what is wanted, the skipped ones among them
  char* rows_[kVectorRows];
  SortedColumns columns_;
};

}  // namespace

SortRuns::SortRuns(const SortInput& input, uint64_t wanted, ExecutionEnvironment& environment)
    : input_(input),
      format_{nullptr, &input.layout(), 0, input.layout().row_bytes()},
      wanted_(wanted),
      environment_(environment),
      extent_bytes_(std::clamp(MergeBytes(environment.budget) / kMergedRuns, kExtentBytesMin, kExtentBytesMax)) {}

bool SortRuns::ShouldSpill(size_t bytes) const {
  const MemoryBudget& budget = environment_.budget;
  const size_t threads = static_cast<size_t>(std::max(environment_.thread_count, 1));
  return budget.IsExceeded() && bytes >= std::max(kRunBytesMin, budget.budget_bytes() / kRunShare / threads);
}

SortRuns::Writer::Writer(SortRuns& runs, std::shared_ptr<SpillFile>* file)
    : runs_(runs),
      left_(runs.wanted_),
      rows_(*file != nullptr ? * file : * file = std::make_shared<SpillFile>(runs.environment_.spill_space),
            runs.extent_bytes_, runs.environment_) {}

void SortRuns::Writer::Add(const SortEntry& entry) {
  if (left_ == 0) return;
  --left_;
  std::vector<char>* buffer = rows_.buffer();
  const char* prefix = reinterpret_cast<const char*>(&entry.prefix);
  buffer->insert(buffer->end(), prefix, prefix + sizeof(SortPrefix));
  runs_.format_.Save(entry.row, buffer);
  rows_.EndRow();
}

void SortRuns::Writer::Finish() {
  SpilledRows run = rows_.Finish();
  if (run.row_count > 0) runs_.Add(std::move(run));
}

void SortRuns::Add(SpilledRows run) {
  std::lock_guard lock(mutex_);
  spilled_bytes_ += run.bytes;
  runs_.push_back(std::move(run));
}

// Takes the shortest runs, in groups that a thread's part of the merge's memory has room for and of two at least, until
// one merge has room for the others and the groups' results.
int SortRuns::PlanRound() {
  groups_.clear();
  const size_t merge_bytes = MergeBytes(environment_.budget);
  const size_t task_bytes = merge_bytes / static_cast<size_t>(std::max(environment_.thread_count, 1));
  size_t bytes = 0, count = runs_.size();
  for (const SpilledRows& run : runs_) bytes += run.longest_extent;
  std::sort(runs_.begin(), runs_.end(), [](const SpilledRows& a, const SpilledRows& b) { return a.bytes < b.bytes; });
  auto next = runs_.begin();
  while (bytes > merge_bytes && count > 2 && runs_.end() - next >= 2) {
    std::vector<SpilledRows>& group = groups_.emplace_back();
    size_t group_bytes = 0, longest = 0;
    while (next != runs_.end() &&
           (group.size() < 2 || (group_bytes + next->longest_extent <= task_bytes && bytes > merge_bytes))) {
      // The group becomes one run, with an extent as long as the longest.
      const size_t longer = std::max<size_t>(longest, next->longest_extent);
      bytes -= next->longest_extent + longest - longer;
      longest = longer;
      group_bytes += next->longest_extent;
      group.push_back(std::move(*next++));
    }
    count -= group.size() - 1;
  }
  runs_.erase(runs_.begin(), next);
  return static_cast<int>(groups_.size());
}

void SortRuns::RunTask(int task) {
  std::vector<SpilledRows> group = std::move(groups_[static_cast<size_t>(task)]);
  std::shared_ptr<SpillFile> file;
  Writer writer(*this, &file);
  RunMerge merge(input_, format_, group, environment_);
  for (; !merge.is_at_end(); merge.Advance()) {
    merge.DropUsed();
    writer.Add(merge.entry());
  }
  writer.Finish();
}

std::unique_ptr<Sink::Reader> SortRuns::Open(uint64_t offset) const {
  return std::make_unique<MergeReader>(input_, format_, runs_, offset, wanted_, environment_);
}

}  // namespace penumbra

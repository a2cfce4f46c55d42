// Sorted rows on disk and their merge: what a sort does past the memory budget.
//
// A run is rows in order, each as its prefix, then what RowFormat saves of it. Runs are merged by a tree of losers,
// which compares each row with log2(runs) others. A merge holds an extent of each of its runs, so the budget bounds how
// many it takes; while there are more, rounds of merges make fewer of the shortest.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "row/row_format.h"
#include "row/spilled_rows.h"
#include "sort/sort_input.h"

namespace penumbra {

// The runs of one sort.
class SortRuns {
 public:
  // Only the first `wanted` rows of the order matter.
  SortRuns(const SortInput& input, uint64_t wanted, ExecutionEnvironment& environment);

  // Whether a thread that holds so many bytes is to make a run of them.
  bool ShouldSpill(size_t bytes) const;

  // One run as it is written to a file, which is opened for the first: the rows in order. Those past what is wanted are
  // left out.
  class Writer {
   public:
    Writer(SortRuns& runs, std::shared_ptr<SpillFile>* file);
    void Add(const SortEntry& entry);
    void Finish();

   private:
    SortRuns& runs_;
    uint64_t left_;
    SpilledRowWriter rows_;
  };

  // When all are written, alone.
  bool is_empty() const { return runs_.empty(); }
  uint64_t spilled_bytes() const { return spilled_bytes_; }
  // How many tasks must run, concurrently, before the next call; none when Open() can read all that is left.
  int PlanRound();
  void RunTask(int task);
  // The rows in order, past the first `offset` ones. Reads runs that stay here.
  std::unique_ptr<Sink::Reader> Open(uint64_t offset) const;

 private:
  void Add(SpilledRows run);

  const SortInput& input_;
  const RowFormat format_;
  const uint64_t wanted_;
  ExecutionEnvironment& environment_;
  const size_t extent_bytes_;
  std::mutex mutex_;  // guards runs_ and spilled_bytes_ while runs are written
  std::vector<SpilledRows> runs_;
  uint64_t spilled_bytes_ = 0;
  std::vector<std::vector<SpilledRows>> groups_;  // of the round, a task's each
};

}  // namespace penumbra

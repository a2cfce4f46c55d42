// A join's build side: a sink whose rows become a table that probes look up.
//
// Past the budget all of its rows go to disk, by partitions of the hash, and so does the probe side. When that is
// complete the partitions are a source: each is joined by itself, in passes over as many build rows as its reader may
// hold (join_spilled.cc).
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "join/join_dictionary.h"
#include "join/join_filter.h"
#include "join/join_spec.h"
#include "join/join_spill.h"
#include "join/join_table.h"
#include "operator/execution_environment.h"
#include "operator/join_sink.h"

namespace penumbra {

class JoinBuild final : public JoinSink {
 public:
  JoinBuild(const JoinSpec& spec, ExecutionEnvironment& environment);

  std::unique_ptr<Local> CreateLocal() override;
  void Consume(Local& local, const Batch& batch, EvalContext& context) override;
  void Combine(Local& local) override;
  int PrepareFinish() override;
  void RunFinishTask(int task) override;
  int Seal() override;
  bool is_ordered() const override { return false; }
  // What is read are build rows that were (or were not) matched: after all probes.
  std::unique_ptr<Reader> OpenPartition(int partition) override;
  SinkStats stats() const override;
  const Vector* dictionary_of(int column) const override;
  bool is_too_large() const override {
    return spec_.build_rows_max > 0 && consumed_rows_.load(std::memory_order_relaxed) > spec_.build_rows_max;
  }
  bool is_spilled() const override { return is_spilled_; }
  uint64_t NumberedRows() const override;
  bool AreDistinct(const std::vector<int>& columns) const override;
  void NumberRows(const std::vector<int>& columns) override;
  Vector ReadColumn(int column, const Vector& row_numbers, uint32_t rows, Arena& arena) const override;
  std::unique_ptr<MultiplyingStep> CreateProbe() override;
  // Of the form bitmap.
  const KeyBitmap& bitmap() const { return *bitmaps_[0]; }
  const KeyRange& range() const { return ranges_[0]; }
  // What the strings of a row's kept columns take at most.
  uint64_t longest_strings() const { return longest_strings_; }
  // What a column of the build input is in the output.
  enum class Given : uint8_t { kValues, kRowNumbers, kNulls };
  Given given(size_t build_column) const { return given_[build_column]; }
  // A kept column of rows, which are told by where their columns begin. Without null rows none is null_row().
  Vector ReadKept(size_t kept, const char* const* rows, uint32_t count, bool has_null_rows, Arena& arena) const;
  const KeyFilter* key_filter(int key) const override { return filters_[key].get(); }

  // Of the sealed build.
  const JoinSpec& spec() const { return spec_; }
  const JoinLayout& layout() const { return layout_; }
  const JoinTable& table() const { return table_; }
  ExecutionEnvironment& environment() const { return environment_; }
  bool is_empty() const { return row_count_ == 0; }
  // Whether rows have the values that the layout's range compares.
  bool has_range() const { return !layout_.range.is_empty() && !is_range_lost_.load(std::memory_order_relaxed); }
  // Whether they are searched by these alone.
  bool is_range_searched() const { return has_range() && spec_.keys.empty(); }
  bool has_null_key() const { return has_null_key_; }
  // Of spilled partitions; the one after kPartitions has build rows that can match nothing.
  static constexpr int kSpilledPartitions = JoinTable::kPartitions + 1;
  RowFormat build_format() const;
  // Rows are counted by their bytes, also those of no columns.
  RowFormat probe_format() const { return {nullptr, &probe_columns_, 0, std::max(probe_columns_.row_bytes(), 8u)}; }
  const SpilledRows& spilled_build(int partition) const { return spilled_build_[partition]; }
  const SpilledRows& spilled_probe(int partition) const { return spilled_probe_[partition]; }
  void AddSpilledProbe(JoinSpiller* spiller);
  // Where the columns of a row would be whose columns are all null.
  const char* null_row() const { return null_row_.data(); }

 private:
  struct Rows;
  class BuildLocal;
  // Of a column of the output; negative: it comes from the probe side.
  int BuildColumn(int column) const {
    return column - (spec_.has_probe_columns() ? static_cast<int>(spec_.probe_types.size()) : 0);
  }
  bool IsIntegerKey(size_t key) const { return IsIntegerType(spec_.keys[key].build->type, NumericForm::kPayload); }
  void KeepColumns(BuildLocal& into, const Batch& batch, RowSelection selection, char* const* columns_of_rows,
                   const Vector* range_values, Arena& arena);
  const Vector* EvaluateRange(const Batch& batch, EvalContext& context, const uint64_t** matchable);
  void CountConsumed(uint32_t rows);
  void Spill(Rows* rows, std::unique_ptr<JoinSpiller>* spiller);
  void SpillRestIfNeeded();
  void ReserveTable();
  void ReserveSpilledBitmaps();
  void AddToBitmaps(const char* row, bool is_shared);
  void AddSpilledToBitmaps(int partition);
  std::unique_ptr<KeyFilter> MakeFilter(size_t key) const;

  const JoinSpec& spec_;
  ExecutionEnvironment& environment_;
  const JoinLayout layout_;
  std::vector<char> null_row_;
  const RowLayout probe_columns_;  // those that are read
  std::mutex mutex_;               // guards what Combine() and AddSpilledProbe() change
  std::vector<std::unique_ptr<Rows>> rows_;
  uint64_t row_count_ = 0;
  std::atomic<bool> is_range_lost_{false};
  std::atomic<uint64_t> consumed_rows_{0};  // counted where they are limited
  bool has_null_key_ = false;
  std::vector<uint8_t> has_nulls_;                             // by kept column
  std::vector<Given> given_;                                   // by column of the build input
  std::vector<std::unique_ptr<JoinDictionary>> dictionaries_;  // by kept column, null of other types than strings
  uint64_t longest_strings_ = 0;
  std::atomic<bool> is_spilled_{false};
  std::vector<SpilledRows> spilled_build_;
  std::vector<SpilledRows> spilled_probe_;
  std::atomic<uint64_t> spilled_bytes_{0};
  int round_ = -1;
  int task_count_ = 0;
  JoinTable table_;
  Arena filter_memory_;
  std::vector<KeyRange> ranges_;                     // by key; empty of those of other types
  std::vector<std::optional<KeyBitmap>> bitmaps_;    // by key
  std::vector<std::unique_ptr<KeyFilter>> filters_;  // by key
};

// Build rows of a table by whether they were matched, then rows that could not be: what RIGHT, FULL, RIGHT_SEMI and
// RIGHT_ANTI give of a build side after all probes.
class BuildRowReader {
 public:
  BuildRowReader(const JoinBuild& build, const JoinTable& table, std::vector<const RowPages*> unmatchable)
      : build_(build), table_(table), unmatchable_(std::move(unmatchable)), arena_(&build.environment().budget) {}
  bool Next(Batch* batch);

 private:
  Batch MakeBatch(uint32_t count);

  const JoinBuild& build_;
  const JoinTable& table_;
  const std::vector<const RowPages*> unmatchable_;
  Arena arena_;
  uint64_t at_ = 0;  // in the table
  size_t list_ = 0;  // of `unmatchable_`
  RowPages::Cursor cursor_;
  const char* rows_[kVectorRows];
  std::vector<Vector> columns_;
};

// A batch of pairs, or of probe rows that were on disk, has no more bytes of strings than these and one row's:
// whoever is above copies them and computes others of them.
constexpr size_t kBatchStringBytes = size_t{4} << 20;

// The rows whose keys can match: all bits of the others' are zero. Null: all rows can.
const uint64_t* FindMatchableRows(const JoinSpec& spec, const Vector* keys, uint32_t rows, Arena& arena);

// Over one pass of build rows: `matched` has a bit for each row of the next batch, whether it has had a match in a pass
// before, and takes those that this pass adds. Rows that a match or the lack of one brings are given in the last.
class JoinPassProbe : public MultiplyingStep {
 public:
  virtual void SetPass(uint64_t* matched, bool is_last) = 0;
};
std::unique_ptr<JoinPassProbe> CreateJoinProbe(const JoinBuild& build, const JoinTable& table);
// join_spilled.cc: the probe that only spills, and the reader of a partition.
std::unique_ptr<MultiplyingStep> CreateSpillingProbe(JoinBuild& build);
std::unique_ptr<Sink::Reader> CreateSpilledReader(const JoinBuild& build, int partition);

std::unique_ptr<JoinSink> CreateJoin(const JoinSpec& spec, ExecutionEnvironment& environment);

}  // namespace penumbra

// A join's build side: a sink whose rows become a table that probes look up.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "join/join_filter.h"
#include "join/join_table.h"
#include "operator/operator.h"

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
  std::unique_ptr<JoinProbe> CreateProbe() override;
  // Of the form bitmap.
  const KeyBitmap& bitmap() const { return *bitmaps_[0]; }
  const KeyRange& range() const { return ranges_[0]; }
  // Whether a row may have a null in the kept column.
  bool has_nulls(size_t kept) const { return has_nulls_[kept] != 0; }
  const KeyFilter* key_filter(int key) const override { return filters_[key].get(); }

  // Of the sealed build.
  const JoinSpec& spec() const { return spec_; }
  const JoinLayout& layout() const { return layout_; }
  const JoinTable& table() const { return table_; }
  const ExecutionEnvironment& environment() const { return environment_; }
  bool is_empty() const { return row_count_ == 0; }
  bool has_null_key() const { return has_null_key_; }
  // Where the columns of a row would be whose columns are all null.
  const char* null_row() const { return null_row_.data(); }

 private:
  struct Rows;
  class BuildLocal;
  class BuildReader;

  bool IsIntegerKey(size_t key) const { return IsIntegerType(spec_.keys[key].build->type, NumericForm::kPayload); }
  void ReserveTable();
  void AddToBitmaps(const GroupRows& rows);
  std::unique_ptr<KeyFilter> MakeFilter(size_t key) const;

  const JoinSpec& spec_;
  ExecutionEnvironment& environment_;
  const JoinLayout layout_;
  std::vector<char> null_row_;
  std::mutex mutex_;  // guards what Combine() changes
  std::vector<std::unique_ptr<Rows>> rows_;
  uint64_t row_count_ = 0;
  bool has_null_key_ = false;
  std::vector<uint8_t> has_nulls_;  // by kept column
  int round_ = -1;
  int task_count_ = 0;
  JoinTable table_;
  Arena filter_memory_;
  std::vector<KeyRange> ranges_;                      // by key; empty of those of other types
  std::vector<std::optional<KeyBitmap>> bitmaps_;     // by key
  std::vector<std::unique_ptr<KeyFilter>> filters_;   // by key
  uint64_t memory_peak_bytes_ = 0;
};

// The rows whose keys can match: all bits of the others' are zero. Null: all rows can.
const uint64_t* FindMatchableRows(const JoinSpec& spec, const Vector* keys, uint32_t rows, Arena& arena);

std::unique_ptr<JoinProbe> CreateJoinProbe(const JoinBuild& build);

}  // namespace penumbra

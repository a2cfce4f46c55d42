// The join of what was spilled. A row of either side is in the partition of its keys' hash, so partitions are joined
// one by one; a reader holds no more build rows than its share of the budget. A partition that has more, be it of one
// key, takes several passes, each with the next part of the build rows and all probe rows again: what a probe row has
// matched so far is kept as a bit, and the last pass gives those that matched, or did not.
#include <algorithm>

#include "join/join_build.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

class SpillingProbe final : public MultiplyingStep {
 public:
  explicit SpillingProbe(JoinBuild& build)
      : build_(build),
        spec_(build.spec()),
        drops_unmatchable_(spec_.kind != PENUMBRA_JOIN_LEFT && spec_.kind != PENUMBRA_JOIN_SINGLE &&
                           spec_.kind != PENUMBRA_JOIN_FULL && spec_.kind != PENUMBRA_JOIN_ANTI &&
                           spec_.kind != PENUMBRA_JOIN_MARK),
        columns_(spec_.ProbeColumnsRead()),
        spiller_(build.probe_format(), JoinBuild::kSpilledPartitions, build.environment()) {}

  void Begin(const Batch& batch, EvalContext& context) override;
  bool is_pending() const override { return false; }
  bool Next(EvalContext& /*context*/, Batch* /*batch*/) override { return false; }
  void Flush() override { build_.AddSpilledProbe(&spiller_); }

 private:
  JoinBuild& build_;
  const JoinSpec& spec_;
  const bool drops_unmatchable_;
  const std::vector<int> columns_;
  JoinSpiller spiller_;
};

// Nothing is joined yet: rows go to the files of their partitions. A row whose keys can match nothing is dropped,
// unless the kind of join has to give it.
void SpillingProbe::Begin(const Batch& batch, EvalContext& context) {
  Arena& arena = context.arena;
  if (context.memo != nullptr) context.memo->Begin(batch);
  auto* keys = arena.AllocateArray<Vector>(spec_.keys.size());
  for (size_t k = 0; k < spec_.keys.size(); ++k) keys[k] = Evaluate(*spec_.keys[k].probe, batch, context);
  RowSelection selection{nullptr, batch.rows};
  const uint64_t* matchable = FindMatchableRows(spec_, keys, batch.rows, arena);
  if (drops_unmatchable_ && matchable != nullptr) {
    auto* selected = arena.AllocateArray<uint16_t>(BitWords(batch.rows) * 64);
    selection = {selected, static_cast<uint32_t>(kernels::BitsToSelection(matchable, batch.rows, selected))};
  }
  const KeyLayout& layout = build_.layout().keys;
  char* images = arena.AllocateArray<char>(size_t{selection.count} * layout.image_bytes());
  layout.BuildImages(keys, selection, arena, images);
  auto* columns = arena.AllocateArray<Vector>(columns_.size());
  for (size_t c = 0; c < columns_.size(); ++c) columns[c] = Flatten(batch.columns[columns_[c]], batch.rows, arena);
  const RowFormat format = build_.probe_format();
  char* memory = arena.AllocateArray<char>(size_t{selection.count} * format.row_bytes);
  std::memset(memory, 0, size_t{selection.count} * format.row_bytes);
  auto** rows = arena.AllocateArray<char*>(selection.count);
  for (uint32_t i = 0; i < selection.count; ++i) rows[i] = memory + size_t{i} * format.row_bytes;
  format.columns->Write(columns, selection, rows, arena);
  for (uint32_t i = 0; i < selection.count; ++i) {
    spiller_.Add(JoinTable::PartitionOf(KeyLayout::Hash(images + size_t{i} * layout.image_bytes())), rows[i]);
  }
}

class SpilledReader final : public Sink::Reader {
 public:
  SpilledReader(const JoinBuild& build, int partition);
  bool Next(Batch* batch) override;

 private:
  enum class Phase : uint8_t { kPass, kProbe, kBuildRows, kDone };
  static constexpr uint32_t kMatchedWords = kVectorRows / 64;

  void LoadPass();
  bool ReadProbeRows();
  void EndPass();

  const JoinBuild& build_;
  const JoinSpec& spec_;
  ExecutionEnvironment& environment_;
  const std::vector<int> probe_columns_;
  Phase phase_ = Phase::kPass;
  SpilledJoinReader build_rows_;
  SpilledJoinReader probe_rows_;
  bool is_last_pass_ = false;
  // Of the pass.
  std::unique_ptr<Arena> strings_;
  std::unique_ptr<JoinTable> table_;
  std::unique_ptr<JoinPassProbe> probe_;
  std::unique_ptr<BuildRowReader> rest_;
  // A bit per probe row, kMatchedWords per batch. The batches of each pass are the same ones.
  std::vector<uint64_t> matched_;
  size_t batch_number_ = 0;
  Arena input_arena_;
  Arena output_arena_;
};

SpilledReader::SpilledReader(const JoinBuild& build, int partition)
    : build_(build),
      spec_(build.spec()),
      environment_(build.environment()),
      probe_columns_(spec_.ProbeColumnsRead()),
      build_rows_(build.build_format(), build.spilled_build(partition), environment_),
      probe_rows_(build.probe_format(), build.spilled_probe(partition), environment_),
      input_arena_(&environment_.budget),
      output_arena_(&environment_.budget) {
  if (probe_rows_.is_at_end() && !spec_.gives_build_rows()) phase_ = Phase::kDone;
}

void SpilledReader::LoadPass() {
  probe_.reset();
  rest_.reset();
  table_.reset();
  // The rows are there twice while the table is made.
  const size_t share = std::max<size_t>(environment_.budget.budget_bytes() / 4 / environment_.thread_count, 64 << 10);
  Arena row_memory(&environment_.budget);
  RowPages rows(&row_memory, build_.layout().row_bytes);
  strings_ = std::make_unique<Arena>(&environment_.budget);
  size_t bytes = 0;
  const bool is_whole = spec_.choice != PENUMBRA_JOIN_ALL;  // of a part of the rows none can be chosen
  while (!build_rows_.is_at_end() && (is_whole || bytes < share)) {
    bytes += build_rows_.Read(rows.Add(), *strings_);
    if (is_whole && bytes > std::max(environment_.budget.budget_bytes(), share)) {
      throw EngineError(PENUMBRA_UNSUPPORTED);
    }
  }
  is_last_pass_ = build_rows_.is_at_end();
  table_ = std::make_unique<JoinTable>(build_.layout(), &environment_.budget, JoinTable::kPartitionBits);
  const JoinForm form = build_.is_range_searched() ? JoinForm::kRange : JoinForm::kHash;
  table_->Reserve(form, {}, {rows.row_count()}, environment_);
  for (int round = 0; round < table_->round_count(); ++round) {
    table_->StartRound(round, environment_);
    table_->Enter(round, 0, {&rows}, environment_);
  }
  probe_ = CreateJoinProbe(build_, *table_);
  probe_rows_.Rewind();
  batch_number_ = 0;
}

// The next batch into the probe; false: there is none.
bool SpilledReader::ReadProbeRows() {
  if (probe_rows_.is_at_end()) return false;
  input_arena_.Reset();
  const RowFormat format = build_.probe_format();
  auto** rows = input_arena_.AllocateArray<char*>(kVectorRows);
  uint32_t count = 0;
  for (size_t bytes = 0; count < kVectorRows && bytes < kBatchStringBytes && !probe_rows_.is_at_end(); ++count) {
    rows[count] = input_arena_.AllocateArray<char>(format.row_bytes);
    bytes += probe_rows_.Read(rows[count], input_arena_);
  }
  const size_t width = spec_.probe_types.size();
  auto* columns = input_arena_.AllocateArray<Vector>(width);
  for (size_t c = 0; c < width; ++c) columns[c] = NullConstant(spec_.probe_types[c]);
  for (size_t c = 0; c < probe_columns_.size(); ++c) {
    columns[probe_columns_[c]] = format.columns->Read(static_cast<int>(c), rows, count, input_arena_);
  }
  const size_t words = ++batch_number_ * kMatchedWords;
  if (matched_.size() < words) matched_.resize(words);
  probe_->SetPass(matched_.data() + words - kMatchedWords, is_last_pass_);
  EvalContext context = environment_.MakeContext(input_arena_);
  probe_->Begin({count, static_cast<uint32_t>(width), columns}, context);
  return true;
}

void SpilledReader::EndPass() { phase_ = is_last_pass_ ? Phase::kDone : Phase::kPass; }

// A partition of both sides: as much of the build side as fits is loaded, all of the probe side is read past it, and
// again for the rest (one key may have all rows). What found a match is kept by row of the probe side across passes.
bool SpilledReader::Next(Batch* batch) {
  while (phase_ != Phase::kDone) {
    environment_.CheckCancelled();
    switch (phase_) {
      case Phase::kPass:
        LoadPass();
        phase_ = Phase::kProbe;
        break;
      case Phase::kProbe:
        if (probe_->is_pending()) {
          output_arena_.Reset();
          EvalContext context = environment_.MakeContext(output_arena_);
          if (probe_->Next(context, batch)) return true;
        } else if (!ReadProbeRows()) {
          phase_ = Phase::kBuildRows;
        }
        break;
      case Phase::kBuildRows:
        if (spec_.gives_build_rows()) {
          if (rest_ == nullptr) {
            rest_ = std::make_unique<BuildRowReader>(build_, *table_, std::vector<const RowPages*>());
          }
          if (rest_->Next(batch)) return true;
        }
        EndPass();
        break;
      case Phase::kDone: break;
    }
  }
  return false;
}

}  // namespace

std::unique_ptr<MultiplyingStep> CreateSpillingProbe(JoinBuild& build) {
  return std::make_unique<SpillingProbe>(build);
}

std::unique_ptr<Sink::Reader> CreateSpilledReader(const JoinBuild& build, int partition) {
  return std::make_unique<SpilledReader>(build, partition);
}

}  // namespace penumbra

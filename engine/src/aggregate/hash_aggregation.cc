// The aggregation sink: evaluates keys, filters and arguments, and feeds GroupAggregations.
//
// Plain aggregates are added to the groups as the rows come. For each distinct pair of DISTINCT
// arguments and filter a second GroupAggregation collects (keys, arguments); after the first round of
// finish tasks has made its rows unique, each of those tasks adds them to the groups as if they
// were input. The second round merges the groups.
//
// GROUPING SETS of which one has all keys: rows are grouped by that one (`finest_`), and its groups, merged in a first
// round of finish tasks, are the input of all sets. DISTINCT needs the rows for each set.
//
// A key in whose order a table lies, by and large (Batch::own_values): a group with all its rows in one batch is
// complete when that batch is done, and if it does not pass HAVING it is dropped before it is anywhere.
//
// Keys that are columns of a build side: rows are grouped by the number of the build row (`finest_`, too), which costs
// as little as grouping by an integer. Rows of one number have equal keys. If the keys of all build rows differ, these
// groups are the result, and keys are read for them; else they are the input of the grouping by the keys themselves.
#include "aggregate/hash_aggregation.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <utility>

#include "aggregate/aggregate_calls.h"
#include "aggregate/batch_groups.h"
#include "aggregate/build_row_keys.h"
#include "aggregate/coded_column.h"
#include "aggregate/distinct_rows.h"
#include "aggregate/grouping_sets.h"
#include "aggregate/hash_aggregation_groups.h"
#include "function/collation.h"
#include "function/numeric_traits.h"

namespace penumbra {
namespace {

bool HasDistinct(const AggregationSpec& spec) {
  return std::any_of(spec.aggregates.begin(), spec.aggregates.end(), DistinctMatters);
}

CodedColumn CodedColumnOf(const Expr& expr, const DictionaryFinder& find_dictionary) {
  const bool may_be_coded = expr.kind == Expr::Kind::kColumn && find_dictionary;
  return CodedColumn(may_be_coded ? find_dictionary(expr.column) : nullptr, IntegerScale(expr));
}

std::vector<CodedColumn> CodedKeys(const AggregationSpec& spec, const DictionaryFinder& find_dictionary) {
  std::vector<CodedColumn> coded;
  for (const Expr* key : spec.keys) coded.push_back(CodedColumnOf(*key, find_dictionary));
  return coded;
}

std::vector<PenumbraType> KeyTypes(const AggregationSpec& spec, const std::vector<CodedColumn>& coded) {
  std::vector<PenumbraType> types;
  for (size_t k = 0; k < spec.keys.size(); ++k) types.push_back(coded[k].CodeType(spec.keys[k]->type));
  if (!spec.sets.empty()) types.push_back(PENUMBRA_INT4);
  return types;
}

Vector SetNumber(int32_t set, Arena& arena) {
  auto* value = arena.AllocateArray<int32_t>(1);
  *value = set;
  Vector number = NullConstant(PENUMBRA_INT4);
  number.data = value;
  return number;
}

// After so many complete groups a thread judges whether HAVING drops enough of them.
constexpr uint64_t kCompleteGroupsSeen = 16 * 1024;

size_t FindSummary(const std::vector<SummaryColumn>& columns, const Expr& argument) {
  size_t i = 0;
  while (i < columns.size() && columns[i].column != argument.column) ++i;
  return i;
}

class AggregationSink : public Sink {
 public:
  AggregationSink(const AggregationSpec& spec, ExecutionEnvironment& environment,
                  const DictionaryFinder& find_dictionary, std::vector<BuildRowKeys> build_row_keys)
      : environment_(environment),
        keys_(spec.keys),
        sets_(spec.sets),
        grouping_sets_(spec.sets),
        coded_keys_(CodedKeys(spec, find_dictionary)),
        key_types_(KeyTypes(spec, coded_keys_)),
        having_(spec.having),
        build_row_keys_(std::move(build_row_keys)),
        own_values_key_(build_row_keys_.empty() ? OwnValuesKey(spec) : -1),
        groups_(key_types_, environment) {
    CanSummarize(spec, &summary_columns_);
    FindPlainKeys();
    if ((grouping_sets_.has_coarser() && !HasDistinct(spec)) || !build_row_keys_.empty()) {
      finest_ = std::make_unique<GroupAggregation>(FinestKeyTypes(), environment);
      regroups_ = !sets_.empty();
    }
    if (spec.is_read_again) {
      groups_.KeepGroups();
      if (finest_ != nullptr) finest_->KeepGroups();
    }
    for (const AggregateSpec& aggregate : spec.aggregates) AddAggregate(aggregate, find_dictionary);
    for (const AccumulatorSlot& slot : groups_.layout().accumulators) {
      if (finest_ != nullptr) finest_->layout().AddAccumulator(slot.accumulator);
    }
  }

  std::unique_ptr<Sink::Local> CreateLocal() override;
  void Consume(Sink::Local& local, const Batch& batch, EvalContext& context) override;
  void ConsumeSummary(Sink::Local& local, uint32_t rows, const ColumnSummary* columns, Arena& arena) override;
  void Combine(Sink::Local& local) override;
  int PrepareFinish() override;
  void RunFinishTask(int task) override;
  int Seal() override { return OwnPartitions() + (ReturnsFinest() ? finest_->PartitionCount() : 0); }
  bool is_ordered() const override { return false; }
  std::unique_ptr<Sink::Reader> OpenPartition(int partition) override;
  SinkStats stats() const override;
  int own_values_column() const override { return own_values_key_ < 0 ? -1 : keys_[own_values_key_]->column; }
  const Vector* dictionary_of(int column) const override {
    return static_cast<size_t>(column) < coded_keys_.size() ? coded_keys_[column].dictionary() : nullptr;
  }

 private:
  struct SinkLocal : Sink::Local {
    // Of finest_ if there is one, else of groups_: one for each set, as each remembers what codes mean.
    std::vector<std::unique_ptr<GroupAggregation::Local>> groups;
    std::vector<std::unique_ptr<GroupAggregation::Local>> distincts;
    AggregateCalls::Values values;              // of the batch in hand, as the keys
    std::vector<Vector> all_keys;               // of GROUPING SETS, or of finest groups
    std::vector<Vector> keys;                   // of the rows' groups, then the arguments of a DISTINCT
    std::unique_ptr<BatchGroups> batch_groups;  // null: no batch has values of its own
    uint64_t complete_groups = 0;
    uint64_t dropped_groups = 0;  // of these
  };
  class ResultReader;

  void AddAggregate(const AggregateSpec& spec, const DictionaryFinder& find_dictionary);
  int FindOrAddDistinct(const AggregateCalls::Inputs& inputs, bool keeps_nulls,
                        const DictionaryFinder& find_dictionary);
  void MergeDistinct(int task);

  void ConsumeGroups(SinkLocal& local, size_t set, uint32_t rows, EvalContext& context);
  bool ConsumeOwnGroups(SinkLocal& local, const Batch& batch, EvalContext& context);
  struct ChosenGroups {
    char** groups;
    Vector* keys;
  };
  ChosenGroups ChooseGroups(const SinkLocal& local, char* const* groups, const uint16_t* chosen, uint32_t count,
                            Arena& arena) const;
  uint32_t DropGroups(char* const* groups, uint32_t count, Arena& arena, uint16_t* kept) const;
  void ReadResults(const GroupLayout& layout, char* const* groups, uint32_t count, Arena& arena,
                   std::vector<Vector>* columns) const;
  uint32_t KeepPassing(const GroupLayout& layout, char** groups, uint32_t count, Arena& arena, uint16_t* numbers) const;
  void FindPlainKeys();
  std::vector<PenumbraType> FinestKeyTypes() const;
  void EvaluateKeys(const Batch& batch, EvalContext& context, std::vector<Vector>* keys) const;
  void ReadFinestKeys(char* const* groups, uint32_t count, Arena& arena, Vector* keys) const;
  Vector ReadFinestSets(char* const* groups, uint32_t count, Arena& arena) const;
  bool IsMadeOfFinest() const { return finest_ != nullptr && !regroups_; }
  // Whether results are finest groups, alone or before them those of groups_.
  bool ReturnsFinest() const { return IsMadeOfFinest() || keeps_finest_; }
  // Whether finest groups are of several sets: the set's number follows their keys.
  bool NumbersFinest() const { return grouping_sets_.finest().size() > 1; }
  int OwnPartitions() const { return IsMadeOfFinest() ? 0 : groups_.PartitionCount(); }
  bool PrepareCheck();
  void SetKeys(SinkLocal& local, size_t set, Arena& arena) const;
  void AddEmptySets();
  void AddFinestGroups(int task);
  std::unique_ptr<GroupAggregation::Local> TakeLocal();
  void ReturnLocal(std::unique_ptr<GroupAggregation::Local> local);

  ExecutionEnvironment& environment_;
  std::vector<const Expr*> keys_;
  std::vector<uint64_t> sets_;
  const GroupingSets grouping_sets_;
  std::vector<CodedColumn> coded_keys_;
  std::vector<PenumbraType> key_types_;  // as they are grouped: of codes
  AggregateCalls calls_;
  std::vector<std::unique_ptr<DistinctRows>> distincts_;
  std::vector<SummaryColumn> summary_columns_;
  std::vector<const Expr*> having_;
  std::vector<BuildRowKeys> build_row_keys_;
  std::vector<int> plain_keys_;  // those that are not of build_row_keys_
  const int own_values_key_;     // -1: none
  std::atomic<uint64_t> dropped_groups_{0};
  GroupAggregation groups_;
  // Of the rows, where its groups are the input of groups_ or the result: by plain keys, then by numbers of build rows.
  std::unique_ptr<GroupAggregation> finest_;
  std::atomic<bool> regroups_{false};          // finest groups are the input of groups_
  bool keeps_finest_ = false;                  // and results as well, those of finest sets
  std::vector<const BuildRowKeys*> unproven_;  // whether keys of all build rows differ
  // What finish tasks add to groups_, one for each that runs at the same time: all partitions of what they read have
  // the same groups.
  std::mutex mutex_;  // guards locals_
  std::vector<std::unique_ptr<GroupAggregation::Local>> locals_;
  enum class Round : uint8_t { kRows, kCheck, kFirst, kMerge };  // kFirst: merges finest_ or distincts_
  Round round_ = Round::kRows;
  std::vector<int> distinct_of_task_;
};

void AggregationSink::AddAggregate(const AggregateSpec& spec, const DictionaryFinder& find_dictionary) {
  AggregateCalls::Inputs inputs = calls_.AddInputs(spec);
  const int distinct =
      DistinctMatters(spec) ? FindOrAddDistinct(inputs, DistinctKeepsNulls(spec), find_dictionary) : -1;
  calls_.Add(spec, std::move(inputs), distinct, &groups_.layout(), environment_);
}

int AggregationSink::FindOrAddDistinct(const AggregateCalls::Inputs& inputs, bool keeps_nulls,
                                       const DictionaryFinder& find_dictionary) {
  for (size_t i = 0; i < distincts_.size(); ++i) {
    if (distincts_[i]->Is(inputs, keeps_nulls)) return static_cast<int>(i);
  }
  std::vector<CodedColumn> coded;
  for (int argument : inputs.arguments) coded.push_back(CodedColumnOf(calls_.argument(argument), find_dictionary));
  const auto number = static_cast<int>(distincts_.size());
  distincts_.push_back(
      std::make_unique<DistinctRows>(number, key_types_, calls_, inputs, std::move(coded), keeps_nulls, environment_));
  return number;
}

std::unique_ptr<Sink::Local> AggregationSink::CreateLocal() {
  auto local = std::make_unique<SinkLocal>();
  const size_t sets = finest_ != nullptr ? grouping_sets_.finest().size() : sets_.size();
  for (size_t i = 0; i < std::max<size_t>(sets, 1); ++i) {
    local->groups.push_back((finest_ != nullptr ? *finest_ : groups_).CreateLocal());
  }
  if (own_values_key_ >= 0) local->batch_groups = std::make_unique<BatchGroups>(groups_, environment_);
  for (const auto& distinct : distincts_) local->distincts.push_back(distinct->groups().CreateLocal());
  local->all_keys.resize(keys_.size());
  local->keys.resize(key_types_.size());
  return local;
}

// ---------------------------------------------------------------- consuming

void AggregationSink::Consume(Sink::Local& sink_local, const Batch& batch, EvalContext& context) {
  if (batch.rows == 0) return;
  SinkLocal& local = static_cast<SinkLocal&>(sink_local);
  if (context.memo != nullptr) context.memo->Begin(batch);
  EvaluateKeys(batch, context, finest_ == nullptr && sets_.empty() ? &local.keys : &local.all_keys);
  calls_.Evaluate(batch, context, &local.values);
  if (finest_ != nullptr && !NumbersFinest()) {
    finest_->Consume(*local.groups[0], local.all_keys.data(), batch.rows, local.values.updates, context.arena);
    return;
  }
  if (finest_ != nullptr) {
    for (size_t i = 0; i < local.groups.size(); ++i) {
      SetKeys(local, grouping_sets_.finest()[i], context.arena);
      finest_->Consume(*local.groups[i], local.keys.data(), batch.rows, local.values.updates, context.arena);
    }
    return;
  }
  if (local.batch_groups != nullptr && batch.own_values != nullptr && ConsumeOwnGroups(local, batch, context)) return;
  if (sets_.empty()) ConsumeGroups(local, 0, batch.rows, context);
  for (size_t set = 0; set < sets_.size(); ++set) {
    SetKeys(local, set, context.arena);
    ConsumeGroups(local, set, batch.rows, context);
  }
}

void AggregationSink::ConsumeGroups(SinkLocal& local, size_t set, uint32_t rows, EvalContext& context) {
  groups_.Consume(*local.groups[set], local.keys.data(), rows, local.values.updates, context.arena);
  for (size_t i = 0; i < distincts_.size(); ++i) {
    distincts_[i]->Consume(*local.distincts[i], local.keys.data(), rows, local.values, context);
  }
}

// Those of the batch's groups with these numbers, in their order.
AggregationSink::ChosenGroups AggregationSink::ChooseGroups(const SinkLocal& local, char* const* groups,
                                                            const uint16_t* chosen, uint32_t count,
                                                            Arena& arena) const {
  const ChosenGroups result{arena.AllocateArray<char*>(count), arena.AllocateArray<Vector>(keys_.size())};
  uint16_t* rows = arena.AllocateArray<uint16_t>(count);
  for (uint32_t i = 0; i < count; ++i) {
    rows[i] = local.batch_groups->first_rows()[chosen[i]];
    result.groups[i] = groups[chosen[i]];
  }
  for (size_t k = 0; k < keys_.size(); ++k) result.keys[k] = Gather(local.keys[k], rows, count, arena);
  return result;
}

// Of groups that are complete, the `count` whose numbers are in `kept`, those that pass HAVING stay there; returns how
// many.
uint32_t AggregationSink::DropGroups(char* const* groups, uint32_t count, Arena& arena, uint16_t* kept) const {
  char* complete[kVectorRows];
  uint16_t numbers[kVectorRows];
  for (uint32_t i = 0; i < count; ++i) complete[i] = groups[kept[i]];
  const uint32_t n = KeepPassing(groups_.layout(), complete, count, arena, numbers);
  for (uint32_t i = 0; i < n; ++i) kept[i] = kept[numbers[i]];
  return n;
}

// Groups whose rows are all in this batch join the others only if they pass HAVING. False: there are none, or they
// cannot be told apart without hashing.
bool AggregationSink::ConsumeOwnGroups(SinkLocal& local, const Batch& batch, EvalContext& context) {
  const Vector& key = local.keys[own_values_key_];
  BatchGroups& numbered = *local.batch_groups;
  if (HasEntries(key) || !numbered.Number(local.keys.data(), static_cast<int>(keys_.size()), batch.rows)) return false;
  uint16_t kept[kVectorRows], complete[kVectorRows];
  uint32_t kept_count = 0, complete_count = 0;
  for (uint32_t g = 0; g < numbered.count(); ++g) {
    const uint32_t row = numbered.first_rows()[g];
    const bool is_complete = key.IsValid(row) && batch.own_values->Contains(IntegerAt(key, row));
    kept[kept_count] = complete[complete_count] = static_cast<uint16_t>(g);
    kept_count += !is_complete;
    complete_count += is_complete;
  }
  if (complete_count == 0) return false;
  char* const* groups = numbered.AddStates(local.values.updates);
  const uint32_t passed = DropGroups(groups, complete_count, context.arena, complete);
  local.complete_groups += complete_count;
  local.dropped_groups += complete_count - passed;
  std::copy_n(complete, passed, kept + kept_count);
  kept_count += passed;
  const ChosenGroups left = ChooseGroups(local, groups, kept, kept_count, context.arena);
  groups_.ConsumeGroups(*local.groups[0], left.keys, left.groups, kept_count, 0, context.arena);
  // Where most pass, the others are found without this, and a fifth faster.
  if (local.complete_groups > kCompleteGroupsSeen && 2 * local.dropped_groups < local.complete_groups)
    local.batch_groups.reset();
  return true;
}

void AggregationSink::FindPlainKeys() {
  std::vector<bool> is_of_build(keys_.size());
  for (const BuildRowKeys& build : build_row_keys_) {
    for (int key : build.keys) is_of_build[key] = true;
  }
  for (size_t k = 0; k < keys_.size(); ++k) {
    if (!is_of_build[k]) plain_keys_.push_back(static_cast<int>(k));
  }
}

std::vector<PenumbraType> AggregationSink::FinestKeyTypes() const {
  std::vector<PenumbraType> types;
  for (int key : plain_keys_) types.push_back(key_types_[key]);
  types.insert(types.end(), NumbersFinest() ? 1 : build_row_keys_.size(), PENUMBRA_INT4);
  return types;
}

// The plain keys, then the numbers of build rows. There are no more than keys, for which `keys` has room.
void AggregationSink::EvaluateKeys(const Batch& batch, EvalContext& context, std::vector<Vector>* keys) const {
  size_t place = 0;
  for (int key : plain_keys_) {
    (*keys)[place++] = coded_keys_[key].Encode(Evaluate(*keys_[key], batch, context), batch.rows, context.arena);
  }
  for (const BuildRowKeys& build : build_row_keys_) {
    const Vector numbers = Evaluate(*keys_[build.keys[0]], batch, context);
    (*keys)[place++] = numbers.is_null_constant() ? NullConstant(PENUMBRA_INT4) : numbers;
  }
}

// All keys of finest groups: plain ones are codes where rows are grouped by these, others are not.
void AggregationSink::ReadFinestKeys(char* const* groups, uint32_t count, Arena& arena, Vector* keys) const {
  const KeyLayout& layout = finest_->layout().keys;
  int place = 0;
  for (int key : plain_keys_) keys[key] = layout.Output(place++, groups, count, arena);
  for (const BuildRowKeys& build : build_row_keys_) {
    const Vector numbers = layout.Output(place++, groups, count, arena);
    for (size_t i = 0; i < build.keys.size(); ++i) {
      keys[build.keys[i]] = build.join->ReadColumn(build.columns[i], numbers, count, arena);
    }
  }
}

// The sets of finest groups, by number.
Vector AggregationSink::ReadFinestSets(char* const* groups, uint32_t count, Arena& arena) const {
  if (NumbersFinest()) return finest_->layout().keys.Output(static_cast<int>(plain_keys_.size()), groups, count, arena);
  return Flatten(SetNumber(static_cast<int32_t>(grouping_sets_.finest()[0]), arena), count, arena);
}

// The keys of the rows' groups in a set.
void AggregationSink::SetKeys(SinkLocal& local, size_t set, Arena& arena) const {
  for (size_t k = 0; k < keys_.size(); ++k) {
    local.keys[k] = (sets_[set] >> k & 1) != 0 ? local.all_keys[k] : NullConstant(key_types_[k]);
  }
  local.keys[keys_.size()] = SetNumber(static_cast<int32_t>(set), arena);
}

// A set without keys has a group even without rows.
void AggregationSink::AddEmptySets() {
  SinkLocal local;
  const std::unique_ptr<GroupAggregation::Local> groups = groups_.CreateLocal();
  local.keys.resize(key_types_.size());
  Arena arena;
  for (size_t set = 0; set < sets_.size(); ++set) {
    if (sets_[set] != 0) continue;
    SetKeys(local, set, arena);
    groups_.Consume(*groups, local.keys.data(), 1, local.values.updates, arena);
  }
  groups_.Combine(*groups);
}

std::unique_ptr<GroupAggregation::Local> AggregationSink::TakeLocal() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (locals_.empty()) return groups_.CreateLocal();
  std::unique_ptr<GroupAggregation::Local> local = std::move(locals_.back());
  locals_.pop_back();
  return local;
}

void AggregationSink::ReturnLocal(std::unique_ptr<GroupAggregation::Local> local) {
  std::lock_guard<std::mutex> lock(mutex_);
  locals_.push_back(std::move(local));
}

// Makes the finest groups of a merged partition groups of the keys, or of every set.
void AggregationSink::AddFinestGroups(int task) {
  const int64_t states_shift =
      int64_t{finest_->layout().keys.image_bytes()} - int64_t{groups_.layout().keys.image_bytes()};
  std::unique_ptr<GroupAggregation::Reader> reader = keeps_finest_ ? finest_->OpenKept(task) : finest_->Open(task);
  SinkLocal local;
  std::unique_ptr<GroupAggregation::Local> coarser = TakeLocal();
  local.all_keys.resize(keys_.size());
  local.keys.resize(key_types_.size());
  std::vector<char*> groups(kVectorRows);
  Arena arena;
  std::vector<char*> chosen(kVectorRows);
  uint16_t rows[kVectorRows];
  while (uint32_t count = reader->Next(groups.data())) {
    environment_.CheckCancelled();
    arena.Reset();
    ReadFinestKeys(groups.data(), count, arena, local.all_keys.data());
    for (const BuildRowKeys& build : build_row_keys_) {
      for (int key : build.keys) local.all_keys[key] = coded_keys_[key].Encode(local.all_keys[key], count, arena);
    }
    if (sets_.empty()) {
      groups_.ConsumeGroups(*coarser, local.all_keys.data(), groups.data(), count, states_shift, arena);
      continue;
    }
    const Vector finest_sets = ReadFinestSets(groups.data(), count, arena);
    for (size_t set = 0; set < sets_.size(); ++set) {
      if (keeps_finest_ && grouping_sets_.IsFinest(set)) continue;
      const auto source = static_cast<int32_t>(grouping_sets_.source(set));
      uint32_t n = 0;
      for (uint32_t i = 0; i < count; ++i) {
        if (finest_sets.values<int32_t>()[i] != source) continue;
        rows[n] = static_cast<uint16_t>(i);
        chosen[n++] = groups[i];
      }
      if (n == 0) continue;
      SetKeys(local, set, arena);
      if (n < count) {
        for (Vector& key : local.keys) key = Gather(key, rows, n, arena);
      }
      groups_.ConsumeGroups(*coarser, local.keys.data(), chosen.data(), n, states_shift, arena);
    }
  }
  ReturnLocal(std::move(coarser));
}

// The states' accumulators see bounds as rows; counts read none.
void AggregationSink::ConsumeSummary(Sink::Local& sink_local, uint32_t rows, const ColumnSummary* columns,
                                     Arena& arena) {
  static constexpr uint16_t kBoundRows[] = {0, 1};
  SinkLocal& local = static_cast<SinkLocal&>(sink_local);
  local.values.updates.clear();
  for (const AggregateCalls::State& state : calls_.states()) {
    if (state.inputs.arguments.empty()) {
      local.values.updates.push_back({state.accumulator, &kNoArgument, {nullptr, rows}});
      continue;
    }
    const ColumnSummary& summary = columns[FindSummary(summary_columns_, calls_.argument(state.inputs.arguments[0]))];
    if (summary.valid_rows == 0) continue;
    if (state.needs == AggregateNeeds::kCount) {
      local.values.updates.push_back({state.accumulator, &kNoArgument, {nullptr, summary.valid_rows}});
    } else {
      const bool is_greatest = state.needs == AggregateNeeds::kGreatest;
      local.values.updates.push_back({state.accumulator, &summary.bounds, {kBoundRows + is_greatest, 1}});
    }
  }
  groups_.Consume(*local.groups[0], nullptr, 1, local.values.updates, arena);
}

void AggregationSink::Combine(Sink::Local& sink_local) {
  SinkLocal& local = static_cast<SinkLocal&>(sink_local);
  for (const auto& groups : local.groups) (finest_ != nullptr ? *finest_ : groups_).Combine(*groups);
  for (size_t i = 0; i < distincts_.size(); ++i) distincts_[i]->groups().Combine(*local.distincts[i]);
  dropped_groups_ += local.dropped_groups;
  local.groups.clear();
  local.distincts.clear();
}

// ---------------------------------------------------------------- finishing

// Whether tasks shall find out if the keys of all build rows differ.
bool AggregationSink::PrepareCheck() {
  if (regroups_) return false;
  for (const BuildRowKeys& keys : build_row_keys_) {
    if (keys.join->AreDistinct(keys.columns)) continue;
    unproven_.push_back(&keys);
    if (!IsWorthChecking(keys, finest_->row_count(), environment_)) regroups_ = true;
  }
  return !unproven_.empty() && !regroups_;
}

// Returns the number of tasks of the next round, in the order of Round; 0 after the last. A round without tasks is
// passed over.
int AggregationSink::PrepareFinish() {
  if (round_ == Round::kRows && PrepareCheck()) {
    round_ = Round::kCheck;
    return static_cast<int>(unproven_.size());
  }
  if (round_ < Round::kFirst) {
    round_ = Round::kFirst;
    if (finest_ != nullptr) {
      keeps_finest_ = regroups_ && build_row_keys_.empty() && finest_->spilled_bytes() == 0;
      return finest_->PrepareMerge();
    }
    for (size_t i = 0; i < distincts_.size(); ++i) {
      distinct_of_task_.insert(distinct_of_task_.end(), distincts_[i]->groups().PrepareMerge(), static_cast<int>(i));
    }
    if (!distinct_of_task_.empty()) return static_cast<int>(distinct_of_task_.size());
  }
  if (round_ == Round::kMerge || IsMadeOfFinest()) return 0;
  round_ = Round::kMerge;
  for (const auto& local : locals_) groups_.Combine(*local);
  locals_.clear();
  if (key_types_.empty()) groups_.AddEmptyGroup();
  if (!sets_.empty()) AddEmptySets();
  return groups_.PrepareMerge();
}

void AggregationSink::RunFinishTask(int task) {
  switch (round_) {
    case Round::kRows: break;
    case Round::kCheck:
      if (!regroups_ && !HaveDistinctKeys(*unproven_[task], environment_)) regroups_ = true;
      return;
    case Round::kFirst:
      if (finest_ == nullptr) {
        MergeDistinct(task);
        return;
      }
      finest_->RunMergeTask(task);
      if (regroups_) AddFinestGroups(task);
      return;
    case Round::kMerge: groups_.RunMergeTask(task); return;
  }
}

// Rows without duplicates: groups_ consumes them like any rows. The task owns the local until it returns it.
void AggregationSink::MergeDistinct(int task) {
  const int index = distinct_of_task_[task];
  const int first = static_cast<int>(std::lower_bound(distinct_of_task_.begin(), distinct_of_task_.end(), index) -
                                     distinct_of_task_.begin());
  distincts_[index]->groups().RunMergeTask(task - first);
  std::unique_ptr<GroupAggregation::Local> local = TakeLocal();
  distincts_[index]->Read(task - first, calls_,
                          [&](const Vector* keys, uint32_t count, const std::vector<StateUpdate>& updates,
                              Arena& arena) { groups_.Consume(*local, keys, count, updates, arena); });
  ReturnLocal(std::move(local));
}

// ---------------------------------------------------------------- reading

// The aggregates' results, after what *columns has.
void AggregationSink::ReadResults(const GroupLayout& layout, char* const* groups, uint32_t count, Arena& arena,
                                  std::vector<Vector>* columns) const {
  for (size_t i = 0; i < calls_.count(); ++i) columns->push_back(calls_.Result(i, layout, groups, count, arena));
}

// Moves the groups that pass HAVING to the front, as far as it is about aggregates alone; returns how many, and their
// numbers before. Each conjunct's aggregates are computed of the groups that passed those before: of most groups
// nothing else is.
uint32_t AggregationSink::KeepPassing(const GroupLayout& layout, char** groups, uint32_t count, Arena& arena,
                                      uint16_t* numbers) const {
  std::iota(numbers, numbers + count, uint16_t{0});
  EvalContext context = environment_.MakeContext(arena);
  std::vector<Vector> columns(key_types_.size() + calls_.count());
  uint16_t passed[kVectorRows];
  for (const Expr* conjunct : having_) {
    std::vector<int> read;
    CollectColumns(*conjunct, &read);
    const auto is_key = [&](int column) { return static_cast<size_t>(column) < key_types_.size(); };
    if (std::any_of(read.begin(), read.end(), is_key)) continue;
    for (int column : read) {
      columns[column] = calls_.Result(column - key_types_.size(), layout, groups, count, arena);
    }
    const Batch batch{count, static_cast<uint32_t>(columns.size()), columns.data()};
    count = EvaluateFilter(*conjunct, batch, context, passed);
    for (uint32_t i = 0; i < count; ++i) {
      groups[i] = groups[passed[i]];
      numbers[i] = numbers[passed[i]];
    }
    if (count == 0) break;
  }
  return count;
}

class AggregationSink::ResultReader : public Sink::Reader {
 public:
  ResultReader(AggregationSink& sink, int partition)
      : sink_(sink),
        is_finest_(partition >= sink.OwnPartitions()),
        groups_(is_finest_ ? *sink.finest_ : sink.groups_),
        reader_(groups_.OpenResult(is_finest_ ? partition - sink.OwnPartitions() : partition)),
        rows_(kVectorRows),
        arena_(&sink.environment_.budget) {}

  // The batch points into arena_ and into rows of groups_, and is valid until the next call.
  bool Next(Batch* batch) override {
    const GroupLayout& layout = groups_.layout();
    char** rows;
    uint32_t count;
    uint16_t numbers[kVectorRows];
    do {
      sink_.environment_.CheckCancelled();
      arena_.Reset();
      count = NextRows(&rows);
      if (count == 0) return false;
      if (!sink_.having_.empty()) count = sink_.KeepPassing(layout, rows, count, arena_, numbers);
    } while (count == 0);
    columns_.clear();
    if (is_finest_) {
      columns_.resize(sink_.keys_.size());
      sink_.ReadFinestKeys(rows, count, arena_, columns_.data());
      for (int key : sink_.plain_keys_) columns_[key] = sink_.coded_keys_[key].Decode(columns_[key], count, arena_);
      if (sink_.keeps_finest_) columns_.push_back(sink_.ReadFinestSets(rows, count, arena_));
    } else {
      for (int k = 0; k < layout.keys.count(); ++k) {
        columns_.push_back(layout.keys.Output(k, rows, count, arena_));
      }
      for (size_t k = 0; k < sink_.coded_keys_.size(); ++k) {
        columns_[k] = sink_.coded_keys_[k].Decode(columns_[k], count, arena_);
      }
    }
    sink_.ReadResults(layout, rows, count, arena_, &columns_);
    *batch = {count, static_cast<uint32_t>(columns_.size()), columns_.data()};
    return true;
  }

 private:
  // Results of more together are several batches.
  static constexpr size_t kResultBytesMax = size_t{16} << 20;

  uint32_t NextRows(char*** rows) {
    if (next_ == count_) {
      count_ = reader_->Next(rows_.data());
      next_ = 0;
    }
    *rows = rows_.data() + next_;
    if (!sink_.calls_.returns_large_values()) return std::exchange(next_, count_) == count_ ? 0 : count_;
    const uint32_t first = next_;
    for (size_t bytes = 0; next_ < count_ && bytes <= kResultBytesMax; ++next_) bytes += ResultBytes(rows_[next_]);
    return next_ - first;
  }
  size_t ResultBytes(const char* group) const {
    size_t bytes = 0;
    for (const AccumulatorSlot& slot : groups_.layout().accumulators) {
      bytes += slot.accumulator->ResultBytes(group + slot.offset);
    }
    return bytes;
  }

  AggregationSink& sink_;
  const bool is_finest_;
  GroupAggregation& groups_;
  std::unique_ptr<GroupAggregation::Reader> reader_;
  std::vector<char*> rows_;
  uint32_t count_ = 0;
  uint32_t next_ = 0;
  std::vector<Vector> columns_;
  Arena arena_;
};

std::unique_ptr<Sink::Reader> AggregationSink::OpenPartition(int partition) {
  return std::make_unique<ResultReader>(*this, partition);
}

SinkStats AggregationSink::stats() const {
  SinkStats stats;
  stats.groups = (IsMadeOfFinest() ? 0 : groups_.group_count()) + (ReturnsFinest() ? finest_->group_count() : 0);
  stats.dropped_groups = dropped_groups_;
  stats.spilled_bytes = groups_.spilled_bytes() + (finest_ != nullptr ? finest_->spilled_bytes() : 0);
  for (const auto& distinct : distincts_) stats.spilled_bytes += distinct->groups().spilled_bytes();
  return stats;
}

}  // namespace

bool IsOfOneSpelling(PenumbraType type) {
  return IsIntegerType(type, NumericForm::kPayload) || type == PENUMBRA_TEXT || type == PENUMBRA_UUID;
}

// All keys are columns of types whose equal values are one code each: BatchGroups would tell groups apart by two codes
// of 1.0 and 1.00, or of lower('a') and lower('A').
int OwnValuesKey(const AggregationSpec& spec) {
  if (spec.having.empty() || !spec.sets.empty() || HasDistinct(spec)) return -1;
  int found = -1;
  for (size_t k = 0; k < spec.keys.size(); ++k) {
    const Expr& key = *spec.keys[k];
    if (key.kind != Expr::Kind::kColumn || !IsOfOneSpelling(key.type)) return -1;
    if (IsIntegerType(key.type, NumericForm::kPayload) && found < 0) found = static_cast<int>(k);
  }
  return found;
}

bool CanGroupByBuildRows(const AggregationSpec& spec) {
  return (spec.sets.empty() || GroupingSets(spec.sets).finest().size() == 1) && !HasDistinct(spec);
}

bool CanSummarize(const AggregationSpec& spec, std::vector<SummaryColumn>* columns) {
  columns->clear();
  if (!spec.keys.empty() || !spec.sets.empty()) return false;
  for (const AggregateSpec& aggregate : spec.aggregates) {
    if (aggregate.filter != nullptr || DistinctMatters(aggregate)) return false;
    const AggregateNeeds needs = InfoOf(aggregate.function).needs;
    if (needs >= AggregateNeeds::kValues || aggregate.arguments.size() > 1) return false;
    if (aggregate.arguments.empty()) continue;
    const Expr& argument = *aggregate.arguments[0];
    if (argument.kind != Expr::Kind::kColumn) return false;
    // The bounds of text are bytewise.
    if (aggregate.collation != nullptr && !aggregate.collation->is_bytewise()) return false;
    const size_t i = FindSummary(*columns, argument);
    if (i == columns->size()) columns->push_back({argument.column, {}});
    (*columns)[i].bounds.least |= needs == AggregateNeeds::kLeast;
    (*columns)[i].bounds.greatest |= needs == AggregateNeeds::kGreatest;
  }
  return true;
}

std::unique_ptr<Sink> CreateAggregation(const AggregationSpec& spec, ExecutionEnvironment& environment,
                                        const DictionaryFinder& find_dictionary,
                                        std::vector<BuildRowKeys> build_row_keys) {
  return std::make_unique<AggregationSink>(spec, environment, find_dictionary, std::move(build_row_keys));
}

}  // namespace penumbra

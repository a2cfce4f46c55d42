#include "unnest/list_aggregation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aggregate/aggregate_calls.h"
#include "aggregate/distinct_rows.h"
#include "function/numeric_traits.h"
#include "unnest/unnest.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Each row of the batch is a group, known by its place: nothing is hashed, and the batch comes out as it was.
class ListAggregation final : public MultiplyingStep {
 public:
  ListAggregation(const UnnestSpec& spec, ExecutionEnvironment& environment)
      : spec_(spec),
        environment_(environment),
        unnest_spec_(SpecOfElements(spec)),
        elements_(CreateUnnest(unnest_spec_, &environment.budget)),
        layout_({}) {
    for (const AggregateSpec& aggregate : spec.aggregates) {
      AggregateCalls::Inputs inputs = calls_.AddInputs(aggregate);
      const int distinct = DistinctMatters(aggregate) ? AddDistinct(aggregate, inputs) : -1;
      calls_.Add(aggregate, std::move(inputs), distinct, &layout_, environment);
    }
  }

  void Begin(const Batch& batch, EvalContext& context) override {
    batch_ = batch;
    is_pending_ = true;
    elements_->Begin(batch, context);
    states_.assign(size_t{batch.rows} * layout_.row_bytes, 0);
    for (uint32_t row = 0; row < batch.rows; ++row) groups_[row] = states_.data() + size_t{row} * layout_.row_bytes;
    if (store_ == nullptr || store_->bytes() > 0) store_ = std::make_unique<StateStore>(&environment_.budget);
    BeginDistincts();
  }
  bool is_pending() const override { return is_pending_; }
  bool Next(EvalContext& context, Batch* batch) override;

 private:
  static UnnestSpec SpecOfElements(const UnnestSpec& spec) {
    UnnestSpec elements = spec;
    elements.needed.assign(spec.unnested_columns(), false);
    for (int column : spec.AggregatedColumns()) elements.needed[column] = true;
    return elements;
  }
  // Of the elements whose arguments differ within a row.
  struct Distinct {
    AggregateCalls::Inputs inputs;
    bool keeps_nulls;
    std::unique_ptr<DistinctRows> rows;  // of the batch in hand, by number of the row
    std::unique_ptr<GroupAggregation::Local> local;
  };
  int AddDistinct(const AggregateSpec& aggregate, const AggregateCalls::Inputs& inputs);
  void BeginDistincts();
  void FinishDistincts();
  void Add(const Batch& elements, EvalContext& context);
  void CheckSingle(const Vector& counts) const;

  const UnnestSpec& spec_;
  ExecutionEnvironment& environment_;
  const UnnestSpec unnest_spec_;
  const std::unique_ptr<UnnestStep> elements_;
  GroupLayout layout_;
  AggregateCalls calls_;
  AggregateCalls::Values values_;
  std::vector<Distinct> distincts_;
  Batch batch_;
  bool is_pending_ = false;
  std::vector<char> states_;  // by row of the batch
  char* groups_[kVectorRows];
  std::unique_ptr<StateStore> store_;
};

int ListAggregation::AddDistinct(const AggregateSpec& aggregate, const AggregateCalls::Inputs& inputs) {
  distincts_.push_back({inputs, DistinctKeepsNulls(aggregate), nullptr, nullptr});
  return static_cast<int>(distincts_.size()) - 1;
}

void ListAggregation::BeginDistincts() {
  for (Distinct& distinct : distincts_) {
    std::vector<CodedColumn> coded;
    for (int argument : distinct.inputs.arguments) coded.emplace_back(nullptr, IntegerScale(calls_.argument(argument)));
    const auto number = static_cast<int>(&distinct - distincts_.data());
    distinct.local.reset();
    distinct.rows =
        std::make_unique<DistinctRows>(number, std::vector<PenumbraType>{PENUMBRA_INT4}, calls_, distinct.inputs,
                                       std::move(coded), distinct.keeps_nulls, environment_);
    distinct.local = distinct.rows->groups().CreateLocal();
  }
}

void ListAggregation::FinishDistincts() {
  for (Distinct& distinct : distincts_) {
    distinct.rows->groups().Combine(*distinct.local);
    const int tasks = distinct.rows->groups().PrepareMerge();
    for (int task = 0; task < tasks; ++task) {
      distinct.rows->groups().RunMergeTask(task);
      distinct.rows->Read(
          task, calls_, [&](const Vector* keys, uint32_t count, const std::vector<StateUpdate>& updates, Arena& arena) {
            const Vector numbers = Flatten(keys[0], count, arena);
            char* groups[kVectorRows];
            for (uint32_t i = 0; i < count; ++i) groups[i] = groups_[numbers.values<int32_t>()[i]];
            AddScattered(layout_, groups, updates, *store_);
          });
    }
  }
}

void ListAggregation::Add(const Batch& elements, EvalContext& context) {
  if (context.memo != nullptr) context.memo->Begin(elements);
  calls_.Evaluate(elements, context, &values_);
  char* groups[kVectorRows];
  for (uint32_t i = 0; i < elements.rows; ++i) groups[i] = groups_[elements_->input_rows()[i]];
  AddScattered(layout_, groups, values_.updates, *store_);
  if (distincts_.empty()) return;
  auto* numbers = context.arena.AllocateArray<int32_t>(elements.rows);
  std::copy_n(elements_->input_rows(), elements.rows, numbers);
  const Vector key = FlatVector(PENUMBRA_INT4, numbers, nullptr);
  for (Distinct& distinct : distincts_) distinct.rows->Consume(*distinct.local, &key, elements.rows, values_, context);
}

void ListAggregation::CheckSingle(const Vector& counts) const {
  for (uint32_t row = 0; row < batch_.rows; ++row) {
    if (counts.values<int64_t>()[row] > 1) throw EngineError(PENUMBRA_CARDINALITY_VIOLATION);
  }
}

bool ListAggregation::Next(EvalContext& context, Batch* batch) {
  Batch elements;
  if (elements_->is_pending() && elements_->Next(context, &elements)) Add(elements, context);
  if (elements_->is_pending()) return false;
  is_pending_ = false;
  FinishDistincts();
  const size_t width = batch_.column_count + calls_.count();
  auto* columns = context.arena.AllocateArray<Vector>(width);
  std::copy_n(batch_.columns, batch_.column_count, columns);
  for (size_t i = 0; i < calls_.count(); ++i) {
    columns[batch_.column_count + i] = calls_.Result(i, layout_, groups_, batch_.rows, context.arena);
  }
  if (spec_.single >= 0) CheckSingle(columns[batch_.column_count + static_cast<size_t>(spec_.single)]);
  *batch = {batch_.rows, static_cast<uint32_t>(width), columns};
  return true;
}

}  // namespace

std::unique_ptr<MultiplyingStep> CreateListAggregation(const UnnestSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<ListAggregation>(spec, environment);
}

}  // namespace penumbra

// The rows of keys and of the arguments of a DISTINCT aggregate, each once.
#pragma once

#include <memory>
#include <vector>

#include "aggregate/aggregate_calls.h"
#include "aggregate/coded_column.h"
#include "aggregate/hash_aggregation_groups.h"
#include "operator/execution_environment.h"

namespace penumbra {

class DistinctRows {
 public:
  // `number`: AggregateCalls::State::distinct of the states that these rows feed. `coded`: by argument.
  DistinctRows(int number, const std::vector<PenumbraType>& key_types, const AggregateCalls& calls,
               AggregateCalls::Inputs inputs, std::vector<CodedColumn> coded, bool keeps_nulls,
               ExecutionEnvironment& environment);
  bool Is(const AggregateCalls::Inputs& inputs, bool keeps_nulls) const {
    return inputs_ == inputs && keeps_nulls_ == keeps_nulls;
  }
  GroupAggregation& groups() { return groups_; }
  const GroupAggregation& groups() const { return groups_; }

  void Consume(GroupAggregation::Local& local, const Vector* keys, uint32_t rows, const AggregateCalls::Values& values,
               EvalContext& context);
  // Calls add(keys, count, updates) with the rows of a merged task; only it reads them.
  template <typename Add>
  void Read(int task, const AggregateCalls& calls, Add&& add);

 private:
  const int number_;
  const size_t key_count_;
  const AggregateCalls::Inputs inputs_;
  const std::vector<CodedColumn> coded_;
  const bool keeps_nulls_;  // rows whose arguments are null count
  ExecutionEnvironment& environment_;
  GroupAggregation groups_;
};

template <typename Add>
void DistinctRows::Read(int task, const AggregateCalls& calls, Add&& add) {
  std::unique_ptr<GroupAggregation::Reader> reader = groups_.Open(task);
  std::vector<char*> rows(kVectorRows);
  std::vector<Vector> columns(key_count_ + coded_.size());
  std::vector<StateUpdate> updates;
  Arena arena;
  while (uint32_t count = reader->Next(rows.data())) {
    environment_.CheckCancelled();
    arena.Reset();
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i] = groups_.layout().keys.Output(static_cast<int>(i), rows.data(), count, arena);
    }
    for (size_t i = 0; i < coded_.size(); ++i) {
      Vector& argument = columns[key_count_ + i];
      argument = Flatten(coded_[i].Decode(argument, count, arena), count, arena);
    }
    updates.clear();
    for (const AggregateCalls::State& state : calls.states()) {
      if (state.distinct != number_) continue;
      const Vector* arguments = CountsDistinctRows(state.spec) ? &kNoArgument : &columns[key_count_];
      updates.push_back({state.accumulator, arguments, {nullptr, count}});
    }
    add(columns.data(), count, updates, arena);
  }
}

}  // namespace penumbra

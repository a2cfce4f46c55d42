// The calls of an aggregation over the rows of a batch: filters, arguments and states, each once for all calls that
// share it.
#pragma once

#include <vector>

#include "aggregate/aggregate_accumulator.h"
#include "aggregate/hash_aggregation_rows.h"
#include "operator/execution_environment.h"

namespace penumbra {

// For accumulators that read none.
inline const Vector kNoArgument{};

// Whether DISTINCT makes a difference to the call.
bool DistinctMatters(const AggregateSpec& spec);
// Of such a call: whether rows whose arguments are null count.
bool DistinctKeepsNulls(const AggregateSpec& spec);
// The rows that are valid in all of the vectors; null: all rows.
const uint64_t* CommonValidity(const Vector* vectors, size_t count, uint32_t rows, Arena& arena);

class AggregateCalls {
 public:
  struct Inputs {
    int filter;  // -1 for none
    std::vector<int> arguments;
    bool operator==(const Inputs&) const = default;
  };
  struct State {  // an accumulator and what feeds it
    AccumulatorFactory factory;
    AggregateNeeds needs;
    Inputs inputs;
    int distinct;        // the caller's number of what feeds it; -1: the rows do
    AggregateSpec spec;  // what made the accumulator
    int accumulator;     // in the layout
  };
  // Of the batch in hand.
  struct Values {
    std::vector<RowSelection> selections;  // by filter
    std::vector<Vector> arguments;         // in any form
    std::vector<Vector> flat_arguments;    // of those that plain aggregates read
    std::vector<StateUpdate> updates;      // of the states that the rows feed

    RowSelection SelectionOf(int filter, uint32_t rows) const {
      return filter < 0 ? RowSelection{nullptr, rows} : selections[filter];
    }
  };

  // A call is added in two steps, because what feeds a DISTINCT one is made of its inputs. An accumulator for it
  // becomes part of the layout.
  Inputs AddInputs(const AggregateSpec& spec);
  void Add(const AggregateSpec& spec, Inputs inputs, int distinct, GroupLayout* layout,
           ExecutionEnvironment& environment);

  size_t count() const { return results_.size(); }
  const Expr& argument(int number) const { return *arguments_[number]; }
  const std::vector<State>& states() const { return states_; }
  bool returns_large_values() const { return returns_large_values_; }

  void Evaluate(const Batch& batch, EvalContext& context, Values* values) const;
  // The result of a call for the groups.
  Vector Result(size_t call, const GroupLayout& layout, char* const* groups, uint32_t count, Arena& arena) const;

 private:
  struct ResultOfState {
    int state;
    AggregateResult values;
  };

  int FindOrAddArgument(const Expr* argument, int filter);
  const Vector* ArgumentsOf(const Values& values, const State& state, uint32_t rows, Arena& arena) const;

  std::vector<const Expr*> arguments_;
  std::vector<int> argument_filters_;    // of the argument: the filter that all its uses have, or -1
  std::vector<bool> is_plain_argument_;  // whether an aggregate without DISTINCT reads it
  std::vector<const Expr*> filters_;
  std::vector<State> states_;
  std::vector<ResultOfState> results_;  // by call
  bool returns_large_values_ = false;
};

}  // namespace penumbra

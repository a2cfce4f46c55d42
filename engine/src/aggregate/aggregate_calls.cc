#include "aggregate/aggregate_calls.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "vector/error.h"

namespace penumbra {
namespace {

bool ConstantsEqual(const Vector& a, const Vector& b) {
  if (a.type != b.type || a.numeric_form != b.numeric_form || a.scale != b.scale) return false;
  if (a.data == nullptr || b.data == nullptr) return a.data == b.data;
  if (IsStringForm(a)) return *a.values<StringRef>() == *b.values<StringRef>();
  return std::memcmp(a.data, b.data, FlatWidth(a)) == 0;
}

// Whether two expressions give the same values: both are immutable functions of the batch.
bool ExprsEqual(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->type != b->type) return false;
  switch (a->kind) {
    case Expr::Kind::kColumn: return a->column == b->column;
    case Expr::Kind::kConstant: return ConstantsEqual(a->constant, b->constant);
    case Expr::Kind::kList: return false;  // equal ones are one node of the plan
    case Expr::Kind::kCall:
      if (a->function == PENUMBRA_FN_COUNT_OF) return false;  // of the host's, the same
      break;
  }
  if (a->function != b->function || a->collation != b->collation || a->hides_scale != b->hides_scale ||
      a->args.size() != b->args.size()) {
    return false;
  }
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!ExprsEqual(a->args[i], b->args[i])) return false;
  }
  return true;
}

// The index of `expr` in `exprs`, where it is added if it is missing; -1 for null.
int FindOrAdd(const Expr* expr, std::vector<const Expr*>* exprs) {
  if (expr == nullptr) return -1;
  for (size_t i = 0; i < exprs->size(); ++i) {
    if (ExprsEqual((*exprs)[i], expr)) return static_cast<int>(i);
  }
  exprs->push_back(expr);
  return static_cast<int>(exprs->size()) - 1;
}

bool IsBound(AggregateNeeds needs) { return needs == AggregateNeeds::kLeast || needs == AggregateNeeds::kGreatest; }

// Of two aggregates whose arguments are the same.
bool HaveOneOrder(const AggregateSpec& a, const AggregateSpec& b) {
  return a.collation == b.collation && a.order == b.order;
}

// Values of some rows back at those rows of a vector of `rows`.
Vector Spread(const Vector& v, const uint16_t* selected, uint32_t count, uint32_t rows, Arena& arena) {
  Vector flat = Flatten(v, count, arena);
  const uint32_t width = FlatWidth(flat);
  char* values = static_cast<char*>(arena.Allocate(size_t{rows} * width));
  std::memset(values, 0, size_t{rows} * width);
  uint64_t* validity = arena.AllocateArray<uint64_t>(kValidityWords);
  std::memset(validity, 0, kValidityWords * 8);
  const char* from = static_cast<const char*>(flat.data);
  for (uint32_t i = 0; i < count; ++i) {
    if (!flat.IsValid(i)) continue;
    std::memcpy(values + size_t{selected[i]} * width, from + size_t{i} * width, width);
    validity[selected[i] / 64] |= uint64_t{1} << (selected[i] % 64);
  }
  Vector result = flat;
  result.data = values;
  result.validity = validity;
  return result;
}

// Null where the rows are not selected.
Vector EvaluateArgument(const Expr& argument, RowSelection selection, const Batch& batch, EvalContext& context) {
  if (selection.rows == nullptr || selection.count == batch.rows) {
    return Evaluate(argument, batch, context);
  }
  std::vector<int> used;
  CollectColumns(argument, &used);
  Vector* columns = context.arena.AllocateArray<Vector>(batch.column_count);
  std::uninitialized_default_construct_n(columns, batch.column_count);
  for (int column : used) {
    columns[column] = Gather(batch.columns[column], selection.rows, selection.count, context.arena);
  }
  if (selection.count == 0) {
    Vector none;  // never read
    none.type = argument.type;
    return none;
  }
  Batch selected{selection.count, batch.column_count, columns};
  return Spread(Evaluate(argument, selected, context), selection.rows, selection.count, batch.rows, context.arena);
}

}  // namespace

bool DistinctMatters(const AggregateSpec& spec) { return spec.distinct && !IsBound(InfoOf(spec.function).needs); }

bool DistinctKeepsNulls(const AggregateSpec& spec) {
  return InfoOf(spec.function).needs == AggregateNeeds::kRows || CountsDistinctRows(spec);
}

const uint64_t* CommonValidity(const Vector* vectors, size_t count, uint32_t rows, Arena& arena) {
  const uint64_t* common = vectors[0].validity;
  for (size_t i = 1; i < count; ++i) common = AndValidity(common, vectors[i].validity, rows, arena);
  return common;
}

AggregateCalls::Inputs AggregateCalls::AddInputs(const AggregateSpec& spec) {
  std::string reason;
  if (!CheckAggregate(spec, &reason)) throw EngineError(PENUMBRA_UNSUPPORTED, reason);
  Inputs inputs{FindOrAdd(spec.filter, &filters_), {}};
  for (const Expr* argument : spec.arguments) inputs.arguments.push_back(FindOrAddArgument(argument, inputs.filter));
  return inputs;
}

// Aggregates of one kind of state with the same arguments, filter, DISTINCT, collation and order share it, as sum and
// avg of an integer column do.
void AggregateCalls::Add(const AggregateSpec& spec, Inputs inputs, int distinct, GroupLayout* layout,
                         ExecutionEnvironment& environment) {
  if (distinct < 0) {
    for (int argument : inputs.arguments) is_plain_argument_[argument] = true;
  }
  const AccumulatorFactory factory = ChooseAccumulator(spec);
  const auto known = std::find_if(states_.begin(), states_.end(), [&](const State& state) {
    return state.factory == factory && state.inputs == inputs && state.distinct == distinct &&
           HaveOneOrder(state.spec, spec);
  });
  results_.push_back({static_cast<int>(known - states_.begin()), ResultOf(spec, environment)});
  if (known != states_.end()) return;
  const AggregateNeeds needs = InfoOf(spec.function).needs;
  returns_large_values_ |= needs == AggregateNeeds::kRows;
  states_.push_back({factory, needs, std::move(inputs), distinct, spec, layout->AddAccumulator(factory(spec))});
}

// An argument that can fail must not be evaluated where a filter excludes it: one entry per filter.
int AggregateCalls::FindOrAddArgument(const Expr* argument, int filter) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const bool is_shareable = argument_filters_[i] == filter || !argument->can_fail;
    if (is_shareable && ExprsEqual(arguments_[i], argument)) return static_cast<int>(i);
  }
  arguments_.push_back(argument);
  argument_filters_.push_back(argument->can_fail ? filter : -1);
  is_plain_argument_.push_back(false);
  return static_cast<int>(arguments_.size()) - 1;
}

// As AddRun() wants them.
const Vector* AggregateCalls::ArgumentsOf(const Values& values, const State& state, uint32_t rows, Arena& arena) const {
  const size_t count = state.inputs.arguments.size();
  if (count == 0) return &kNoArgument;
  if (count == 1) return &values.flat_arguments[state.inputs.arguments[0]];
  Vector* arguments = arena.AllocateArray<Vector>(count);
  for (size_t i = 0; i < count; ++i) arguments[i] = values.flat_arguments[state.inputs.arguments[i]];
  if (state.needs == AggregateNeeds::kRows) return arguments;
  const uint64_t* validity = CommonValidity(arguments, count, rows, arena);
  for (size_t i = 0; i < count; ++i) arguments[i].validity = validity;
  return arguments;
}

void AggregateCalls::Evaluate(const Batch& batch, EvalContext& context, Values* values) const {
  values->selections.resize(filters_.size());
  values->arguments.resize(arguments_.size());
  values->flat_arguments.resize(arguments_.size());
  for (size_t i = 0; i < filters_.size(); ++i) {
    // BitsToSelection writes whole words.
    uint16_t* selected = context.arena.AllocateArray<uint16_t>(kVectorRows);
    values->selections[i] = {selected, EvaluateFilter(*filters_[i], batch, context, selected)};
  }
  for (size_t i = 0; i < arguments_.size(); ++i) {
    values->arguments[i] =
        EvaluateArgument(*arguments_[i], values->SelectionOf(argument_filters_[i], batch.rows), batch, context);
    if (is_plain_argument_[i]) {
      values->flat_arguments[i] = Flatten(values->arguments[i], batch.rows, context.arena);
    }
  }
  values->updates.clear();
  for (const State& state : states_) {
    const RowSelection selection = values->SelectionOf(state.inputs.filter, batch.rows);
    if (state.distinct >= 0 || selection.count == 0) continue;
    values->updates.push_back({state.accumulator, ArgumentsOf(*values, state, batch.rows, context.arena), selection});
  }
}

Vector AggregateCalls::Result(size_t call, const GroupLayout& layout, char* const* groups, uint32_t count,
                              Arena& arena) const {
  const ResultOfState& result = results_[call];
  const AccumulatorSlot& slot = layout.accumulators[states_[result.state].accumulator];
  return slot.accumulator->Finalize(result.values, groups, slot.offset, count, arena);
}

}  // namespace penumbra

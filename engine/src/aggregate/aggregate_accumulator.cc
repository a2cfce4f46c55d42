// The table of aggregates: PENUMBRA_AGGREGATE_LIST with the rules for types, and the states of several types.
#include "aggregate/aggregate_accumulator.h"

#include <algorithm>

#include "function/collation.h"
#include "function/registry.h"

namespace penumbra {
namespace {

using Types = std::vector<PenumbraType>;
using Result = std::optional<PenumbraType>;

bool IsNumber(PenumbraType type) { return IsInteger(type) || IsFloat(type) || type == PENUMBRA_NUMERIC; }
bool IsSummable(PenumbraType type) { return IsNumber(type) || type == PENUMBRA_INTERVAL; }

// ---------------------------------------------------------------- rules for types, by the names in the list

Result FindRowsResult(const Types& arguments) { return arguments.empty() ? Result(PENUMBRA_INT8) : std::nullopt; }

Result FindAnyResult(const Types& arguments) { return arguments.size() == 1 ? Result(PENUMBRA_INT8) : std::nullopt; }

Result FindSumResult(const Types& arguments) {
  if (arguments.size() != 1 || !IsSummable(arguments[0])) return std::nullopt;
  if (arguments[0] == PENUMBRA_INT8) return PENUMBRA_NUMERIC;
  return IsInteger(arguments[0]) ? PENUMBRA_INT8 : arguments[0];
}

Result FindAverageResult(const Types& arguments) {
  if (arguments.size() != 1 || !IsSummable(arguments[0])) return std::nullopt;
  if (IsInteger(arguments[0])) return PENUMBRA_NUMERIC;
  return IsFloat(arguments[0]) ? PENUMBRA_FLOAT8 : arguments[0];
}

Result FindExtremeResult(const Types& arguments) {
  if (arguments.size() != 1 || arguments[0] == PENUMBRA_BOOL) return std::nullopt;
  return arguments[0];
}

Result FindSpreadResult(const Types& arguments) {
  if (arguments.size() != 1 || !IsNumber(arguments[0])) return std::nullopt;
  return IsFloat(arguments[0]) ? PENUMBRA_FLOAT8 : PENUMBRA_NUMERIC;
}

Result FindBitsResult(const Types& arguments) {
  const bool has_bits = arguments.size() == 1 && (IsInteger(arguments[0]) || arguments[0] == PENUMBRA_TEXT);
  return has_bits ? Result(arguments[0]) : std::nullopt;
}

Result FindContinuousResult(const Types& arguments) {
  const bool can_be_between = arguments == Types{PENUMBRA_FLOAT8} || arguments == Types{PENUMBRA_INTERVAL};
  return can_be_between ? Result(arguments[0]) : std::nullopt;
}

Result FindOrderedResult(const Types& arguments) { return arguments.size() == 1 ? Result(arguments[0]) : std::nullopt; }

Result FindJoinedTextResult(const Types& arguments) {
  return !arguments.empty() && arguments[0] == PENUMBRA_TEXT ? Result(PENUMBRA_TEXT) : std::nullopt;
}

Result FindArrayResult(const Types& arguments) {
  return arguments.empty() || arguments[0] == PENUMBRA_ARRAY ? std::nullopt : Result(PENUMBRA_ARRAY);
}

Result FindFirstResult(const Types& arguments) {
  return arguments.empty() || arguments[0] == PENUMBRA_ARRAY ? std::nullopt : Result(arguments[0]);
}

Result FindGroupRowsResult(const Types& arguments) {
  const bool has_array = std::find(arguments.begin(), arguments.end(), PENUMBRA_ARRAY) != arguments.end();
  return has_array ? std::nullopt : Result(PENUMBRA_ARRAY);
}

Result FindBooleanResult(const Types& arguments) {
  return arguments == Types{PENUMBRA_BOOL} ? Result(PENUMBRA_BOOL) : std::nullopt;
}

Result FindPairResult(const Types& arguments) {
  return arguments == Types{PENUMBRA_FLOAT8, PENUMBRA_FLOAT8} ? Result(PENUMBRA_FLOAT8) : std::nullopt;
}

Result FindPairCountResult(const Types& arguments) {
  return FindPairResult(arguments) ? Result(PENUMBRA_INT8) : std::nullopt;
}

constexpr AggregateInfo kAggregates[] = {
#define PENUMBRA_AGGREGATE_ROW(id, name, types, state, needs) \
  {name, Find##types##Result, Create##state##Accumulator, AggregateNeeds::needs},
    PENUMBRA_AGGREGATE_LIST(PENUMBRA_AGGREGATE_ROW)
#undef PENUMBRA_AGGREGATE_ROW
};

std::unique_ptr<Accumulator> CreateExtreme(PenumbraType argument, bool greatest, const Collation* collation) {
  if (argument == PENUMBRA_NUMERIC) return CreateNumericExtremeAccumulator(greatest);
  if (collation != nullptr && !collation->is_bytewise())
    return CreateCollatedExtremeAccumulator(argument, greatest, collation);
  return CreateExtremeAccumulator(argument, greatest);
}

}  // namespace

const AggregateInfo& InfoOf(PenumbraAggregate function) { return kAggregates[function]; }

bool CountsDistinctRows(const AggregateSpec& spec) {
  return spec.function == PENUMBRA_AGG_COUNT_STAR && spec.distinct && !spec.arguments.empty();
}

bool CheckAggregate(const AggregateSpec& spec, std::string* reason) {
  const AggregateInfo& info = InfoOf(spec.function);
  Types types;
  for (const Expr* argument : spec.arguments) types.push_back(argument->type);
  const bool is_filter = spec.filter == nullptr || spec.filter->type == PENUMBRA_BOOL;
  if (CountsDistinctRows(spec) && spec.result == PENUMBRA_INT8 && is_filter) return true;
  const bool is_distinct_row = spec.distinct && types.empty();
  const Result result = info.find_result(types);
  const bool is_percentile =
      spec.function == PENUMBRA_AGG_PERCENTILE_CONT || spec.function == PENUMBRA_AGG_PERCENTILE_DISC;
  const bool is_array = is_percentile && result.has_value() && spec.result == PENUMBRA_ARRAY;
  if ((result == spec.result || is_array) && is_filter && !is_distinct_row) return true;
  *reason = std::string("aggregate ") + info.name + " on " + TypeList(types);
  return false;
}

bool IsExactInParts(const AggregateSpec& spec) {
  const AggregateNeeds needs = InfoOf(spec.function).needs;
  if (needs != AggregateNeeds::kValues && needs != AggregateNeeds::kRows) return true;
  const PenumbraType type = spec.arguments[0]->type;
  return spec.arguments.size() == 1 && (IsInteger(type) || type == PENUMBRA_NUMERIC);
}

AccumulatorFactory ChooseAccumulator(const AggregateSpec& spec) {
  if (spec.function == PENUMBRA_AGG_AVG && !IsFloat(ArgumentType(spec))) return CreateSumAccumulator;
  return InfoOf(spec.function).create;
}

// ---------------------------------------------------------------- states of several types

std::unique_ptr<Accumulator> CreateSumAccumulator(const AggregateSpec& spec) {
  const PenumbraType argument = ArgumentType(spec);
  if (argument == PENUMBRA_INTERVAL) return CreateIntervalAccumulator();
  if (argument == PENUMBRA_NUMERIC) return CreateNumericSumAccumulator();
  return IsFloat(argument) ? CreateFloatSumAccumulator(argument) : CreateIntegerAccumulator(argument);
}

std::unique_ptr<Accumulator> CreateSpreadAccumulator(const AggregateSpec& spec) {
  const PenumbraType argument = ArgumentType(spec);
  return IsFloat(argument) ? CreateFloatSpreadAccumulator(argument) : CreateNumericSpreadAccumulator(argument);
}

std::unique_ptr<Accumulator> CreateLeastAccumulator(const AggregateSpec& spec) {
  return CreateExtreme(ArgumentType(spec), false, spec.collation);
}

std::unique_ptr<Accumulator> CreateGreatestAccumulator(const AggregateSpec& spec) {
  return CreateExtreme(ArgumentType(spec), true, spec.collation);
}

}  // namespace penumbra

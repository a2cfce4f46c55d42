// Which state serves which aggregate, and which aggregates exist.
#include "aggregate/aggregate_accumulator.h"

#include "function/collation.h"

namespace penumbra {
namespace {

// PostgreSQL's result type; false: there is no such aggregate.
bool FindResultType(PenumbraAggregate function, PenumbraType argument, PenumbraType* result) {
  switch (function) {
    case PENUMBRA_AGG_COUNT_STAR:
    case PENUMBRA_AGG_COUNT:
      *result = PENUMBRA_INT8;
      return true;
    case PENUMBRA_AGG_SUM:
      *result = argument == PENUMBRA_INT2 || argument == PENUMBRA_INT4 ? PENUMBRA_INT8
                : argument == PENUMBRA_INT8                            ? PENUMBRA_NUMERIC
                                                                       : argument;
      return IsInteger(argument) || IsFloat(argument) || argument == PENUMBRA_NUMERIC ||
             argument == PENUMBRA_INTERVAL;
    case PENUMBRA_AGG_AVG:
      *result = IsInteger(argument) ? PENUMBRA_NUMERIC
                : IsFloat(argument) ? PENUMBRA_FLOAT8
                                    : argument;
      return IsInteger(argument) || IsFloat(argument) || argument == PENUMBRA_NUMERIC ||
             argument == PENUMBRA_INTERVAL;
    case PENUMBRA_AGG_MIN:
    case PENUMBRA_AGG_MAX:
      *result = argument;
      return argument != PENUMBRA_BOOL;
    case PENUMBRA_AGG_BOOL_AND:
    case PENUMBRA_AGG_BOOL_OR:
      *result = PENUMBRA_BOOL;
      return argument == PENUMBRA_BOOL;
    default:
      *result = IsFloat(argument) ? PENUMBRA_FLOAT8 : PENUMBRA_NUMERIC;
      return IsInteger(argument) || IsFloat(argument) || argument == PENUMBRA_NUMERIC;
  }
}

const char* const kAggregateNames[] = {
#define PENUMBRA_AGGREGATE_NAME(id, name) name,
    PENUMBRA_AGGREGATE_LIST(PENUMBRA_AGGREGATE_NAME)
#undef PENUMBRA_AGGREGATE_NAME
};

}  // namespace

bool CheckAggregate(const AggregateSpec& spec, std::string* reason) {
  PenumbraType result = PENUMBRA_INT8;
  const bool is_count_star = spec.function == PENUMBRA_AGG_COUNT_STAR;
  bool is_known = spec.function >= 0 && spec.function < PENUMBRA_AGG_COUNT_OF &&
                  is_count_star == (spec.argument == nullptr) &&
                  !(is_count_star && spec.distinct) &&
                  (is_count_star || FindResultType(spec.function, spec.argument->type, &result)) &&
                  (spec.filter == nullptr || spec.filter->type == PENUMBRA_BOOL);
  if (is_known && result == spec.result) return true;
  *reason = "aggregate ";
  *reason += spec.function >= 0 && spec.function < PENUMBRA_AGG_COUNT_OF
                 ? kAggregateNames[spec.function]
                 : "?";
  *reason += " on this type";
  return false;
}

AccumulatorKind ChooseAccumulator(PenumbraAggregate function, PenumbraType argument) {
  switch (function) {
    case PENUMBRA_AGG_COUNT_STAR:
      return AccumulatorKind::kCountStar;
    case PENUMBRA_AGG_COUNT:
      return AccumulatorKind::kCount;
    case PENUMBRA_AGG_SUM:
      return AccumulatorKind::kSum;
    case PENUMBRA_AGG_AVG:
      return IsFloat(argument) ? AccumulatorKind::kAverage : AccumulatorKind::kSum;
    case PENUMBRA_AGG_MIN:
      return AccumulatorKind::kMin;
    case PENUMBRA_AGG_MAX:
      return AccumulatorKind::kMax;
    case PENUMBRA_AGG_BOOL_AND:
      return AccumulatorKind::kBoolAnd;
    case PENUMBRA_AGG_BOOL_OR:
      return AccumulatorKind::kBoolOr;
    default:
      return AccumulatorKind::kSpread;
  }
}

std::unique_ptr<Accumulator> CreateAccumulator(AccumulatorKind kind, PenumbraType argument,
                                               const Collation* collation) {
  switch (kind) {
    case AccumulatorKind::kCountStar:
    case AccumulatorKind::kCount:
      return CreateCountAccumulator(kind);
    case AccumulatorKind::kBoolAnd:
      return CreateExtremeAccumulator(PENUMBRA_BOOL, false);
    case AccumulatorKind::kBoolOr:
      return CreateExtremeAccumulator(PENUMBRA_BOOL, true);
    case AccumulatorKind::kMin:
    case AccumulatorKind::kMax: {
      const bool greatest = kind == AccumulatorKind::kMax;
      if (argument == PENUMBRA_NUMERIC) return CreateNumericExtremeAccumulator(greatest);
      if (collation != nullptr && !collation->is_bytewise())
        return CreateCollatedExtremeAccumulator(argument, greatest, collation);
      return CreateExtremeAccumulator(argument, greatest);
    }
    default:
      break;
  }
  if (argument == PENUMBRA_INTERVAL) return CreateIntervalAccumulator();
  if (IsFloat(argument)) return CreateFloatAccumulator(kind, argument);
  if (argument != PENUMBRA_NUMERIC && kind == AccumulatorKind::kSum)
    return CreateIntegerAccumulator(argument);
  return CreateNumericAccumulator(kind, argument);
}

}  // namespace penumbra

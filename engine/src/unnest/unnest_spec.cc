#include "unnest/unnest_spec.h"

#include <algorithm>

#include "aggregate/aggregate_accumulator.h"

namespace penumbra {
namespace {

bool HasRefusedLists(const UnnestSpec& spec) {
  return std::any_of(spec.lists.begin(), spec.lists.end(),
                     [](const PenumbraUnnestList& list) { return list.may_be_refused; });
}

template <typename Predicate>
bool AnyAggregatedExpr(const UnnestSpec& spec, Predicate is_so) {
  return std::any_of(spec.aggregates.begin(), spec.aggregates.end(), [&](const AggregateSpec& aggregate) {
    return (aggregate.filter != nullptr && is_so(*aggregate.filter)) ||
           std::any_of(aggregate.arguments.begin(), aggregate.arguments.end(),
                       [&](const Expr* argument) { return is_so(*argument); });
  });
}

}  // namespace

std::vector<int> UnnestSpec::AggregatedColumns() const {
  std::vector<int> columns;
  for (const AggregateSpec& aggregate : aggregates) {
    if (aggregate.filter != nullptr) CollectColumns(*aggregate.filter, &columns);
    for (const Expr* argument : aggregate.arguments) CollectColumns(*argument, &columns);
  }
  return columns;
}

bool UnnestSpec::Passes(int column) const {
  const std::vector<int> aggregated = AggregatedColumns();
  return static_cast<size_t>(column) < input_columns && column != times &&
         std::none_of(
             lists.begin(), lists.end(), [column](const PenumbraUnnestList& list) { return list.column == column; }) &&
         std::find(aggregated.begin(), aggregated.end(), column) == aggregated.end();
}

// A sum may be out of range.
bool UnnestSpec::CanFail() const {
  return HasRefusedLists(*this) || single >= 0 ||
         AnyAggregatedExpr(*this, [](const Expr& expr) { return expr.can_fail; }) ||
         std::any_of(aggregates.begin(), aggregates.end(), [](const AggregateSpec& aggregate) {
           return InfoOf(aggregate.function).needs >= AggregateNeeds::kValues;
         });
}

// Ordered-set aggregates refuse equal values that are written differently.
bool UnnestSpec::CanBeUnsupported() const {
  return HasRefusedLists(*this) || AnyAggregatedExpr(*this, [](const Expr& expr) { return expr.can_be_unsupported; }) ||
         std::any_of(aggregates.begin(), aggregates.end(), [](const AggregateSpec& aggregate) {
           return aggregate.function == PENUMBRA_AGG_PERCENTILE_CONT ||
                  aggregate.function == PENUMBRA_AGG_PERCENTILE_DISC || aggregate.function == PENUMBRA_AGG_MODE;
         });
}

}  // namespace penumbra

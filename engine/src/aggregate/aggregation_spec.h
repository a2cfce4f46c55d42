// What an aggregation is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expression/expr.h"
#include "penumbra/engine.h"

namespace penumbra {

// A key of an order inside a call; the Expr is one of the arguments.
struct AggregateOrder {
  int argument;
  bool descending;
  bool nulls_first;
  const Collation* collation;  // of text; null: C
  bool operator==(const AggregateOrder&) const = default;
};

struct AggregateSpec {
  PenumbraAggregate function;
  PenumbraType result;
  std::vector<const Expr*> arguments;
  const Expr* filter = nullptr;  // null for none
  bool distinct = false;
  const Collation* collation = nullptr;  // of what orders text; null: C
  bool descending = false;               // of ordered-set aggregates
  std::vector<double> fractions;         // of percentiles; none: NULL
  // Of AggregateNeeds::kRows. Keys that are no argument in SQL stand behind those that are.
  std::vector<AggregateOrder> order;
  const Expr* delimiter = nullptr;  // of string_agg, if constant: it is no argument then
  uint32_t label = 0;               // of arrays and of rows of a group: PenumbraAggregateCall.label
  bool takes_away = false;          // of the host's in windows: PenumbraAggregateCall.takes_away
  int shown_arguments = 0;          // of AggregateNeeds::kRows: those that are not only keys of the order
};

// Aggregation by keys (none: one group). Output columns: keys, then aggregates.
struct AggregationSpec {
  std::vector<const Expr*> keys;
  // Of GROUPING SETS: bit k of a set says that it groups by key k; the other keys are NULL in its groups, and the
  // set's number follows the keys. Empty: one set of all keys, without a number.
  std::vector<uint64_t> sets;
  std::vector<AggregateSpec> aggregates;
  // Over the output: groups that do not pass may be dropped, for somebody above drops them. None can fail.
  std::vector<const Expr*> having;
  bool is_read_again = false;  // by several pipelines, one after the other
};

}  // namespace penumbra

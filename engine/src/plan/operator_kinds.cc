#include "plan/operator_kinds.h"

#include <algorithm>
#include <numeric>

#include "join/join_build.h"
#include "recursion/recursion.h"
#include "sort/sort.h"
#include "vector/error.h"
#include "window/window.h"

namespace penumbra {
namespace {

void Collect(const Expr* expr, std::vector<int>* columns) {
  if (expr != nullptr) CollectColumns(*expr, columns);
}

void Collect(const AggregateSpec& aggregate, std::vector<int>* columns) {
  for (const Expr* argument : aggregate.arguments) Collect(argument, columns);
  Collect(aggregate.filter, columns);
}

// Of its first `count` columns, which it passes on by the same numbers.
std::vector<int> Passed(const Operator& op, size_t count) {
  std::vector<int> columns;
  for (size_t c = 0; c < count; ++c) {
    if (op.needed[c]) columns.push_back(static_cast<int>(c));
  }
  return columns;
}

// Those that it passes on, and those that it computes with.
std::vector<int> PassedAndRead(const Operator& op, size_t /*input*/) {
  std::vector<int> columns = Passed(op, op.needed.size());
  for (const Expr* expr : op.exprs) Collect(expr, &columns);
  for (const SortKeySpec& key : op.sort.keys) Collect(key.expr, &columns);
  return columns;
}

std::vector<int> ReadByWindow(const Operator& op, size_t /*input*/) {
  std::vector<int> columns = Passed(op, op.window.column_types.size());
  for (const Expr* key : op.window.partition_keys) Collect(key, &columns);
  for (const SortKeySpec& key : op.window.order_keys) Collect(key.expr, &columns);
  for (const WindowFunctionSpec& function : op.window.functions) {
    ForEachExpr(function, [&columns](const Expr& expr) { Collect(&expr, &columns); });
  }
  return columns;
}

// An error must be raised whether or not somebody reads the value.
std::vector<int> ReadByProjection(const Operator& projection, size_t /*input*/) {
  std::vector<int> columns;
  for (size_t i = 0; i < projection.exprs.size(); ++i) {
    if (projection.needed[i] || projection.exprs[i]->can_fail) Collect(projection.exprs[i], &columns);
  }
  return columns;
}

std::vector<int> ReadByJoin(const Operator& join, size_t input) {
  return input == 0 ? join.join.ProbeColumnsRead() : join.join.BuildColumnsRead();
}

std::vector<int> ReadByAggregation(const Operator& aggregation, size_t /*input*/) {
  std::vector<int> columns;
  for (const Expr* key : aggregation.aggregation.keys) Collect(key, &columns);
  for (const AggregateSpec& aggregate : aggregation.aggregation.aggregates) Collect(aggregate, &columns);
  return columns;
}

std::vector<int> ReadByUnnest(const Operator& op, size_t /*input*/) {
  std::vector<int> columns = Passed(op, op.unnest.input_columns);
  for (const PenumbraUnnestList& list : op.unnest.lists) columns.push_back(list.column);
  if (op.unnest.times >= 0) columns.push_back(op.unnest.times);
  for (int column : op.unnest.AggregatedColumns()) {
    if (static_cast<size_t>(column) < op.unnest.input_columns) columns.push_back(column);
  }
  return columns;
}

std::vector<int> AllColumns(const Operator& op, size_t /*input*/) {
  std::vector<int> columns(op.output.size());
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

std::vector<InputColumn> OfOneInput(const Operator& /*op*/, int column) { return {{0, column}}; }

std::vector<InputColumn> OfAllInputs(const Operator& op, int column) {
  std::vector<InputColumn> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back({i, column});
  return inputs;
}

std::vector<InputColumn> OfColumn(const std::vector<const Expr*>& exprs, int column) {
  const bool is_column = static_cast<size_t>(column) < exprs.size() && exprs[column]->kind == Expr::Kind::kColumn;
  return is_column ? std::vector<InputColumn>{{0, exprs[column]->column}} : std::vector<InputColumn>{};
}

std::vector<InputColumn> OfProjected(const Operator& projection, int column) {
  return OfColumn(projection.exprs, column);
}

std::vector<InputColumn> OfJoined(const Operator& op, int column) {
  const auto probe_width = static_cast<int>(op.join.probe_types.size());
  if (column >= probe_width && op.join.kind == PENUMBRA_JOIN_INNER) return {{1, column - probe_width}};
  if (column < probe_width && op.join.CanLoseProbeRows()) return {{0, column}};
  return {};
}

// Of GROUPING SETS a key is NULL in the groups of other sets.
std::vector<InputColumn> OfGrouped(const Operator& op, int column) {
  return op.aggregation.sets.empty() ? OfColumn(op.aggregation.keys, column) : std::vector<InputColumn>{};
}

// With a limit or an offset other rows would take the places.
std::vector<InputColumn> OfSorted(const Operator& op, int column) {
  if (op.sort.limit >= 0 || op.sort.offset > 0) return {};
  return OfOneInput(op, column);
}

// The rows of other partitions do not change.
std::vector<InputColumn> OfPartitioned(const Operator& op, int column) {
  for (const Expr* key : op.window.partition_keys) {
    if (key->kind == Expr::Kind::kColumn && key->column == column) return {{0, column}};
  }
  return {};
}

std::vector<InputColumn> OfUnnested(const Operator& op, int column) {
  if (static_cast<size_t>(column) >= op.unnest.input_columns) return {};
  return OfOneInput(op, column);
}

using InputSets = std::vector<std::vector<size_t>>;

InputSets EmptyWithoutInput(const Operator& /*op*/) { return {{0}}; }

InputSets EmptyWithoutAllInputs(const Operator& op) {
  InputSets sets(1);
  for (size_t i = 0; i < op.inputs.size(); ++i) sets[0].push_back(i);
  return sets;
}

// Unmatched rows of a side are rows of some kinds' output, and no row matches where the other side is empty.
InputSets EmptyJoin(const Operator& op) {
  switch (op.join.kind) {
    case PENUMBRA_JOIN_INNER:
    case PENUMBRA_JOIN_SEMI:
    case PENUMBRA_JOIN_RIGHT_SEMI: return {{0}, {1}};
    case PENUMBRA_JOIN_LEFT:
    case PENUMBRA_JOIN_ANTI:
    case PENUMBRA_JOIN_MARK:
    case PENUMBRA_JOIN_SINGLE: return {{0}};
    case PENUMBRA_JOIN_RIGHT:
    case PENUMBRA_JOIN_RIGHT_ANTI: return {{1}};
    case PENUMBRA_JOIN_FULL: return {{0, 1}};
  }
  return {};
}

// The group of no keys is there even without input.
InputSets EmptyAggregation(const Operator& op) {
  const std::vector<uint64_t>& sets = op.aggregation.sets;
  const bool has_row = op.aggregation.keys.empty() || std::find(sets.begin(), sets.end(), 0) != sets.end();
  return has_row ? InputSets{} : InputSets{{0}};
}

constexpr OperatorKind kScan = {
    .role = PipelineRole::kSource,
    .name = [](const Operator&) { return "Vector Scan"; },
};

constexpr OperatorKind kFilter = {
    .role = PipelineRole::kStep,
    .name = [](const Operator&) { return "Vector Filter"; },
    .columns_read = PassedAndRead,
    .filtered_inputs = OfOneInput,
    .emptying_inputs = EmptyWithoutInput,
};

constexpr OperatorKind kProjection = {
    .role = PipelineRole::kStep,
    .name = [](const Operator&) { return "Vector Projection"; },
    .columns_read = ReadByProjection,
    .filtered_inputs = OfProjected,
    .emptying_inputs = EmptyWithoutInput,
};

constexpr OperatorKind kUnion = {
    .role = PipelineRole::kUnion,
    .name = [](const Operator&) { return "Vector Union"; },
    .columns_read = PassedAndRead,
    .filtered_inputs = OfAllInputs,
    .emptying_inputs = EmptyWithoutAllInputs,
};

constexpr OperatorKind kJoin = {
    .role = PipelineRole::kProbe,
    .name = [](const Operator& op) { return op.join.keys.empty() ? "Vector Nested Loop" : "Vector Hash Join"; },
    .columns_read = ReadByJoin,
    .filtered_inputs = OfJoined,
    .emptying_inputs = EmptyJoin,
    .create_sink = [](const Operator& op, const SinkContext& context) -> std::unique_ptr<Sink> {
      return CreateJoin(op.join, context.environment);
    },
};

constexpr OperatorKind kAggregation = {
    .role = PipelineRole::kBreaker,
    .name =
        [](const Operator& op) { return op.aggregation.keys.empty() ? "Vector Aggregate" : "Vector Hash Aggregate"; },
    .columns_read = ReadByAggregation,
    .filtered_inputs = OfGrouped,
    .emptying_inputs = EmptyAggregation,
    .create_sink =
        [](const Operator& op, const SinkContext& context) {
          return CreateAggregation(op.aggregation, context.environment, context.find_dictionary,
                                   context.number_build_rows());
        },
};

constexpr OperatorKind kSort = {
    .role = PipelineRole::kBreaker,
    .name = [](const Operator& op) { return op.sort.limit >= 0 ? "Vector Top-N" : "Vector Sort"; },
    .columns_read = PassedAndRead,
    .filtered_inputs = OfSorted,
    .emptying_inputs = EmptyWithoutInput,
    .create_sink = [](const Operator& op,
                      const SinkContext& context) { return CreateSort(op.sort, context.environment); },
};

constexpr OperatorKind kWindow = {
    .role = PipelineRole::kBreaker,
    .name = [](const Operator&) { return "Vector Window"; },
    .columns_read = ReadByWindow,
    .filtered_inputs = OfPartitioned,
    .emptying_inputs = EmptyWithoutInput,
    .create_sink = [](const Operator& op,
                      const SinkContext& context) { return CreateWindow(op.window, context.environment); },
};

constexpr OperatorKind kUnnest = {
    .role = PipelineRole::kMultiply,
    .name =
        [](const Operator& op) {
          if (op.unnest.is_aggregated) return "Vector List Aggregate";
          return op.unnest.times < 0 ? "Vector Unnest" : "Vector Repeat";
        },
    .columns_read = ReadByUnnest,
    .filtered_inputs = OfUnnested,
    .emptying_inputs = EmptyWithoutInput,
};

constexpr OperatorKind kWorkingTable = {
    .role = PipelineRole::kWorkingTable,
    .name = [](const Operator&) { return "Vector Working Table"; },
};

constexpr OperatorKind kRecursion = {
    .role = PipelineRole::kRecursion,
    .name = [](const Operator&) { return "Vector Recursion"; },
    .columns_read = AllColumns,
    .emptying_inputs = EmptyWithoutInput,
    .create_sink = [](const Operator& op, const SinkContext& context) -> std::unique_ptr<Sink> {
      return CreateRecursion(op.recursion, context.environment);
    },
};

}  // namespace

const OperatorKind& KindOf(const Operator& op) {
  switch (op.kind) {
    case Operator::Kind::kScan: return kScan;
    case Operator::Kind::kFilter: return kFilter;
    case Operator::Kind::kProjection: return kProjection;
    case Operator::Kind::kUnion: return kUnion;
    case Operator::Kind::kJoin: return kJoin;
    case Operator::Kind::kAggregation: return kAggregation;
    case Operator::Kind::kSort: return kSort;
    case Operator::Kind::kWindow: return kWindow;
    case Operator::Kind::kUnnest: return kUnnest;
    case Operator::Kind::kWorkingTable: return kWorkingTable;
    case Operator::Kind::kRecursion: return kRecursion;
  }
  throw EngineError(PENUMBRA_INTERNAL, "an operator of an unknown kind");
}

}  // namespace penumbra

// Building windows: what the plan checks of one.
#include <algorithm>

#include "aggregate/aggregate_accumulator.h"
#include "plan/plan.h"

namespace penumbra {
namespace {

// A frame that moves is added up anew for each row where sums depend on the order of additions.
constexpr int64_t kFrameRowsMax = 1024;

bool IsOfOtherRow(PenumbraWindowFunction function) {
  return function >= PENUMBRA_WINDOW_LAG && function <= PENUMBRA_WINDOW_NTH_VALUE;
}

bool HasCount(PenumbraWindowFunction function) {
  return function == PENUMBRA_WINDOW_NTILE || function == PENUMBRA_WINDOW_LAG || function == PENUMBRA_WINDOW_LEAD ||
         function == PENUMBRA_WINDOW_NTH_VALUE;
}

bool HasEdges(const PenumbraWindowCall& call) {
  return call.mode == PENUMBRA_FRAME_RANGE && (HasOffset(call.start) || HasOffset(call.end));
}

// Null: the frame is one.
const char* RefusalOfFrame(const PenumbraWindowCall& call, int order_key_count) {
  if (call.start.offset < 0 || call.end.offset < 0) return "a frame's negative offset";
  if (HasEdges(call) && order_key_count != 1) return "a frame of values of several keys";
  if (call.start.kind == PENUMBRA_FRAME_UNBOUNDED_FOLLOWING || call.end.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING) {
    return "a frame that ends before it begins";
  }
  return nullptr;
}

// Of how many rows an aggregate's frame consists that does not begin with the partition; negative: of any number.
int64_t MovingRows(const PenumbraWindowCall& call) {
  if (call.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING && call.exclusion == PENUMBRA_EXCLUDE_NO_OTHERS) return 0;
  if (call.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING || call.mode != PENUMBRA_FRAME_ROWS) return -1;
  if (call.end.kind == PENUMBRA_FRAME_UNBOUNDED_FOLLOWING) return -1;
  const auto distance = [](const PenumbraFrameBound& bound) -> double {
    return bound.kind == PENUMBRA_FRAME_PRECEDING   ? -static_cast<double>(bound.offset)
           : bound.kind == PENUMBRA_FRAME_FOLLOWING ? static_cast<double>(bound.offset)
                                                    : 0;
  };
  const double rows = distance(call.end) - distance(call.start) + 1;
  return rows > kFrameRowsMax ? -1 : static_cast<int64_t>(rows < 0 ? 0 : rows);
}

// Of string_agg and array_agg, where a frame with a hole is taken up anew for each row, so it has few; and of the
// caller's aggregates.
const char* RefusalOfCollecting(const PenumbraWindowCall& call, int order_key_count) {
  constexpr int64_t kCollectedRowsMax = 128;
  const bool begins = call.start.kind == PENUMBRA_FRAME_UNBOUNDED_PRECEDING;
  if (order_key_count == 0) return "a window's aggregate that shows the order of rows";
  if (call.aggregate.function == PENUMBRA_AGG_JSON_AGG) return nullptr;
  if (call.exclusion == PENUMBRA_EXCLUDE_NO_OTHERS) return nullptr;
  const int64_t rows = begins ? -1 : MovingRows(call);
  return rows < 0 || rows > kCollectedRowsMax
             ? "a collecting aggregate over a frame with a hole, not of at most 128 rows"
             : nullptr;
}

}  // namespace

bool Plan::CheckFrameEdges(PenumbraOperator input, const PenumbraWindowCall& call, WindowFunctionSpec* function) {
  const auto check = [&](PenumbraExpr id, const Expr** expr) {
    if (!CheckExprs(&id, 1) || !CheckColumns(input, &id, 1)) return false;
    *expr = exprs_[id].get();
    if (function->range_key->type == (*expr)->type) return true;
    reason_ = "a frame's edge of another type than its key";
    return false;
  };
  if (!CheckExprs(&call.range_key, 1)) return false;
  function->range_key = exprs_[call.range_key].get();
  return check(call.range_key, &function->range_key) &&
         (!HasOffset(call.start) || check(call.start.edge, &function->start_edge)) &&
         (!HasOffset(call.end) || check(call.end.edge, &function->end_edge));
}

bool Plan::CheckWindowCall(PenumbraOperator input, const PenumbraWindowCall& call, int order_key_count,
                           WindowFunctionSpec* function) {
  const bool is_of_other_row = IsOfOtherRow(call.function);
  function->function = call.function;
  function->count = call.count;
  function->ignores_nulls = call.ignores_nulls;
  function->mode = call.mode;
  function->exclusion = call.exclusion;
  function->start = call.start;
  function->end = call.end;
  if (const char* refusal = RefusalOfFrame(call, order_key_count)) {
    reason_ = refusal;
    return false;
  }
  if (HasEdges(call) && !CheckFrameEdges(input, call, function)) return false;
  const bool needs_count = call.function == PENUMBRA_WINDOW_NTILE || call.function == PENUMBRA_WINDOW_NTH_VALUE;
  if (HasCount(call.function) && call.count_value >= 0) {
    if (!CheckExprs(&call.count_value, 1) || !CheckColumns(input, &call.count_value, 1)) return false;
    function->count_value = exprs_[call.count_value].get();
    if (function->count_value->type != PENUMBRA_INT4) {
      reason_ = "a window function's number of another type than int4";
      return false;
    }
  } else if (needs_count && call.count <= 0) {
    reason_ = "a window function's argument that is not positive";
    return false;
  }
  if (is_of_other_row) {
    if (!CheckExprs(&call.value, 1) || !CheckColumns(input, &call.value, 1)) return false;
    function->value = exprs_[call.value].get();
    function->result = function->value->type;
    if (call.default_value < 0) return true;
    if (!CheckExprs(&call.default_value, 1) || !CheckColumns(input, &call.default_value, 1)) return false;
    function->default_value = exprs_[call.default_value].get();
    if (function->default_value->type == function->result) return true;
    reason_ = "a default of another type";
    return false;
  }
  if (call.function != PENUMBRA_WINDOW_AGGREGATE) {
    const bool is_share = call.function == PENUMBRA_WINDOW_PERCENT_RANK || call.function == PENUMBRA_WINDOW_CUME_DIST;
    function->result = is_share                                 ? PENUMBRA_FLOAT8
                       : call.function == PENUMBRA_WINDOW_NTILE ? PENUMBRA_INT4
                                                                : PENUMBRA_INT8;
    return true;
  }
  if (!CheckAggregateCall(input, call.aggregate, true, &function->aggregate)) return false;
  function->result = call.aggregate.result;
  // PostgreSQL adds float4 in float4.
  const bool adds_float4 = call.aggregate.function == PENUMBRA_AGG_SUM && function->result == PENUMBRA_FLOAT4;
  if (call.aggregate.distinct || adds_float4) {
    reason_ = call.aggregate.distinct ? "DISTINCT in a window" : "a window's sum of float4";
    return false;
  }
  if (!function->aggregate.order.empty()) {
    reason_ = "an order inside a window's aggregate";
    return false;
  }
  if (InfoOf(call.aggregate.function).needs == AggregateNeeds::kRows) {
    const char* refusal = RefusalOfCollecting(call, order_key_count);
    if (refusal != nullptr) reason_ = refusal;
    return refusal == nullptr;
  }
  if (MovingRows(call) >= 0 || IsExactInParts(function->aggregate)) return true;
  reason_ = "an aggregate of floats over a frame that moves, not of at most 1024 rows";
  return false;
}

bool Plan::TakesWindowCall(PenumbraOperator input, const PenumbraWindowCall& call, int order_key_count) {
  WindowFunctionSpec function;
  return CheckInput(input) && CheckWindowCall(input, call, order_key_count, &function);
}

// Uses of expressions are counted, and the keys' Exprs set, after all checks: a refused window leaves the plan as it
// was.
PenumbraOperator Plan::AddWindow(PenumbraOperator input, const PenumbraExpr* partition_keys, int partition_key_count,
                                 const PenumbraSortKey* order_keys, int order_key_count,
                                 const PenumbraWindowCall* calls, int call_count, bool any_partition_order) {
  WindowSpec spec;
  spec.any_partition_order = any_partition_order;
  if (!CheckInput(input) || !CheckExprs(partition_keys, partition_key_count) ||
      !CheckColumns(input, partition_keys, partition_key_count) ||
      !CheckSortKeys(input, order_keys, order_key_count, &spec.order_keys)) {
    return -1;
  }
  spec.functions.resize(static_cast<size_t>(call_count));
  for (int i = 0; i < call_count; ++i) {
    if (!CheckWindowCall(input, calls[i], order_key_count, &spec.functions[i])) return -1;
  }
  const auto later_keys = std::count_if(order_keys, order_keys + order_key_count,
                                        [](const PenumbraSortKey& key) { return key.orders_peers; });
  for (WindowFunctionSpec& function : spec.functions) function.order.later_keys = static_cast<size_t>(later_keys);
  for (int i = 0; i < partition_key_count; ++i) spec.partition_keys.push_back(Use(partition_keys[i]));
  for (int i = 0; i < order_key_count; ++i) spec.order_keys[i].expr = Use(order_keys[i].expr);
  for (int i = 0; i < call_count; ++i) {
    if (IsOfOtherRow(calls[i].function)) Use(calls[i].value);
    if (IsOfOtherRow(calls[i].function) && calls[i].default_value >= 0) Use(calls[i].default_value);
    if (HasCount(calls[i].function) && calls[i].count_value >= 0) Use(calls[i].count_value);
    if (HasEdges(calls[i])) {
      Use(calls[i].range_key);
      if (HasOffset(calls[i].start)) Use(calls[i].start.edge);
      if (HasOffset(calls[i].end)) Use(calls[i].end.edge);
    }
    if (calls[i].function == PENUMBRA_WINDOW_AGGREGATE) UseAggregateCall(calls[i].aggregate);
  }
  spec.column_types = operators_[input].output_types();
  const PenumbraOperator id = Append(Operator::Kind::kWindow, input);
  for (const WindowFunctionSpec& function : spec.functions) operators_[id].output.push_back({function.result});
  operators_[id].window = std::move(spec);
  return id;
}

}  // namespace penumbra

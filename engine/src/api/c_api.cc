// The C functions of plans and executions: the wall. No exception passes.
#include <algorithm>
#include <new>

#include "api/status.h"
#include "execution/executor.h"
#include "join/join_range.h"
#include "penumbra/engine.h"
#include "plan/plan.h"
#include "vector/block_cache.h"
#include "vector/error.h"

struct PenumbraExec : penumbra::Executor {
  using penumbra::Executor::Executor;
};

namespace {

using penumbra::CurrentStatus;
using penumbra::EngineError;
using penumbra::MakeStatus;

// Runs a builder of the plan; an exception is a refusal.
template <typename Result, typename Work>
Result Build(PenumbraPlan* plan, Result refused, const Work& work) {
  try {
    return work();
  } catch (...) {
    PenumbraStatus status = CurrentStatus();
    const char* fallback = status.code == PENUMBRA_OUT_OF_MEMORY ? "out of memory" : "an internal error";
    try {
      plan->set_reason(status.message[0] != '\0' ? status.message : fallback);
    } catch (...) {
    }
    return refused;
  }
}

// Runs a step of an execution; an exception ends it.
template <typename Work>
PenumbraStatus Execute(PenumbraExec* exec, const Work& work) {
  try {
    work();
    return MakeStatus(PENUMBRA_OK, "");
  } catch (...) {
    PenumbraStatus status = CurrentStatus();
    exec->Fail(status.code, status.message);
    EngineError first = exec->first_error();
    return MakeStatus(first.code(), first.what());
  }
}

}  // namespace

extern "C" {

PenumbraPlan* penumbra_plan_create(const PenumbraPlanOptions* options) {
  try {
    return new PenumbraPlan(*options);
  } catch (...) {
    return nullptr;
  }
}

void penumbra_plan_destroy(PenumbraPlan* plan) { delete plan; }

const char* penumbra_plan_reason(const PenumbraPlan* plan) { return plan->reason().c_str(); }

PenumbraOperator penumbra_plan_add_scan(PenumbraPlan* plan, const PenumbraScanColumn* columns, int count) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddScan(columns, count); });
}

PenumbraExpr penumbra_plan_column(PenumbraPlan* plan, PenumbraOperator input, int column) {
  return Build(plan, PenumbraExpr{-1}, [&] { return plan->Column(input, column); });
}

PenumbraExpr penumbra_plan_constant(PenumbraPlan* plan, PenumbraType type, const PenumbraValue* value) {
  return Build(plan, PenumbraExpr{-1}, [&] { return plan->Constant(type, *value); });
}

PenumbraExpr penumbra_plan_list(PenumbraPlan* plan, PenumbraType type, const PenumbraColumnInput* values,
                                uint32_t count) {
  return Build(plan, PenumbraExpr{-1}, [&] { return plan->List(type, *values, count); });
}

PenumbraExpr penumbra_plan_call(PenumbraPlan* plan, PenumbraFunction function, PenumbraType result,
                                const PenumbraExpr* arguments, int argument_count) {
  return penumbra_plan_call_collated(plan, function, result, nullptr, arguments, argument_count);
}

PenumbraExpr penumbra_plan_call_collated(PenumbraPlan* plan, PenumbraFunction function, PenumbraType result,
                                         const PenumbraCollation* collation, const PenumbraExpr* arguments,
                                         int argument_count) {
  return Build(plan, PenumbraExpr{-1},
               [&] { return plan->Call(function, result, arguments, argument_count, collation); });
}

PenumbraExpr penumbra_plan_host_call(PenumbraPlan* plan, int function, PenumbraType result,
                                     const PenumbraExpr* arguments, int argument_count) {
  return Build(plan, PenumbraExpr{-1}, [&] { return plan->HostCall(function, result, arguments, argument_count); });
}

PenumbraType penumbra_plan_expr_type(const PenumbraPlan* plan, PenumbraExpr expr) { return plan->expr(expr)->type; }

bool penumbra_plan_expr_can_fail(const PenumbraPlan* plan, PenumbraExpr expr) { return plan->expr(expr)->can_fail; }

PenumbraOperator penumbra_plan_add_filter(PenumbraPlan* plan, PenumbraOperator input, const PenumbraExpr* conjuncts,
                                          int count) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddFilter(input, conjuncts, count); });
}

PenumbraOperator penumbra_plan_add_projection(PenumbraPlan* plan, PenumbraOperator input, const PenumbraExpr* exprs,
                                              int count) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddProjection(input, exprs, count); });
}

PenumbraOperator penumbra_plan_add_union(PenumbraPlan* plan, const PenumbraOperator* inputs, int count) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddUnion(inputs, count); });
}

PenumbraOperator penumbra_plan_add_working_table(PenumbraPlan* plan, const PenumbraType* types, int count) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddWorkingTable(types, count); });
}

PenumbraOperator penumbra_plan_add_recursion(PenumbraPlan* plan, PenumbraOperator first, PenumbraOperator term,
                                             bool is_distinct, bool gives_late) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddRecursion(first, term, is_distinct, gives_late); });
}

PenumbraOperator penumbra_plan_add_unnest(PenumbraPlan* plan, PenumbraOperator input, const PenumbraUnnest* unnest) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddUnnest(input, *unnest); });
}

bool penumbra_plan_aggregate_lists(PenumbraPlan* plan, PenumbraOperator unnest, const PenumbraAggregateCall* calls,
                                   int call_count, int single) {
  return Build(plan, false, [&] { return plan->AggregateLists(unnest, calls, call_count, single); });
}

PenumbraOperator penumbra_plan_add_aggregation(PenumbraPlan* plan, PenumbraOperator input, const PenumbraExpr* keys,
                                               int key_count, const PenumbraAggregateCall* calls, int call_count) {
  return Build(plan, PenumbraOperator{-1},
               [&] { return plan->AddAggregation(input, keys, key_count, calls, call_count); });
}

PenumbraOperator penumbra_plan_add_grouping_sets(PenumbraPlan* plan, PenumbraOperator input, const PenumbraExpr* keys,
                                                 int key_count, const uint64_t* sets, int set_count,
                                                 const PenumbraAggregateCall* calls, int call_count) {
  return Build(plan, PenumbraOperator{-1}, [&] {
    return plan->AddGroupingSets(input, keys, key_count, {sets, sets + std::max(set_count, 0)}, calls, call_count);
  });
}

PenumbraOperator penumbra_plan_add_sort(PenumbraPlan* plan, PenumbraOperator input, const PenumbraSortKey* keys,
                                        int count, int64_t limit, int64_t offset) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddSort(input, keys, count, limit, offset); });
}

PenumbraOperator penumbra_plan_add_window(PenumbraPlan* plan, PenumbraOperator input,
                                          const PenumbraExpr* partition_keys, int partition_key_count,
                                          const PenumbraSortKey* order_keys, int order_key_count,
                                          const PenumbraWindowCall* calls, int call_count, int any_partition_order) {
  return Build(plan, PenumbraOperator{-1}, [&] {
    return plan->AddWindow(input, partition_keys, partition_key_count, order_keys, order_key_count, calls, call_count,
                           any_partition_order != 0);
  });
}

bool penumbra_plan_takes_window_call(PenumbraPlan* plan, PenumbraOperator input, const PenumbraWindowCall* call,
                                     int order_key_count) {
  return Build(plan, false, [&] { return plan->TakesWindowCall(input, *call, order_key_count); });
}

bool penumbra_plan_is_range(const PenumbraPlan* plan, PenumbraExpr condition) {
  return penumbra::IsRangeComparison(*plan->expr(condition));
}

PenumbraExpr penumbra_plan_pair_column(PenumbraPlan* plan, PenumbraOperator probe, PenumbraOperator build, int column) {
  return Build(plan, PenumbraExpr{-1}, [&] { return plan->PairColumn(probe, build, column); });
}

PenumbraOperator penumbra_plan_add_join(PenumbraPlan* plan, PenumbraOperator probe, PenumbraOperator build,
                                        const PenumbraJoin* join) {
  return Build(plan, PenumbraOperator{-1}, [&] { return plan->AddJoin(probe, build, *join); });
}

bool penumbra_plan_finish(PenumbraPlan* plan, PenumbraOperator output) {
  return Build(plan, false, [&] { return plan->Finish(output); });
}

int penumbra_plan_output_count(const PenumbraPlan* plan) {
  return static_cast<int>(plan->op(plan->output()).output.size());
}

bool penumbra_plan_can_be_unsupported_late(const PenumbraPlan* plan) { return plan->CanBeUnsupportedLate(); }

PenumbraType penumbra_plan_output_type(const PenumbraPlan* plan, int output) {
  return plan->op(plan->output()).output[output].type;
}

const char* penumbra_plan_operator_name(const PenumbraPlan* plan, int index) { return plan->OperatorName(index); }

bool penumbra_plan_chunk_is_skipped(const PenumbraPlan* plan, PenumbraOperator scan, const PenumbraZoneMap* zone_maps) {
  try {
    return plan->IsScan(scan) && penumbra::IsChunkSkipped(plan->op(scan).scan, zone_maps);
  } catch (...) {
    return false;
  }
}

bool penumbra_plan_remembered_filter(const PenumbraPlan* plan, PenumbraOperator scan, int number,
                                     PenumbraRememberedFilter* filter) {
  if (!plan->IsScan(scan)) return false;
  for (const penumbra::ScanFilter& candidate : plan->op(scan).scan.filters) {
    if (candidate.remembered != number || number < 0) continue;
    *filter = {candidate.columns[0], candidate.remembered_key.data(), candidate.remembered_key.size()};
    return true;
  }
  return false;
}

PenumbraExec* penumbra_exec_create(const PenumbraPlan* plan, const PenumbraExecOptions* options) {
  if (!plan->is_finished()) return nullptr;
  try {
    return new PenumbraExec(*plan, *options);
  } catch (...) {
    return nullptr;
  }
}

PenumbraStatus penumbra_exec_add_chunk(PenumbraExec* exec, PenumbraOperator scan, const PenumbraChunk* chunk) {
  return Execute(exec, [&] { exec->AddChunk(scan, *chunk); });
}

PenumbraStatus penumbra_exec_expect_chunks(PenumbraExec* exec, PenumbraOperator scan, uint64_t rows) {
  return Execute(exec, [&] { exec->ExpectChunks(scan, rows); });
}

PenumbraStatus penumbra_exec_start(PenumbraExec* exec) {
  return Execute(exec, [&] { exec->Start(); });
}

bool penumbra_exec_takes_rows_first(const PenumbraExec* exec, PenumbraOperator scan) {
  return exec->TakesRowsFirst(scan);
}

PenumbraOperator penumbra_exec_wanted_scan(const PenumbraExec* exec) { return exec->WantedScan(); }

PenumbraOperator penumbra_exec_next_scan(const PenumbraExec* exec) { return exec->NextScan(); }

PenumbraStatus penumbra_exec_push_rows(PenumbraExec* exec, PenumbraOperator scan, const PenumbraRows* rows) {
  return Execute(exec, [&] { exec->PushRows(scan, *rows); });
}

PenumbraStatus penumbra_exec_push_tuples(PenumbraExec* exec, PenumbraOperator scan, PenumbraTuples* tuples) {
  return Execute(exec, [&] { exec->PushTuples(scan, tuples); });
}

// What fails here fails again when the chunk is pushed, which says so.
bool penumbra_exec_skip_chunk(PenumbraExec* exec, PenumbraOperator scan, const PenumbraZoneMap* zone_maps) {
  try {
    return exec->SkipChunk(scan, zone_maps);
  } catch (...) {
    return false;
  }
}

PenumbraStatus penumbra_exec_push_chunk(PenumbraExec* exec, PenumbraOperator scan, const PenumbraChunk* chunk) {
  return Execute(exec, [&] { exec->PushChunk(scan, *chunk); });
}

uint64_t penumbra_exec_finished_chunks(PenumbraExec* exec, PenumbraOperator scan, uint64_t awaited) {
  uint64_t finished = 0;
  Execute(exec, [&] { finished = exec->FinishedChunks(scan, awaited); });
  return finished;
}

PenumbraStatus penumbra_exec_end_rows(PenumbraExec* exec, PenumbraOperator scan) {
  return Execute(exec, [&] { exec->EndRows(scan); });
}

PenumbraFetch penumbra_exec_fetch(PenumbraExec* exec, PenumbraResult* result, PenumbraStatus* status) {
  PenumbraFetch fetch = PENUMBRA_FETCH_ERROR;
  *status = Execute(exec, [&] { fetch = exec->Fetch(result); });
  return status->code == PENUMBRA_OK ? fetch : PENUMBRA_FETCH_ERROR;
}

void penumbra_exec_get_stats(PenumbraExec* exec, PenumbraExecStats* stats) {
  try {
    exec->GetStats(stats);
  } catch (...) {
    *stats = {};
  }
}

bool penumbra_exec_next_learned(PenumbraExec* exec, PenumbraOperator scan, PenumbraLearned* learned) {
  try {
    return exec->NextLearned(scan, learned);
  } catch (...) {
    return false;
  }
}

void penumbra_exec_stop(PenumbraExec* exec) {
  if (exec != nullptr) exec->Stop();
}

void penumbra_exec_destroy(PenumbraExec* exec) { delete exec; }

void penumbra_keep_memory(size_t bytes_max) { penumbra::KeepBlocks(bytes_max); }

}  // extern "C"

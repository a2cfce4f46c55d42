// The C functions of plans and executions: the wall. No exception passes.
#include <exception>
#include <new>

#include "error.h"
#include "penumbra/engine.h"

struct PenumbraPlan {};
struct PenumbraExec {};

namespace {
PenumbraStatus Refuse() {
  PenumbraStatus status{};
  status.code = PENUMBRA_UNSUPPORTED;
  return status;
}
}  // namespace

extern "C" {

PenumbraPlan* penumbra_plan_create(const PenumbraPlanOptions*) { return new (std::nothrow) PenumbraPlan; }
void penumbra_plan_destroy(PenumbraPlan* plan) { delete plan; }
const char* penumbra_plan_reason(const PenumbraPlan*) { return "no executor yet"; }
int penumbra_plan_add_scan_column(PenumbraPlan*, PenumbraType, int) { return -1; }
PenumbraExpr penumbra_plan_column(PenumbraPlan*, int) { return -1; }
PenumbraExpr penumbra_plan_constant(PenumbraPlan*, PenumbraType, const PenumbraValue*) { return -1; }
PenumbraExpr penumbra_plan_call(PenumbraPlan*, PenumbraFunction, PenumbraType, const PenumbraExpr*, int) {
  return -1;
}
PenumbraType penumbra_plan_expr_type(const PenumbraPlan*, PenumbraExpr) { return PENUMBRA_BOOL; }
bool penumbra_plan_add_filter(PenumbraPlan*, const PenumbraExpr*, int) { return false; }
bool penumbra_plan_add_projection(PenumbraPlan*, const PenumbraExpr*, int) { return false; }
bool penumbra_plan_add_aggregation(PenumbraPlan*, const PenumbraExpr*, int, const PenumbraAggregateCall*, int) {
  return false;
}
bool penumbra_plan_add_sort(PenumbraPlan*, const PenumbraSortKey*, int, int64_t, int64_t) { return false; }
bool penumbra_plan_add_limit(PenumbraPlan*, int64_t, int64_t) { return false; }
int penumbra_plan_output_count(const PenumbraPlan*) { return 0; }
PenumbraType penumbra_plan_output_type(const PenumbraPlan*, int) { return PENUMBRA_BOOL; }
const char* penumbra_plan_operator_name(const PenumbraPlan*, int) { return nullptr; }

PenumbraExec* penumbra_exec_create(const PenumbraPlan*, const PenumbraExecOptions*) {
  return new (std::nothrow) PenumbraExec;
}
bool penumbra_plan_chunk_is_skipped(const PenumbraPlan*, const PenumbraChunk*) { return false; }
PenumbraStatus penumbra_exec_add_chunk(PenumbraExec*, const PenumbraChunk*) { return Refuse(); }
PenumbraStatus penumbra_exec_start(PenumbraExec*) { return Refuse(); }
PenumbraStatus penumbra_exec_push_rows(PenumbraExec*, const PenumbraRows*) { return Refuse(); }
PenumbraStatus penumbra_exec_end_rows(PenumbraExec*) { return Refuse(); }
PenumbraFetch penumbra_exec_fetch(PenumbraExec*, PenumbraResult*, PenumbraStatus* status) {
  *status = Refuse();
  return PENUMBRA_FETCH_ERROR;
}
bool penumbra_exec_is_satisfied(const PenumbraExec*) { return false; }
void penumbra_exec_get_stats(PenumbraExec*, PenumbraExecStats* stats) { *stats = {}; }
void penumbra_exec_destroy(PenumbraExec* exec) { delete exec; }

}  // extern "C"

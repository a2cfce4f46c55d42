/*-------------------------------------------------------------------------
 *
 * custom_scan.c
 *	  Execution of Penumbra nodes: the callbacks of the executor.
 *
 * Where the engine may give up after it returned rows, the node keeps them back
 * (held_rows.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "catalog/objectaccess.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "query/execute/custom_scan.h"
#include "query/execute/engine_run.h"
#include "query/execute/explain.h"
#include "query/execute/external_rows.h"
#include "query/execute/fetched_columns.h"
#include "query/execute/held_rows.h"
#include "query/execute/ordinary_plan.h"
#include "query/execute/parallel_scan.h"
#include "query/execute/returned_rows.h"
#include "query/execute/row_identity.h"
#include "query/execute/scan_input.h"
#include "query/execute/scan_state.h"
#include "query/execute/swap_sides.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
#include "query/planning/plan_walk.h"

static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);
static void shut_down(CustomScanState *node);

static const CustomExecMethods exec_methods = {
	.CustomName = "Penumbra",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain_custom_scan,
	.EstimateDSMCustomScan = parallel_scan_estimate_dsm,
	.InitializeDSMCustomScan = parallel_scan_initialize_dsm,
	.ReInitializeDSMCustomScan = parallel_scan_reinitialize_dsm,
	.InitializeWorkerCustomScan = parallel_scan_initialize_worker,
	.ShutdownCustomScan = shut_down,
};

Node *
custom_scan_create_state(CustomScan *scan)
{
	PenumbraScanState *state = palloc0(sizeof(PenumbraScanState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	state->random_seed = pg_prng_uint32(&pg_global_prng_state);
	return (Node *) state;
}

/* ---------------------------------------------------------------- executor start */

static bool
lacks_execute(Oid function_oid, void *context)
{
	*(Oid *) context = function_oid;
	InvokeFunctionExecuteHook(function_oid);
	return !compat_may_execute(function_oid, GetUserId());
}

static bool
lacks_execute_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, lacks_execute, context))
		return true;
	return expression_tree_walker(node, lacks_execute_walker, context);
}

/*
 * EXECUTE on the functions that the engine computes.  PostgreSQL checks when
 * it initialises a node, as the user of that moment: who fetches from a cursor
 * may be another.  Where it is missing the ordinary plan raises the error, if
 * it calls the function.
 */
static void
check_functions(PenumbraScanState *state)
{
	ListCell   *lc;
	Oid			function_oid;

	foreach(lc, pipeline_stages(state->pipeline))
	{
		PipelineStage *stage = lfirst(lc);

		if (!lacks_execute_walker((Node *) stage->exprs, &function_oid) &&
			!lacks_execute_walker((Node *) stage->join_keys, &function_oid) &&
			!lacks_execute_walker((Node *) stage->aggrefs, &function_oid))
			continue;
		if (state->parallel != NULL)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function_oid));
		ordinary_plan_start(state, "permission on a function is missing");
		return;
	}
}

/*
 * A CTE that must not be computed twice is computed once in the finished plan
 * (shared_ctes.c), but an ordinary plan may scan it and have another node of
 * ours that computes it.  There such a node scans it, too.
 */
static bool
must_scan_cte(const PenumbraScanState *state)
{
	ListCell   *lc;

	if (!ordinary_plan_is_starting())
		return false;
	foreach(lc, pipeline_stages(state->pipeline))
	{
		if (((const PipelineStage *) lfirst(lc))->single_cte != 0)
			return true;
	}
	return false;
}

/* The index that a node of the ordinary plan reads. */
static bool
open_index(Plan *plan, void *context)
{
	PenumbraScanState *state = context;
	Oid			index_oid = InvalidOid;

	if (IsA(plan, IndexScan))
		index_oid = ((IndexScan *) plan)->indexid;
	else if (IsA(plan, IndexOnlyScan))
		index_oid = ((IndexOnlyScan *) plan)->indexid;
	else if (IsA(plan, BitmapIndexScan))
		index_oid = ((BitmapIndexScan *) plan)->indexid;
	if (OidIsValid(index_oid))
		state->indexes = lappend(state->indexes, index_open(index_oid, AccessShareLock));
	return true;
}

/*
 * From executor start to its end, as PostgreSQL's nodes do: so whoever alters
 * or truncates a table in this session finds it in use, and who drops an index
 * that the ordinary plan may still read.  A leader holds the locks; a worker
 * takes its own.
 */
static void
open_relations(PenumbraScanState *state)
{
	LOCKMODE	lock_mode = IsParallelWorker() ? AccessShareLock : NoLock;
	List	   *scans = pipeline_scans(state->pipeline);
	ListCell   *source = list_head(state->sources);
	ListCell   *lc;
	ListCell   *lc2;

	state->input_count = list_length(scans);
	state->inputs = palloc0(sizeof(ScanInput) * state->input_count);
	foreach(lc, scans)
	{
		ScanInput  *input = &state->inputs[foreach_current_index(lc)];

		input->state = state;
		input->stage = lfirst(lc);
		if (input->stage->source != NULL)
		{
			if (source == NULL)
				continue;		/* it was not found, and the ordinary plan will run */
			input->source = lfirst(source);
			source = lnext(state->sources, source);
			continue;
		}
		input->tables = palloc0(sizeof(ScanTable) * list_length(input->stage->table_oids));
		foreach(lc2, input->stage->table_oids)
			input->tables[input->table_count++].rel = table_open(lfirst_oid(lc2), lock_mode);
	}
	plan_walk_list(((CustomScan *) state->css.ss.ps.plan)->custom_plans, open_index, state);
}

/* Whether rows leave while the last of the scans is read: what joins need first is a matter of the engine. */
static bool
is_streaming(const PipelineStage *stage)
{
	if (stage_kind_of(stage)->is_breaker)
		return false;
	return stage->inputs == NIL || is_streaming(linitial(stage->inputs));
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	PenumbraScanState *state = (PenumbraScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->pipeline = pipeline_from_list(scan->custom_private);
	state->eflags = eflags;
	state->is_streaming = is_streaming(state->pipeline->top);
	swap_sides_limit_builds(state->pipeline);
	if (scan->scan.plan.parallel_aware)
		state->parallel = &state->unshared;
	row_identity_begin(state);
	/* Finds the sources that open_relations() hands out to the scans, in their order. */
	if (!external_rows_begin(state, estate))
		state->pipeline->is_checked = false;
	GetUserIdAndSecContext(&state->user_oid, &state->security_context);
	if (must_scan_cte(state))
		ordinary_plan_start(state, "a CTE that is computed once, by PostgreSQL");
	else
		check_functions(state);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state->runtime_states = ExecInitExprList(scan->custom_exprs, &node->ss.ps);
	open_relations(state);
	fetched_columns_begin(state);
	if (eflags & EXEC_FLAG_BACKWARD)
		returned_rows_begin(state);
}

/* ---------------------------------------------------------------- running */

static void
hold_rows(PenumbraScanState *state, TupleTableSlot *slot)
{
	held_rows_begin(state, slot);
	while (engine_run_next(state, slot))
		held_rows_add(state, slot);
	ExecClearTuple(slot);
	if (state->ordinary != NULL)
		held_rows_drop(state);
}

static bool
next_row(PenumbraScanState *state, TupleTableSlot *slot)
{
	if (state->holds_rows && state->held == NULL && state->ordinary == NULL)
		hold_rows(state, slot);
	if (state->held != NULL)
		return held_rows_next(state, slot);
	if (state->ordinary == NULL && engine_run_next(state, slot))
		return true;
	return state->ordinary != NULL && ordinary_plan_next(state, slot);
}

/* The next row, projected; NULL at the end. */
static TupleTableSlot *
exec_forward(PenumbraScanState *state)
{
	CustomScanState *node = &state->css;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	if (!state->is_started && state->ordinary == NULL && state->left_ordinary == NULL &&
		(state->pipeline->ordinary_rows > 0 || state->pipeline->ordinary_input_rows > 0))
		ordinary_plan_try(state, slot);
	if (!state->is_started && state->ordinary == NULL)
		engine_run_start(state);
	for (;;)
	{
		ResetExprContext(econtext);
		if (!next_row(state, slot))
			return NULL;
		econtext->ecxt_scantuple = slot;
		/* The ordinary plan has applied its quals. */
		if (state->ordinary != NULL || node->ss.ps.qual == NULL ||
			ExecQual(node->ss.ps.qual, econtext))
			break;
		/* a barrier's quals may be among them, and the engine's filter may come before these */
		if (!state->pipeline->has_barrier)
			InstrCountFiltered1(node, 1);
	}
	state->has_emitted = true;
	if (node->ss.ps.ps_ProjInfo != NULL)
		return ExecProject(node->ss.ps.ps_ProjInfo);
	return slot;
}

static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	PenumbraScanState *state = (PenumbraScanState *) node;
	TupleTableSlot *slot = state->returned == NULL ? exec_forward(state) : returned_rows_next(state, exec_forward);

	if (slot == NULL)
	{
		/* WHERE CURRENT OF finds no row */
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
		return ExecClearTuple(node->ss.ps.ps_ResultTupleSlot);
	}
	return slot;
}

static void
end_scan(CustomScanState *node)
{
	PenumbraScanState *state = (PenumbraScanState *) node;
	ListCell   *lc;

	/* Readers and cached scans use the tables, so they end before these are closed. */
	engine_run_release(state);
	held_rows_drop(state);
	if (state->ordinary != NULL)
		ExecEndNode(state->ordinary);
	if (state->left_ordinary != NULL)
		ExecEndNode(state->left_ordinary);
	external_rows_end(state);
	for (int i = 0; i < state->input_count; i++)
	{
		for (int t = 0; t < state->inputs[i].table_count; t++)
			table_close(state->inputs[i].tables[t].rel, NoLock);
	}
	foreach(lc, state->indexes)
		index_close(lfirst(lc), NoLock);
	returned_rows_end(state);
}

static void
rescan(CustomScanState *node)
{
	PenumbraScanState *state = (PenumbraScanState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (returned_rows_rescan(state))
		return;
	if (state->ordinary != NULL)
	{
		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(state->ordinary, node->ss.ps.chgParam);
		if (state->ordinary->chgParam == NULL)
			ExecReScan(state->ordinary);
		held_rows_drop(state);
		return;
	}
	if (state->left_ordinary != NULL && node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(state->left_ordinary, node->ss.ps.chgParam);
	if (state->parallel != NULL)
		engine_run_release(state);
	else
	{
		engine_run_end(state);
		state->is_rescanned = true;
	}
	held_rows_drop(state);
	external_rows_rescan(state);
	if (state->parallel == &state->unshared)
		pg_atomic_write_u32(&state->unshared.next_part, 0);
	state->is_started = false;
	state->is_done = false;
	state->has_emitted = false;
}

/* The ordinary plan may be no child that PostgreSQL's walk finds. */
static void
shut_down(CustomScanState *node)
{
	PenumbraScanState *state = (PenumbraScanState *) node;

	if (state->ordinary != NULL && !list_member_ptr(node->custom_ps, state->ordinary))
		ExecShutdownNode(state->ordinary);
	parallel_scan_shutdown(node);
}

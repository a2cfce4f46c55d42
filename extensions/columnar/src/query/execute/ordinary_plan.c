/*-------------------------------------------------------------------------
 *
 * ordinary_plan.c
 *	  PostgreSQL's plan for the rows of a node, which runs where the engine gives up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "query/execute/held_rows.h"
#include "query/execute/ordinary_plan.h"
#include "query/execute/result_slot.h"
#include "query/execute/row_identity.h"
#include "query/execute/scan_state.h"
#include "query/execute/statement_run.h"
#include "query/planning/refusal.h"

/*
 * While the nodes of an ordinary plan begin.  No flag of the executor's: the scans of a CTE, also those of our sources,
 * have to begin with the same ones.
 */
static bool begins_ordinary = false;

bool
ordinary_plan_is_starting(void)
{
	return begins_ordinary;
}

/* For the counters of refusals, EXPLAIN and the statement. */
static void
report_restart(PenumbraScanState *state, const Refusal *refusal)
{
	StatementRun *run = statement_run_of(state->css.ss.ps.state);

	refusal_count(refusal);
	state->report.ordinary_reason = refusal_text(refusal);
	if (run == NULL)
		return;
	run->restarts++;
	run->refusal = refusal;
}

/*
 * An InitPlan that is a part of the ordinary plan may have been run for the node,
 * or for a source: begins it anew, since PostgreSQL would go on from its end.
 */
static void
rescan_init_plans(EState *estate, const ParamExecData *before)
{
	for (int param = 0; param < list_length(estate->es_plannedstmt->paramExecTypes); param++)
	{
		SubPlanState *pending = estate->es_param_exec_vals[param].execPlan;

		if (pending != NULL && before[param].execPlan == NULL)
			ExecReScan(pending->planstate);
	}
}

/* Checks permissions, as it would have at executor start; after an error the transaction takes the user back. */
static PlanState *
begin_ordinary(PenumbraScanState *state)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;
	EState	   *estate = state->css.ss.ps.state;
	PlanState  *ordinary;
	Oid			user_oid;
	int			security_context;
	bool		was_begun = begins_ordinary;
	Size		params_bytes = sizeof(ParamExecData) * list_length(estate->es_plannedstmt->paramExecTypes);
	ParamExecData *params = memcpy(palloc(params_bytes), estate->es_param_exec_vals, params_bytes);

	GetUserIdAndSecContext(&user_oid, &security_context);
	SetUserIdAndSecContext(state->user_oid, state->security_context);
	begins_ordinary = true;
	PG_TRY();
	{
		ordinary = ExecInitNode(linitial(scan->custom_plans), estate,
								state->eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	}
	PG_FINALLY();
	{
		begins_ordinary = was_begun;
	}
	PG_END_TRY();
	SetUserIdAndSecContext(user_oid, security_context);
	rescan_init_plans(estate, params);
	return ordinary;
}

/*
 * Below a Gather each process counts its nodes' rows for EXPLAIN, and finds them by those that the plan began with in
 * the process that shows it: one that begins later is none of these.
 */
static bool
is_counted_apart(const PenumbraScanState *state)
{
	const EState *estate = state->css.ss.ps.state;

	return estate->es_instrument != 0 && (IsParallelWorker() || estate->es_plannedstmt->parallelModeNeeded);
}

void
ordinary_plan_show(PenumbraScanState *state)
{
	if (state->ordinary != NULL)
		state->css.custom_ps = list_make1(state->ordinary);
}

static void
start(PenumbraScanState *state)
{
	MemoryContext old_context = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

	if (state->left_ordinary != NULL)
	{
		state->ordinary = state->left_ordinary;
		state->left_ordinary = NULL;
		if (state->ordinary->chgParam == NULL)
			ExecReScan(state->ordinary);
	}
	else
		state->ordinary = begin_ordinary(state);
	if (!is_counted_apart(state))
		ordinary_plan_show(state);
	MemoryContextSwitchTo(old_context);
}

void
ordinary_plan_start(PenumbraScanState *state, const char *reason)
{
	report_restart(state, refusal_find(reason, NULL));
	start(state);
}

/* It is not ended: CTEs that it began to read may have other readers later. */
static void
leave(PenumbraScanState *state, TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	held_rows_drop(state);
	state->left_ordinary = state->ordinary;
	state->ordinary = NULL;
}

/*
 * Counts the rows that a node gives, and ends them after so many.  A stack, because
 * the node may have another plan below it that is tried.
 */
typedef struct RowMeter
{
	PlanState  *node;
	ExecProcNodeMtd next;		/* the node's own */
	double		rows;
	double		rows_max;
	struct RowMeter *outer;
} RowMeter;

static RowMeter *meters = NULL;

static TupleTableSlot *
metered_next(PlanState *node)
{
	RowMeter   *meter = meters;

	while (meter->node != node)
		meter = meter->outer;
	if (meter->rows > meter->rows_max)
		return NULL;
	meter->rows++;
	return meter->next(node);
}

/* The node below groups, and the sorts and projections around them. */
static PlanState *
input_of_groups(PlanState *node)
{
	while (IsA(node, LimitState) || IsA(node, ResultState) || IsA(node, SortState) ||
		   IsA(node, IncrementalSortState) || IsA(node, GroupState) || IsA(node, AggState))
		node = outerPlanState(node);
	return node;
}

/* Holds all rows, or as many as come before the input is cut off, which it tells. */
static bool
hold_metered(PenumbraScanState *state, TupleTableSlot *slot)
{
	RowMeter	meter = {.node = input_of_groups(state->ordinary), .rows_max = state->pipeline->ordinary_input_rows};

	meter.next = meter.node->ExecProcNodeReal;
	meter.outer = meters;
	meters = &meter;
	ExecSetExecProcNode(meter.node, metered_next);
	PG_TRY();
	{
		while (ordinary_plan_next(state, slot))
			held_rows_add(state, slot);
	}
	PG_FINALLY();
	{
		meters = meter.outer;
		ExecSetExecProcNode(meter.node, meter.next);
	}
	PG_END_TRY();
	return meter.rows <= meter.rows_max;
}

void
ordinary_plan_try(PenumbraScanState *state, TupleTableSlot *slot)
{
	double		rows = 0;

	start(state);
	held_rows_begin(state, slot);
	if (state->pipeline->ordinary_input_rows > 0)
	{
		if (!hold_metered(state, slot))
			leave(state, slot);
		return;
	}
	while (ordinary_plan_next(state, slot))
	{
		held_rows_add(state, slot);
		if (++rows <= state->pipeline->ordinary_rows)
			continue;
		leave(state, slot);
		return;
	}
}

bool
ordinary_plan_next(PenumbraScanState *state, TupleTableSlot *slot)
{
	TupleTableSlot *row = ExecProcNode(state->ordinary);
	int			column_count;

	if (TupIsNull(row))
		return false;
	column_count = Min(row->tts_tupleDescriptor->natts, slot->tts_tupleDescriptor->natts);
	result_slot_take(slot, row, column_count);
	for (int c = column_count; c < slot->tts_tupleDescriptor->natts; c++)
		slot->tts_isnull[c] = true;
	ExecStoreVirtualTuple(slot);
	if (row_identity_is_given(state))
		row_identity_take_ordinary(state);
	return true;
}

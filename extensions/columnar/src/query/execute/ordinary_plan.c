/*-------------------------------------------------------------------------
 *
 * ordinary_plan.c
 *	  PostgreSQL's plan for the rows of a node, which runs where the engine gives up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

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

void
ordinary_plan_start(PenumbraScanState *state, const char *reason)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old_context = MemoryContextSwitchTo(estate->es_query_cxt);
	Oid			user_oid;
	int			security_context;
	bool		was_begun = begins_ordinary;

	report_restart(state, refusal_find(reason, NULL));
	/* checks permissions, as it would have at executor start; after an error the transaction takes the user back */
	GetUserIdAndSecContext(&user_oid, &security_context);
	SetUserIdAndSecContext(state->user_oid, state->security_context);
	begins_ordinary = true;
	PG_TRY();
	{
		state->ordinary = ExecInitNode(linitial(scan->custom_plans), estate,
									   state->eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	}
	PG_FINALLY();
	{
		begins_ordinary = was_begun;
	}
	PG_END_TRY();
	SetUserIdAndSecContext(user_oid, security_context);
	state->css.custom_ps = list_make1(state->ordinary);
	MemoryContextSwitchTo(old_context);
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

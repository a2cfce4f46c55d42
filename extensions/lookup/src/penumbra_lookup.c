/*-------------------------------------------------------------------------
 *
 * penumbra_lookup.c
 *	  Module start, and the two hooks: where an execution starts and ends.
 *
 * What an execution does between them is PostgreSQL's own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "utils/guc.h"

#include "plans.h"
#include "ready_state.h"

PENUMBRA_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/* Of libraries that were loaded before; they would miss executions. */
static ExecutorStart_hook_type previous_start;
static ExecutorEnd_hook_type previous_end;

/*
 * Whether the execution started on the plan's ready state.  Else *candidate is
 * the plan's entry if the execution may leave its state.
 */
static LookupOutcome
start_on_ready_state(QueryDesc *query, int eflags, LookupPlan **candidate)
{
	LookupPlan *plan;
	LookupOutcome outcome;

	*candidate = NULL;
	ready_keep_to_limit();
	if (ready_max_states == 0)
		return OUTCOME_OFF;
	if (previous_start != NULL || previous_end != NULL)
		return OUTCOME_HOOKS;
	plan = plans_find(query->plannedstmt);
	if (plan == NULL)
		plan = plans_insert(query->plannedstmt);
	if (plan == NULL)
		return OUTCOME_NOT_CACHED;
	if (plan->executions < ADOPTED_EXECUTION)
	{
		if (++plan->executions < ADOPTED_EXECUTION)
			return OUTCOME_FIRST;
		plan->verdict = plan_verdict(plan->stmt);
	}
	if (plan->verdict != OUTCOME_READY)
		return plan->verdict;
	if (plan->state != NULL && ready_start(plan->state, query, eflags, &outcome))
		return OUTCOME_READY;
	if (plan->state != NULL)
		return outcome;
	*candidate = plan;
	return OUTCOME_FIRST;
}

static void
start(QueryDesc *query, int eflags)
{
	LookupPlan *candidate;
	LookupOutcome outcome = start_on_ready_state(query, eflags, &candidate);

	outcomes_count(outcome);
	if (outcome == OUTCOME_READY)
		return;
	if (candidate != NULL)
	{
		candidate->candidate = NULL;
		candidate->candidate_changes = ready_changes;
	}
	if (previous_start != NULL)
		previous_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (candidate != NULL)
		candidate->candidate = query->estate;
}

static void
end(QueryDesc *query)
{
	ReadyState *state = ready_find(query->estate);

	if (state != NULL)
	{
		ready_end(state, query);
		return;
	}
	if (previous_end != NULL)
		previous_end(query);
	else if (ready_max_states > 0 && previous_start == NULL)
	{
		LookupPlan *plan = plans_find(query->plannedstmt);

		if (plan == NULL || !ready_adopt(plan, query))
			standard_ExecutorEnd(query);
	}
	else
		standard_ExecutorEnd(query);
}

void
_PG_init(void)
{
	DefineCustomIntVariable("penumbra_lookup.max_plans",
							"Sets how many plans of a session keep their executor's state.",
							"A state takes some tens of kilobytes. 0 keeps none.",
							&ready_max_states, 64, 0, 1000, PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("penumbra_lookup");
	ready_register_callbacks();
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
	previous_end = ExecutorEnd_hook;
	ExecutorEnd_hook = end;
}

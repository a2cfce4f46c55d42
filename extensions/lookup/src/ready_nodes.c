/*-------------------------------------------------------------------------
 *
 * ready_nodes.c
 *	  Nodes and subplans of a state: what begins and ends with each execution.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "executor/nodeAgg.h"
#include "nodes/bitmapset.h"
#include "utils/tuplesort.h"

#include "ready_state.h"

static void
begin_sort(SortState *node)
{
	node->sort_Done = false;
	node->bounded = false;
	node->bounded_Done = false;
}

/* What ExecInitNode() leaves. Not ExecReScan(), which computes a LIMIT at once, and rescans what never ran. */
void
ready_begin_node(PlanState *node)
{
	bms_free(node->chgParam);
	node->chgParam = NULL;
	switch (nodeTag(node))
	{
		case T_ResultState:
			((ResultState *) node)->rs_done = false;
			((ResultState *) node)->rs_checkqual = ((ResultState *) node)->resconstantqual != NULL;
			break;
		case T_LimitState:
			((LimitState *) node)->lstate = LIMIT_INITIAL;
			break;
		case T_NestLoopState:
			((NestLoopState *) node)->nl_NeedNewOuter = true;
			((NestLoopState *) node)->nl_MatchedOuter = false;
			break;
		case T_IndexScanState:
			((IndexScanState *) node)->iss_RuntimeKeysReady = false;
			((IndexScanState *) node)->iss_ReachedEnd = false;
			break;
		case T_IndexOnlyScanState:
			((IndexOnlyScanState *) node)->ioss_RuntimeKeysReady = false;
			break;
		case T_SortState:
			begin_sort((SortState *) node);
			break;
		case T_AggState:
			break;
		case T_ModifyTableState:
			ready_begin_update((ModifyTableState *) node);
			break;
		default:
			elog(ERROR, "unexpected node: %d", (int) nodeTag(node));
	}
}

/*
 * A rescan of an aggregation that does not hash forgets all that it knew, runs
 * the functions' callbacks and frees their memory.  The node below is not
 * scanned again: it has changed parameters, as far as can be seen.
 */
static void
end_aggregation(AggState *node)
{
	PlanState  *outer = outerPlanState(node);

	outer->chgParam = bms_add_member(outer->chgParam, 0);
	ExecReScanAgg(node);
}

/* What ExecEndNode() gives back, as far as it is the node's own. */
void
ready_end_node(PlanState *node)
{
	if (IsA(node, AggState))
		end_aggregation((AggState *) node);
	else if (IsA(node, ModifyTableState))
		ready_end_update((ModifyTableState *) node);
	else if (IsA(node, SortState) && ((SortState *) node)->tuplesortstate != NULL)
	{
		tuplesort_end(((SortState *) node)->tuplesortstate);
		((SortState *) node)->tuplesortstate = NULL;
	}
}

/* As ExecInitSubPlan() does: an uncorrelated one is executed when its value is asked for first. */
void
ready_begin_subplans(ReadyState *state)
{
	ListCell   *cell;

	foreach(cell, state->subplans)
	{
		SubPlanState *subplan = lfirst(cell);
		ListCell   *param;

		if (subplan->subplan->parParam != NIL)
			continue;
		foreach(param, subplan->subplan->setParam)
			state->estate->es_param_exec_vals[lfirst_int(param)].execPlan = subplan;
	}
}

/* The row that a subplan's value was taken from. */
void
ready_end_subplans(ReadyState *state)
{
	ListCell   *cell;

	foreach(cell, state->subplans)
	{
		SubPlanState *subplan = lfirst(cell);

		if (subplan->curTuple != NULL)
			heap_freetuple(subplan->curTuple);
		subplan->curTuple = NULL;
	}
}

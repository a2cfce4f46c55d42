/*-------------------------------------------------------------------------
 *
 * shared_ctes.c
 *	  CTEs that our nodes compute, in a finished plan.
 *
 * The planner plans each CTE and charges the query for it, which stands for the
 * work of our nodes, and EXPLAIN shows the plan at the query's top node.  If only
 * ordinary plans of our nodes have a scan of it, it runs when one of them
 * does: EXPLAIN then finds it there.  The executor finds a CTE's plan by its
 * number, and needs no node to have it.
 *
 * Which of a query's nodes read a CTE is known when it is planned as a whole.
 * Only then is it seen whether a CTE whose rows differ from one computation to
 * the next, as the first rows of an order with ties, is computed once.  In the
 * ordinary plans of our nodes PostgreSQL computes it (custom_scan.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "jit/jit.h"

#include "query/execute/external_rows.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/plan_walk.h"
#include "query/shared_ctes.h"

typedef struct Reading
{
	const PlannedStmt *stmt;
	Bitmapset  *read;			/* numbers of plans that scans of CTEs read */
	Plan	   *ordinary;		/* of the first node of ours, or NULL */
} Reading;

static bool
find_reads(Plan *plan, void *context)
{
	Reading    *reading = context;
	const CustomScan *scan;

	if (IsA(plan, CteScan))
		reading->read = bms_add_member(reading->read, ((CteScan *) plan)->ctePlanId);
	if (!plan_is_ours(plan))
		return true;
	scan = (CustomScan *) plan;
	/* Not of a later one: what gives rows to a node may be a part of the plan of the CTE that the node computes. */
	if (scan->custom_plans != NIL && reading->ordinary == NULL)
		reading->ordinary = linitial(scan->custom_plans);
	plan_walk_list(external_rows_plans(scan, pipeline_from_list(scan->custom_private), reading->stmt->subplans),
				   find_reads, reading);
	return false;
}

static Bitmapset *
numbers_of_ctes(const Plan *top)
{
	Bitmapset  *numbers = NULL;
	ListCell   *lc;

	foreach(lc, top->initPlan)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);

		if (subplan->subLinkType == CTE_SUBLINK)
			numbers = bms_add_member(numbers, subplan->plan_id);
	}
	return numbers;
}

/* Of the CTEs.  Plans that are none of these count as run; a CTE's does if it is read. */
static Bitmapset *
find_unread(Reading *reading, Bitmapset *ctes)
{
	Bitmapset  *walked = NULL;
	Bitmapset  *left;
	int			number;
	ListCell   *lc;

	plan_walk(reading->stmt->planTree, find_reads, reading);
	foreach(lc, reading->stmt->subplans)
	{
		if (lfirst(lc) != NULL && !bms_is_member(foreach_current_index(lc) + 1, ctes))
			plan_walk(lfirst(lc), find_reads, reading);
	}
	while ((left = bms_difference(bms_intersect(ctes, reading->read), walked)) != NULL &&
		   (number = bms_next_member(left, -1)) >= 0)
	{
		walked = bms_add_member(walked, number);
		plan_walk(list_nth(reading->stmt->subplans, number - 1), find_reads, reading);
	}
	return bms_difference(ctes, reading->read);
}

/* What our nodes compute. */
typedef struct Computing
{
	const PlannedStmt *stmt;
	bool		may_run_again;	/* the plan in hand: for each row of another, or of a subquery */
	Bitmapset  *computed;		/* numbers of CTEs */
	bool		is_repeated;	/* one of them is computed twice */
} Computing;

static bool
find_computed(Plan *plan, void *context)
{
	Computing  *computing = context;
	Pipeline   *pipeline;
	ListCell   *lc;

	if (IsA(plan, NestLoop) || IsA(plan, RecursiveUnion))
	{
		bool		may_run_again = computing->may_run_again;

		plan_walk(plan->lefttree, find_computed, computing);
		computing->may_run_again = true;
		plan_walk(plan->righttree, find_computed, computing);
		computing->may_run_again = may_run_again;
		return false;
	}
	if (!plan_is_ours(plan))
		return true;
	pipeline = pipeline_from_list(((CustomScan *) plan)->custom_private);
	foreach(lc, pipeline_stages(pipeline))
	{
		int			cte = ((const PipelineStage *) lfirst(lc))->single_cte;

		if (cte == 0)
			continue;
		computing->is_repeated |= computing->may_run_again || bms_is_member(cte, computing->computed);
		computing->computed = bms_add_member(computing->computed, cte);
	}
	plan_walk_list(external_rows_plans((CustomScan *) plan, pipeline, computing->stmt->subplans), find_computed,
				   computing);
	return false;
}

bool
shared_ctes_are_computed_once(const PlannedStmt *stmt)
{
	Reading		reading = {.stmt = stmt};
	Computing	computing = {.stmt = stmt};
	Bitmapset  *ctes = numbers_of_ctes(stmt->planTree);
	ListCell   *lc;

	plan_walk(stmt->planTree, find_computed, &computing);
	foreach(lc, stmt->subplans)
	{
		computing.may_run_again = !bms_is_member(foreach_current_index(lc) + 1, ctes);
		plan_walk(lfirst(lc), find_computed, &computing);
	}
	(void) find_unread(&reading, ctes);
	return !computing.is_repeated && !bms_overlap(computing.computed, reading.read);
}

void
shared_ctes_hide_unread(PlannedStmt *stmt)
{
	Plan	   *top = stmt->planTree;
	Reading		reading = {.stmt = stmt};
	Bitmapset  *unread = numbers_of_ctes(top);
	Cost		cost = top->total_cost;
	ListCell   *lc;

	/* What changes data runs in any case. */
	if (bms_is_empty(unread) || stmt->hasModifyingCTE)
		return;
	unread = find_unread(&reading, unread);
	if (reading.ordinary == NULL)
		return;
	foreach(lc, top->initPlan)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		if (subplan->subLinkType != CTE_SUBLINK || !bms_is_member(subplan->plan_id, unread))
			continue;
		cost -= subplan->startup_cost + subplan->per_call_cost;
		top->initPlan = foreach_delete_current(top->initPlan, lc);
		reading.ordinary->initPlan = lappend(reading.ordinary->initPlan, subplan);
	}
	/* Of ours nothing is compiled. */
	if (cost <= jit_above_cost)
		stmt->jitFlags = PGJIT_NONE;
}

/*-------------------------------------------------------------------------
 *
 * plan_walk.c
 *	  The nodes of a plan, as planstate_tree_walker() has them of a state.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "query/planning/node_kinds.h"
#include "query/planning/plan_walk.h"

void
plan_walk_list(List *plans, PlanVisitor visit, void *context)
{
	ListCell   *lc;

	foreach(lc, plans)
		plan_walk(lfirst(lc), visit, context);
}

void
plan_walk(Plan *plan, PlanVisitor visit, void *context)
{
	if (plan == NULL || !visit(plan, context))
		return;
	/* Children in lists of their own; all other nodes have lefttree and righttree only. */
	switch (nodeTag(plan))
	{
		case T_Append:
			plan_walk_list(((Append *) plan)->appendplans, visit, context);
			break;
		case T_MergeAppend:
			plan_walk_list(((MergeAppend *) plan)->mergeplans, visit, context);
			break;
		case T_BitmapAnd:
			plan_walk_list(((BitmapAnd *) plan)->bitmapplans, visit, context);
			break;
		case T_BitmapOr:
			plan_walk_list(((BitmapOr *) plan)->bitmapplans, visit, context);
			break;
		case T_SubqueryScan:
			plan_walk(((SubqueryScan *) plan)->subplan, visit, context);
			break;
		case T_CustomScan:
			plan_walk_list(((CustomScan *) plan)->custom_plans, visit, context);
			break;
		default:
			break;
	}
	plan_walk(plan->lefttree, visit, context);
	plan_walk(plan->righttree, visit, context);
}

static bool
find_ours(Plan *plan, void *context)
{
	bool	   *is_found = context;

	*is_found |= plan_is_ours(plan);
	return !*is_found;
}

bool
plan_walk_finds_ours(const PlannedStmt *stmt)
{
	bool		is_found = false;

	plan_walk(stmt->planTree, find_ours, &is_found);
	plan_walk_list(stmt->subplans, find_ours, &is_found);
	return is_found;
}

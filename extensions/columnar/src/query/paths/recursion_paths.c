/*-------------------------------------------------------------------------
 *
 * recursion_paths.c
 *	  Recursive CTEs that PostgreSQL's plan begins, and the engine may end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "query/paths/custom_path.h"
#include "query/paths/ordinary_first.h"
#include "query/paths/recursion_paths.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"

/* What costs less ends before a node of ours would have begun. */
#define TRIED_COST_MIN 100.0

/* Whether a reader of the query's CTEs may stop before their last rows. */
static bool
may_stop_early(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
	{
		const SubLink *link = (SubLink *) node;

		if (link->subLinkType != EXPR_SUBLINK || !castNode(Query, link->subselect)->hasAggs)
			return true;
	}
	if (IsA(node, Query))
	{
		const Query *query = (Query *) node;

		return query->limitCount != NULL || query->limitOffset != NULL ||
			query_tree_walker((Query *) node, may_stop_early, context, 0);
	}
	return expression_tree_walker(node, may_stop_early, context);
}

/* Of the statement's own CTEs: its query has not been planned yet. */
bool
recursion_paths_all_rows_are_read(PlannerInfo *root)
{
	return root->query_level == 2 && !planning_current()->is_cursor &&
		!may_stop_early((Node *) root->parent_root->parse, NULL);
}

/*
 * Nobody knows how many rows a recursion has, nor in how many iterations: of a
 * walk from one row PostgreSQL expects some hundreds.  So where its plan seems to
 * cost less it runs first.
 */
void
recursion_paths_offer_after_ordinary(PlannerInfo *root, RelOptInfo *output_rel, const RelPipeline *planned)
{
	Path	   *ordinary = custom_path_cheapest_ordinary(output_rel, true);
	PenumbraPath *path;
	Cost		cost;

	if (ordinary == NULL || ordinary->total_cost < TRIED_COST_MIN || !recursion_paths_all_rows_are_read(root))
		return;
	path = ordinary_first_create(root, output_rel, output_rel->reltarget, NODE_RECURSION, planned, ordinary);
	if (path == NULL)
		return;
	cost = path->custom.path.total_cost;
	if (cost <= ordinary->total_cost)
		return;
	path->pipeline->ordinary_rows = clamp_row_est(cost / (ordinary->total_cost / ordinary->rows));
	ordinary_first_offer(output_rel, path, ordinary);
}

/*-------------------------------------------------------------------------
 *
 * stored_form.c
 *	  Whether a query calls functions that show how a value is stored.
 *
 * Our values are neither compressed nor toasted, so no table is served to a
 * query with such a call, wherever it stands: the value may reach it through
 * subqueries, CTEs and RETURNING.  The answer is looked for when the first
 * table is examined, which spares all other queries the walk.
 *
 * By then planning is under way.  What it has not come to yet stands in the
 * Query trees of the levels above as the rewriter left it.  What it has come
 * to may have left its tree: sublinks and CTEs have plans made from their own
 * PlannerInfos, which PlannerGlobal lists; subqueries in FROM and the arms of
 * set operations have theirs in their RelOptInfo; and the target lists of
 * pulled-up arms of UNION ALL stand in append_rel_list only.  So all of these
 * are walked.  What they miss of the original text was found not to matter
 * and was thrown away.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "query/planning/stored_form.h"

static bool
is_stored_form_function(Oid function_oid, void *context)
{
	return function_oid == F_PG_COLUMN_SIZE || function_oid == F_PG_COLUMN_COMPRESSION ||
		compat_is_toast_chunk_id(function_oid);
}

static bool
calls_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && check_functions_in_node(node, is_stored_form_function, NULL))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, calls_walker, context, 0);
	return expression_tree_walker(node, calls_walker, context);
}

static bool
level_calls(PlannerInfo *root)
{
	if (calls_walker((Node *) root->parse, NULL) ||
		calls_walker((Node *) root->append_rel_list, NULL))
		return true;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];

		if (rel != NULL && rel->subroot != NULL && level_calls(rel->subroot))
			return true;
	}
	return false;
}

bool
stored_form_is_read(PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->glob->subroots)
	{
		if (level_calls(lfirst(lc)))
			return true;
	}
	for (; root != NULL; root = root->parent_root)
	{
		if (level_calls(root))
			return true;
	}
	return false;
}

/*-------------------------------------------------------------------------
 *
 * privileges.c
 *	  Whether planning may look at cached values.
 *
 * PostgreSQL asks for privileges when the plan starts.  The time, costs and
 * errors of planning can be seen before, and of a statement that is denied
 * they must not tell of what it asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "query/planning/planning.h"
#include "query/planning/privileges.h"

/* Each table of each level, views included, as the role whom the executor will ask for. */
static bool
denied_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, denied_walker, context);
	return !compat_query_is_permitted((Query *) node) ||
		query_tree_walker((Query *) node, denied_walker, context, 0);
}

/* What a module of another denies is known to the executor only; asking it twice would be in its logs. */
bool
privileges_permit(Query *query)
{
	return ExecutorCheckPerms_hook == NULL && !denied_walker((Node *) query, NULL);
}

static bool
levels_are_permitted(const PlannerInfo *root)
{
	for (; root != NULL; root = root->parent_root)
	{
		if (!compat_query_is_permitted(root->parse))
			return false;
	}
	return true;
}

/* Asked of each partition of a table.  Functions inlined since the statement was asked have tables of their own. */
bool
privileges_permit_values(const PlannerInfo *root)
{
	Planning   *planning = planning_current();
	int			entries = list_length(root->parse->rtable);

	if (!planning->is_permitted)
		return false;
	if (planning->permitted_root != root || planning->permitted_entries != entries)
	{
		planning->permits_values = levels_are_permitted(root);
		planning->permitted_root = root;
		planning->permitted_entries = entries;
	}
	return planning->permits_values;
}

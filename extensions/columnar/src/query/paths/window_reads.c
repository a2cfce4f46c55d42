/*-------------------------------------------------------------------------
 *
 * window_reads.c
 *	  The functions of PostgreSQL's windows, and how far they read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "pg_compat.h"

#include "query/paths/window_reads.h"

typedef struct WindowFunctions
{
	Index		winref;
	List	   *found;
} WindowFunctions;

static bool
window_functions_walker(Node *node, void *context)
{
	WindowFunctions *functions = context;

	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc) && ((WindowFunc *) node)->winref == functions->winref)
	{
		functions->found = list_append_unique(functions->found, node);
		return false;
	}
	return expression_tree_walker(node, window_functions_walker, context);
}

List *
window_reads_functions(PlannerInfo *root, const WindowAggPath *path)
{
	WindowFunctions functions = {path->winclause->winref, NIL};

	(void) window_functions_walker((Node *) root->processed_tlist, &functions);
	(void) window_functions_walker((Node *) compat_run_conditions(path), &functions);
	return functions.found;
}

static WindowReads
reads_of(const WindowFunc *function, const WindowClause *window)
{
	const WindowReads to_end = window->partitionClause == NIL ? WINDOW_READS_ALL : WINDOW_READS_PARTITION;
	bool		has_peers = (window->frameOptions & FRAMEOPTION_ROWS) == 0;

	switch (function->winfnoid)
	{
		case F_ROW_NUMBER:
		case F_RANK_:
		case F_DENSE_RANK_:
		case F_LAG_ANYELEMENT:
		case F_LAG_ANYELEMENT_INT4:
		case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
		case F_LEAD_ANYELEMENT:
			return WINDOW_READS_BEHIND;
		case F_LEAD_ANYELEMENT_INT4:
		case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
			return WINDOW_READS_PARTITION;
		case F_NTILE:
		case F_PERCENT_RANK_:
		case F_CUME_DIST_:
			return to_end;
		default:
			/* without an order all rows of a partition are peers */
			if ((window->frameOptions & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) ||
				(has_peers && window->orderClause == NIL))
				return to_end;
			return (window->frameOptions & FRAMEOPTION_END_OFFSET_FOLLOWING) ? WINDOW_READS_PARTITION
				: WINDOW_READS_BEHIND;
	}
}

WindowReads
window_reads_of(PlannerInfo *root, const WindowAggPath *path)
{
	WindowReads reads = WINDOW_READS_BEHIND;
	ListCell   *lc;

	foreach(lc, window_reads_functions(root, path))
		reads = Max(reads, reads_of(lfirst_node(WindowFunc, lc), path->winclause));
	return reads;
}

/*-------------------------------------------------------------------------
 *
 * inline_ctes.c
 *	  The query with its CTEs in the places of their references.
 *
 * PostgreSQL computes a CTE that is referenced more than once as a whole, and
 * no condition of a reference reaches into it.  Computed per reference, in
 * vectors and with the reference's conditions at its scans, it often costs
 * less: the planner makes both plans and takes the cheaper one.
 *
 * That must not be seen, so it is done only where every computation of the CTE
 * has the same rows (repeats.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "query/paths/inline_ctes.h"
#include "query/planning/repeats.h"

/* How often the CTEs of a query may be written out, in all. */
#define COPIES_MAX 64

/* Multiplies *context by the copies that come of the CTEs below the node, which are marked. */
static bool
mark_walker(Node *node, void *context)
{
	double	   *copies = context;
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, mark_walker, context);
	foreach(lc, query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (cte->cterefcount < 2 || cte->cterecursive ||
			cte->ctematerialized != CTEMaterializeDefault || !repeats_exactly(castNode(Query, cte->ctequery), NULL))
			continue;
		cte->ctematerialized = CTEMaterializeNever;
		*copies *= cte->cterefcount;
	}
	return query_tree_walker(query, mark_walker, context, 0);
}

static bool has_cte(Query *query);

static bool
has_cte_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Query) ? has_cte((Query *) node) : expression_tree_walker(node, has_cte_walker, context);
}

/* Most queries have none, and are not copied to find that out; nor are expressions looked at that have no subquery. */
static bool
has_cte(Query *query)
{
	ListCell   *lc;

	if (query->cteList != NIL)
		return true;
	if (query->hasSubLinks)
		return query_tree_walker(query, has_cte_walker, NULL, 0);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && has_cte(rte->subquery))
			return true;
	}
	return false;
}

Query *
inline_ctes(Query *query)
{
	double		copies = 1;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || query->hasRecursive ||
		!has_cte(query))
		return NULL;
	query = copyObject(query);
	(void) mark_walker((Node *) query, &copies);
	return copies > 1 && copies <= COPIES_MAX ? query : NULL;
}

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
 * has the same rows: PostgreSQL does not inline volatile functions and
 * recursion, and here also LIMIT, DISTINCT ON, window functions and aggregates
 * whose result depends on the order of rows keep a CTE as it is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "query/inline_ctes.h"

/* How often the CTEs of a query may be written out, in all. */
#define COPIES_MAX 64

static bool
repeats_exactly(const Aggref *aggref)
{
	switch (aggref->aggtype)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case BOOLOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return aggref->aggkind == AGGKIND_NORMAL && aggref->aggfnoid < FirstUnpinnedObjectId;
		default:
			return aggref->aggfnoid == F_MIN_TEXT || aggref->aggfnoid == F_MAX_TEXT ||
				aggref->aggfnoid == F_MIN_BPCHAR || aggref->aggfnoid == F_MAX_BPCHAR;
	}
}

static bool
differs_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && !repeats_exactly((Aggref *) node))
		return true;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		if (query->commandType != CMD_SELECT || query->limitCount != NULL || query->limitOffset != NULL ||
			query->hasDistinctOn || query->hasWindowFuncs || query->hasTargetSRFs)
			return true;
		return query_tree_walker(query, differs_walker, context, 0);
	}
	return expression_tree_walker(node, differs_walker, context);
}

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
			cte->ctematerialized != CTEMaterializeDefault || differs_walker(cte->ctequery, NULL))
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

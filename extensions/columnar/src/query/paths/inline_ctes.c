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
#include "query/planning/planning.h"
#include "query/planning/query_tree.h"
#include "query/planning/repeats.h"

/* How often the CTEs of a query may be written out, in all. */
#define COPIES_MAX 64

typedef struct Marking
{
	int			depth;			/* query levels around the one in hand */
	double		copies;			/* that come of the CTEs marked so far */
} Marking;

/*
 * Marks the CTEs below the node.  A correlated one has few rows at a time; in
 * vectors it is computed for all values of the outer query at once, and
 * several times, which no cost of a single execution tells.
 */
static bool
mark_walker(Node *node, void *context)
{
	Marking    *marking = context;
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
			cte->ctematerialized != CTEMaterializeDefault ||
			(!MODE_IS_FORCED() && marking->depth > 0 && query_tree_is_correlated(castNode(Query, cte->ctequery))) ||
			!repeats_exactly(castNode(Query, cte->ctequery), NULL))
			continue;
		cte->ctematerialized = CTEMaterializeNever;
		marking->copies *= cte->cterefcount;
	}
	marking->depth++;
	(void) query_tree_walker(query, mark_walker, context, 0);
	marking->depth--;
	return false;
}

static bool
has_cte_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Query) ? inline_ctes_has_any((Query *) node)
		: expression_tree_walker(node, has_cte_walker, context);
}

/* Expressions are not looked at where no subquery is in one. */
bool
inline_ctes_has_any(Query *query)
{
	ListCell   *lc;

	if (query->cteList != NIL)
		return true;
	if (query->hasSubLinks)
		return query_tree_walker(query, has_cte_walker, NULL, 0);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && inline_ctes_has_any(rte->subquery))
			return true;
	}
	return false;
}

Query *
inline_ctes(Query *query)
{
	Marking		marking = {.copies = 1};

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || query->hasRecursive)
		return NULL;
	query = copyObject(query);
	(void) mark_walker((Node *) query, &marking);
	return marking.copies > 1 && marking.copies <= COPIES_MAX ? query : NULL;
}

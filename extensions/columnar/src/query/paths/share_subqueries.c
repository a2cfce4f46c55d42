/*-------------------------------------------------------------------------
 *
 * share_subqueries.c
 *	  The query with equal subqueries in FROM as references to one CTE.
 *
 * PostgreSQL plans each subquery for itself, also those that a view of which the
 * query has two references became.  Of aggregations and windows that costs as
 * often as they stand there.  As a CTE of the topmost level they are computed
 * once, and everything that is true of CTEs is true of them.
 *
 * It can be done for what gives the same rows wherever it stands: it has no
 * values of the queries around it, reads no CTE of theirs, locks no rows and
 * is not volatile.  The relation in FROM stays a subquery, which
 * selects from the CTE: permissions to read a view are the relation's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "query/paths/share_subqueries.h"
#include "query/planning/query_tree.h"

/* Comparisons are of pairs. */
#define SUBQUERIES_MAX 64

typedef struct Subquery
{
	RangeTblEntry *rte;
	Index		depth;			/* of the level that has it in FROM, below the topmost one */
	int			levels;			/* in it: what is around others has more than these, and is not compared with them */
} Subquery;

typedef struct Finding
{
	Index		depth;			/* of the level in hand */
	int			levels;			/* seen so far */
	List	   *subqueries;		/* that take work worth keeping the rows; those around others first */
} Finding;

static bool
can_be_shared(const RangeTblEntry *rte)
{
	return !rte->security_barrier && !query_tree_is_correlated(rte->subquery) &&
		!query_tree_reads_outer_ctes(rte->subquery) && !query_tree_has_effects(rte->subquery);
}

static bool
find_walker(Node *node, void *context)
{
	Finding    *finding = context;
	Query	   *query = (Query *) node;
	int			levels_before = finding->levels;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, find_walker, context);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		const Query *in_from = rte->subquery;
		Subquery   *subquery;

		if (rte->rtekind != RTE_SUBQUERY || list_length(finding->subqueries) == SUBQUERIES_MAX ||
			(!in_from->hasAggs && in_from->groupClause == NIL && in_from->distinctClause == NIL &&
			 !in_from->hasWindowFuncs))
			continue;
		subquery = palloc0(sizeof(Subquery));
		subquery->rte = rte;
		subquery->depth = finding->depth;
		finding->subqueries = lappend(finding->subqueries, subquery);
	}
	finding->levels++;
	finding->depth++;
	(void) query_tree_walker(query, find_walker, context, 0);
	finding->depth--;
	foreach(lc, finding->subqueries)
	{
		Subquery   *subquery = lfirst(lc);

		if (subquery->rte->subquery == query)
			subquery->levels = finding->levels - levels_before;
	}
	return false;
}

/* Adds it to the query in front of the others, which may read it. */
static CommonTableExpr *
add_cte(Query *top, Query *query)
{
	CommonTableExpr *cte = makeNode(CommonTableExpr);
	ListCell   *lc;
	int			number = 1;

	do
	{
		cte->ctename = psprintf("shared_subquery_%d", number++);
		foreach(lc, top->cteList)
		{
			if (strcmp(lfirst_node(CommonTableExpr, lc)->ctename, cte->ctename) == 0)
				break;
		}
	} while (lc != NULL);
	cte->ctequery = (Node *) query;
	cte->ctematerialized = CTEMaterializeDefault;
	cte->location = -1;
	foreach(lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (entry->resjunk)
			continue;
		cte->ctecolnames = lappend(cte->ctecolnames, makeString(entry->resname));
		cte->ctecoltypes = lappend_oid(cte->ctecoltypes, exprType((Node *) entry->expr));
		cte->ctecoltypmods = lappend_int(cte->ctecoltypmods, exprTypmod((Node *) entry->expr));
		cte->ctecolcollations = lappend_oid(cte->ctecolcollations, exprCollation((Node *) entry->expr));
	}
	top->cteList = lcons(cte, top->cteList);
	return cte;
}

static void
read_cte(const Subquery *subquery, CommonTableExpr *cte)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_CTE;
	rte->ctename = cte->ctename;
	rte->ctelevelsup = subquery->depth + 1;
	rte->coltypes = cte->ctecoltypes;
	rte->coltypmods = cte->ctecoltypmods;
	rte->colcollations = cte->ctecolcollations;
	rte->alias = makeAlias(subquery->rte->eref->aliasname, NIL);
	rte->eref = makeAlias(subquery->rte->eref->aliasname, cte->ctecolnames);
	rte->inFromCl = true;
	cte->cterefcount++;
	subquery->rte->subquery = query_tree_select_all(rte, (Query *) cte->ctequery, NULL);
}

/* Most queries have none, and are not walked to find that out. */
static bool
may_have_subqueries(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_SUBQUERY)
			return true;
	}
	return query->hasSubLinks || query->cteList != NIL;
}

static bool
are_equal(const Subquery *one, const Subquery *other)
{
	return one->levels == other->levels && equal(one->rte->subquery, other->rte->subquery) &&
		!other->rte->security_barrier;
}

/* The places of the first subquery that can be shared, and of the first one equal to it.  False: there is none. */
static bool
find_equal(const List *subqueries, int *first, int *second)
{
	for (*first = 0; *first < list_length(subqueries); ++*first)
	{
		const Subquery *subquery = list_nth(subqueries, *first);

		for (*second = *first + 1; *second < list_length(subqueries); ++*second)
		{
			if (are_equal(subquery, list_nth(subqueries, *second)) && can_be_shared(subquery->rte))
				return true;
		}
	}
	return false;
}

static List *
find_subqueries(Query *query)
{
	Finding		finding = {0};

	(void) find_walker((Node *) query, &finding);
	return finding.subqueries;
}

/* Replaces the first one and those equal to it.  What is in them is at other levels then, and is found anew. */
static void
replace_equal(Query *query, const List *subqueries, int first, int second)
{
	const Subquery *subquery = list_nth(subqueries, first);
	CommonTableExpr *cte = add_cte(query, subquery->rte->subquery);

	for (int i = second; i < list_length(subqueries); i++)
	{
		const Subquery *other = list_nth(subqueries, i);

		if (i == second || are_equal(subquery, other))
			read_cte(other, cte);
	}
	read_cte(subquery, cte);
}

Query *
share_subqueries(Query *query)
{
	int			first;
	int			second;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || !may_have_subqueries(query) ||
		!find_equal(find_subqueries(query), &first, &second))
		return NULL;
	query = copyObject(query);
	for (List *subqueries = find_subqueries(query); find_equal(subqueries, &first, &second);
		 subqueries = find_subqueries(query))
	{
		replace_equal(query, subqueries, first, second);
		CHECK_FOR_INTERRUPTS();
	}
	return query;
}

/*-------------------------------------------------------------------------
 *
 * join_scalars.c
 *	  The query with scalar subqueries in FROM that read one of its CTEs:
 *
 *		WITH t AS (...) SELECT a FROM t WHERE a > (SELECT avg(a) FROM t)
 *
 *	  is
 *
 *		WITH t AS (...) SELECT a FROM t, (SELECT avg(a) FROM t) s WHERE a > s.avg
 *
 * PostgreSQL runs an uncorrelated subquery as an InitPlan.  That has a node of
 * its own, and nodes do not share the rows of a CTE.  In FROM, the subquery and
 * the other readers of the CTE are of one node, which computes it once.
 *
 * Such a subquery is an aggregation without groups, so it has one row in any
 * case.  In FROM it is evaluated even if no row asks for its value, so nothing
 * in it may fail or be seen to be evaluated; nor in the CTE, unless the query
 * reads all of that in any case.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/join_scalars.h"
#include "query/pipeline/can_fail.h"
#include "query/planning/query_tree.h"

/* More relations make the search for the order of joins long. */
#define SCALARS_MAX 4

/* A query level whose scalar subqueries move. */
typedef struct Level
{
	Query	   *query;
	struct Level *around;
	List	   *scalars;		/* places of those in FROM */
} Level;

/* The CTE of the reference, so many levels below the level; NULL: it is of a level between them. */
static const CommonTableExpr *
find_cte(const RangeTblEntry *rte, const Level *level, Index depth)
{
	ListCell   *lc;

	if (rte->ctelevelsup < depth)
		return NULL;
	for (Index up = depth; up < rte->ctelevelsup && level != NULL; up++)
		level = level->around;
	foreach(lc, level == NULL ? NIL : level->query->cteList)
	{
		if (strcmp(lfirst_node(CommonTableExpr, lc)->ctename, rte->ctename) == 0)
			return lfirst(lc);
	}
	return NULL;
}

/* Whether the query, which is given whole, reads all rows of the CTE in any case. */
static bool
reads_whole(const Level *level, const CommonTableExpr *cte)
{
	const Query *query = level->query;
	const Node *from = list_length(query->jointree->fromlist) == 0 ? NULL : linitial(query->jointree->fromlist);
	const RangeTblEntry *rte;

	if (level->around != NULL || query->limitCount != NULL || query->limitOffset != NULL || from == NULL ||
		!IsA(from, RangeTblRef) || list_length(query->jointree->fromlist) - list_length(level->scalars) != 1)
		return false;
	rte = rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable);
	return rte->rtekind == RTE_CTE && find_cte(rte, level, 0) == cte;
}

/* CTEs that a subquery of the level reads. */
typedef struct Reads
{
	const Level *level;
	Index		depth;			/* levels of the subquery around the node */
	bool		is_shared;		/* one has other readers */
} Reads;

/* Whether it reads a CTE that may only be computed if a row asks for it. */
static bool
reads_late_walker(Node *node, void *context)
{
	Reads	   *reads = context;
	bool		is_found;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, reads_late_walker, context);
	reads->depth++;
	foreach(lc, ((Query *) node)->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		const CommonTableExpr *cte = rte->rtekind != RTE_CTE ? NULL : find_cte(rte, reads->level, reads->depth);
		Query	   *computed = cte == NULL ? NULL : (Query *) cte->ctequery;

		if (rte->rtekind != RTE_CTE)
			continue;
		if (cte == NULL || cte->cterecursive || query_tree_has_effects(computed) ||
			((expr_can_fail((Node *) computed) || query_tree_reads_outer_ctes(computed)) &&
			 !reads_whole(reads->level, cte)))
			return true;
		reads->is_shared |= cte->cterefcount > 1;
	}
	is_found = query_tree_walker((Query *) node, reads_late_walker, context, 0);
	reads->depth--;
	return is_found;
}

/* Whether the query has one row of one value, whatever there is to read. */
static bool
is_aggregate(const Query *query)
{
	return query->commandType == CMD_SELECT && query->hasAggs && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && query->distinctClause == NIL &&
		query->limitCount == NULL && query->limitOffset == NULL && query->setOperations == NULL &&
		query->cteList == NIL && !query->hasWindowFuncs && !query->hasTargetSRFs && !query->hasSubLinks &&
		list_length(query->targetList) == 1;
}

static bool
can_move(const SubLink *sublink, const Level *level)
{
	Query	   *query = (Query *) sublink->subselect;
	Reads		reads = {.level = level};

	return sublink->subLinkType == EXPR_SUBLINK && is_aggregate(query) && !reads_late_walker((Node *) query, &reads) &&
		reads.is_shared && !query_tree_is_correlated(query) && !query_tree_has_effects(query) &&
		!expr_can_fail((Node *) query);
}

/* The place in FROM of the subquery, which is added if an equal one is not there yet; 0: there are too many. */
static Index
place_of(Query *scalar, Level *level)
{
	Query	   *query = level->query;
	List	   *column_names;
	RangeTblRef *reference;
	ListCell   *lc;

	foreach(lc, level->scalars)
	{
		if (equal(list_nth_node(RangeTblEntry, query->rtable, lfirst_int(lc) - 1)->subquery, scalar))
			return lfirst_int(lc);
	}
	if (list_length(level->scalars) == SCALARS_MAX)
		return 0;
	column_names = list_make1(makeString(linitial_node(TargetEntry, scalar->targetList)->resname));
	query->rtable = lappend(query->rtable, query_tree_make_subquery(scalar, "scalar", column_names));
	reference = makeNode(RangeTblRef);
	reference->rtindex = list_length(query->rtable);
	query->jointree->fromlist = lappend(query->jointree->fromlist, reference);
	level->scalars = lappend_int(level->scalars, reference->rtindex);
	return reference->rtindex;
}

/* Of the expressions of a level; those of its subqueries are of other levels. */
static Node *
move_mutator(Node *node, void *context)
{
	SubLink    *sublink = (SubLink *) node;
	Index		place;

	if (node == NULL || IsA(node, Query))
		return node;
	if (IsA(node, SubLink) && can_move(sublink, context) &&
		(place = place_of((Query *) sublink->subselect, context)) > 0)
		return (Node *) makeVarFromTargetEntry(place, linitial_node(TargetEntry,
																	((Query *) sublink->subselect)->targetList));
	return expression_tree_mutator(node, move_mutator, context);
}

static void
move_scalars(Level *level)
{
	Query	   *query = level->query;

	/* Where a level is computed for each row of another, an InitPlan keeps its value, and a join does not. */
	if (!query->hasSubLinks || query->commandType != CMD_SELECT || query->setOperations != NULL ||
		query->rowMarks != NIL || query_tree_is_correlated(query))
		return;
	query->jointree->quals = move_mutator(query->jointree->quals, level);
	/* Of groups only what they are grouped by is known. */
	if (!query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == NULL)
		query->targetList = (List *) move_mutator((Node *) query->targetList, level);
	if (level->scalars != NIL)
		query->hasSubLinks = checkExprHasSubLink((Node *) query);
}

typedef struct Walk
{
	Level	   *level;			/* around the node */
	bool		has_moved;
} Walk;

static bool
levels_walker(Node *node, void *context)
{
	Walk	   *walk = context;
	Level		level = {(Query *) node, walk->level};

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, levels_walker, context);
	CHECK_FOR_INTERRUPTS();
	move_scalars(&level);
	walk->has_moved |= level.scalars != NIL;
	walk->level = &level;
	(void) query_tree_walker(level.query, levels_walker, context, 0);
	walk->level = level.around;
	return false;
}

static bool
has_sublinks_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, has_sublinks_walker, context);
	return ((Query *) node)->hasSubLinks || query_tree_walker((Query *) node, has_sublinks_walker, context, 0);
}

Query *
join_scalars(Query *query)
{
	Walk		walk = {0};

	if (!has_sublinks_walker((Node *) query, NULL))
		return NULL;
	query = copyObject(query);
	(void) levels_walker((Node *) query, &walk);
	return walk.has_moved ? query : NULL;
}

/*-------------------------------------------------------------------------
 *
 * array_subqueries.c
 *	  The query with correlated ARRAY(SELECT ...) as array_agg():
 *
 *		ARRAY(SELECT a FROM u WHERE u.b = t.b ORDER BY a)
 *
 *	  is
 *
 *		(SELECT coalesce(array_agg(a), '{}')
 *		 FROM (SELECT a FROM u WHERE u.b = t.b ORDER BY a) x)
 *
 * which can be joined.  Of rows of one function in FROM it is
 *
 *		(SELECT coalesce(array_agg(x ORDER BY x), '{}') FROM unnest(t.list) x)
 *
 * And WHERE v IN (SELECT x FROM unnest(t.list) x) is a test IS TRUE, which stays a condition of the
 * row (element_subqueries.c): from 17 on PostgreSQL makes a join of what is not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "query/paths/array_subqueries.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/query_tree.h"

/* Not where an element is an array, of which array_agg() makes one of more dimensions, or of a domain. */
static bool
can_aggregate(const SubLink *sublink)
{
	Query	   *rows = (Query *) sublink->subselect;
	Oid			type;

	if (sublink->subLinkType != ARRAY_SUBLINK || !query_tree_is_correlated(rows))
		return false;
	type = exprType((Node *) linitial_node(TargetEntry, rows->targetList)->expr);
	return get_typtype(type) != TYPTYPE_DOMAIN && !OidIsValid(get_element_type(type)) &&
		OidIsValid(get_array_type(type));
}

/* Whether the rows are those of a function in FROM, and an aggregate can order them and make them distinct itself. */
static bool
are_of_function(const Query *rows)
{
	return list_length(rows->rtable) == 1 && linitial_node(RangeTblEntry, rows->rtable)->rtekind == RTE_FUNCTION &&
		!rows->hasAggs && !rows->hasWindowFuncs && !rows->hasTargetSRFs && rows->groupClause == NIL &&
		rows->groupingSets == NIL && rows->havingQual == NULL && rows->setOperations == NULL &&
		rows->limitCount == NULL && rows->limitOffset == NULL && rows->cteList == NIL && rows->rowMarks == NIL &&
		(rows->distinctClause == NIL || (!rows->hasDistinctOn && rows->sortClause != NIL));
}

static TargetEntry *
make_array(Aggref *aggref)
{
	Oid			element = linitial_oid(aggref->aggargtypes);
	Const	   *empty = makeConst(aggref->aggtype, -1, aggref->inputcollid, -1,
								  PointerGetDatum(construct_empty_array(element)), false, false);

	aggref->aggcollid = aggref->inputcollid;
	return makeTargetEntry((Expr *) pipeline_coalesce((Node *) aggref, (Node *) empty), 1, pstrdup("array"), false);
}

/* The rows' own level aggregates them. */
static void
aggregate_elements(Query *rows, Aggref *aggref)
{
	aggref->args = rows->targetList;
	aggref->aggorder = rows->sortClause;
	aggref->aggdistinct = rows->distinctClause;
	rows->sortClause = rows->distinctClause = NIL;
	rows->targetList = list_make1(make_array(aggref));
	rows->hasAggs = true;
}

static void
aggregate(SubLink *sublink)
{
	Query	   *rows = (Query *) sublink->subselect;
	TargetEntry *entry = linitial_node(TargetEntry, rows->targetList);
	Oid			type = get_array_type(exprType((Node *) entry->expr));
	Oid			collation = exprCollation((Node *) entry->expr);
	Query	   *query;

	sublink->subLinkType = EXPR_SUBLINK;
	if (are_of_function(rows))
	{
		aggregate_elements(rows, pipeline_aggref(F_ARRAY_AGG_ANYNONARRAY, type, (Node *) entry->expr, collation));
		return;
	}
	entry->resname = pstrdup("value");
	query = query_tree_select_all(query_tree_make_subquery(rows, "x", list_make1(makeString(entry->resname))), rows,
								  NULL);
	IncrementVarSublevelsUp((Node *) rows, 1, 1);
	query->hasAggs = true;
	query->targetList = list_make1(make_array(pipeline_aggref(F_ARRAY_AGG_ANYNONARRAY, type,
															  (Node *) makeVarFromTargetEntry(1, entry), collation)));
	sublink->subselect = (Node *) query;
}

/* Of a condition, v IN (a subquery over the row's own elements) that would become a join; changes: makes it none. */
static bool
keeps_membership(Node **condition, bool changes)
{
	SubLink    *sublink = (SubLink *) *condition;
	Query	   *rows;
	BooleanTest *test;
	bool		keeps = false;
	ListCell   *lc;

	if (!COMPAT_JOINS_CORRELATED_IN || *condition == NULL)
		return false;
	foreach(lc, is_andclause(*condition) ? ((BoolExpr *) *condition)->args : NIL)
		keeps |= keeps_membership((Node **) &lfirst(lc), changes);
	if (!IsA(sublink, SubLink) || sublink->subLinkType != ANY_SUBLINK)
		return keeps;
	rows = (Query *) sublink->subselect;
	if (!query_tree_is_correlated(rows) || !(rows->jointree->fromlist == NIL || are_of_function(rows)))
		return false;
	if (changes)
	{
		test = makeNode(BooleanTest);
		test->arg = (Expr *) sublink;
		test->booltesttype = IS_TRUE;
		test->location = -1;
		*condition = (Node *) test;
	}
	return true;
}

/* *context: whether to make them aggregates, else whether there is one. */
static bool
array_walker(Node *node, void *context)
{
	const bool	aggregates = *(bool *) context;

	if (node == NULL)
		return false;
	if (((IsA(node, FromExpr) && keeps_membership(&((FromExpr *) node)->quals, aggregates)) ||
		 (IsA(node, JoinExpr) && keeps_membership(&((JoinExpr *) node)->quals, aggregates))) && !aggregates)
		return true;
	if (IsA(node, SubLink) && can_aggregate((SubLink *) node))
	{
		if (!aggregates)
			return true;
		aggregate((SubLink *) node);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, array_walker, context, 0);
	return expression_tree_walker(node, array_walker, context);
}

Query *
array_subqueries_aggregate(Query *query)
{
	bool		aggregates = false;

	if (query->commandType != CMD_SELECT || !array_walker((Node *) query, &aggregates))
		return NULL;
	query = copyObject(query);
	aggregates = true;
	(void) array_walker((Node *) query, &aggregates);
	return query;
}

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
 * which can be joined.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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

static void
aggregate(SubLink *sublink)
{
	Query	   *rows = (Query *) sublink->subselect;
	TargetEntry *entry = linitial_node(TargetEntry, rows->targetList);
	Var		   *value = makeVarFromTargetEntry(1, entry);
	Oid			type = get_array_type(value->vartype);
	Aggref	   *aggref = pipeline_aggref(F_ARRAY_AGG_ANYNONARRAY, type, (Node *) value, value->varcollid);
	Const	   *empty = makeConst(type, -1, value->varcollid, -1,
								  PointerGetDatum(construct_empty_array(value->vartype)), false, false);
	Query	   *query;

	entry->resname = pstrdup("value");
	query = query_tree_select_all(query_tree_make_subquery(rows, "x", list_make1(makeString(entry->resname))), rows,
								  NULL);
	IncrementVarSublevelsUp((Node *) rows, 1, 1);
	aggref->aggcollid = value->varcollid;
	query->hasAggs = true;
	query->targetList = list_make1(makeTargetEntry((Expr *) pipeline_coalesce((Node *) aggref, (Node *) empty), 1,
												   pstrdup("array"), false));
	sublink->subLinkType = EXPR_SUBLINK;
	sublink->subselect = (Node *) query;
}

/* *context: whether to make them aggregates, else whether there is one. */
static bool
array_walker(Node *node, void *context)
{
	const bool	aggregates = *(bool *) context;

	if (node == NULL)
		return false;
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

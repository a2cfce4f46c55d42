/*-------------------------------------------------------------------------
 *
 * whole_counts.c
 *	  The query in which counts of whole values are counts of rows:
 *
 *		SELECT count(doc -> 'a') FILTER (WHERE n > 0) FROM t
 *
 *	  is
 *
 *		SELECT count(*) FILTER (WHERE n > 0 AND (doc -> 'a') IS NOT NULL) FROM t
 *
 * Documents, arrays and composites are cached as keys at most, and whether a value is
 * NULL is a column of booleans.  The value is computed for the same rows as before.
 * A composite is no NULL because its fields are; so the test is not that of a row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "query/paths/whole_counts.h"

/* That the counted value is one; NULL: the node counts nothing else than what the engine reads. */
static Node *
test_of_count(Node *node)
{
	const Aggref *aggref = (const Aggref *) node;
	NullTest   *test = makeNode(NullTest);
	PenumbraType type;
	Oid			counted;

	if (!IsA(node, Aggref) || aggref->aggfnoid != F_COUNT_ANY || aggref->aggdistinct != NIL ||
		aggref->aggorder != NIL || aggref->agglevelsup > 0)
		return NULL;
	test->arg = linitial_node(TargetEntry, aggref->args)->expr;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	counted = exprType((Node *) test->arg);
	if (cache_type_of(counted, &type) && !cache_type_is_composed(counted))
		return NULL;
	return cacheable_form((Node *) test) != NULL ? (Node *) test : NULL;
}

static Node *
replace_mutator(Node *node, void *context)
{
	Node	   *test;
	Aggref	   *aggref;

	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, replace_mutator, context, 0);
	test = test_of_count(node);
	if (test == NULL)
		return expression_tree_mutator(node, replace_mutator, context);
	aggref = copyObject((Aggref *) node);
	aggref->aggfnoid = F_COUNT_;
	aggref->aggstar = true;
	aggref->aggargtypes = aggref->args = NIL;
	aggref->inputcollid = InvalidOid;
	aggref->aggfilter = (Expr *) make_and_qual((Node *) aggref->aggfilter, copyObject(test));
	return (Node *) aggref;
}

static bool
has_any_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_any_walker, context, 0);
	return test_of_count(node) != NULL || expression_tree_walker(node, has_any_walker, context);
}

Query *
whole_counts_replace(Query *query)
{
	return query->commandType == CMD_SELECT && has_any_walker((Node *) query, NULL)
		? castNode(Query, replace_mutator((Node *) query, NULL)) : NULL;
}

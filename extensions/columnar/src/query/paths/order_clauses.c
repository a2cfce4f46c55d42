/*-------------------------------------------------------------------------
 *
 * order_clauses.c
 *	  What SortGroupClauses group and order by.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/typcache.h"

#include "query/paths/order_clauses.h"
#include "query/pipeline/stage_sort.h"
#include "query/planning/planning.h"

static bool
is_default_equality(Oid operator, Node *expr)
{
	return lookup_type_cache(exprType(expr), TYPECACHE_EQ_OPR)->eq_opr == operator;
}

bool
order_clauses_keys(List *clauses, List *tlist, List **exprs)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, tlist);

		if (!is_default_equality(clause->eqop, expr))
		{
			planning_refuse("grouping by an operator class of its own", NULL);
			return false;
		}
		*exprs = list_append_unique(*exprs, expr);
	}
	return true;
}

static bool
is_constant(Node *key)
{
	return rel_pipeline_needs_no_input(key) && !contain_volatile_functions(key);
}

List *
order_clauses_drop_constants(List *keys)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (is_constant(lfirst(lc)))
			keys = foreach_delete_current(keys, lc);
	}
	return keys;
}

bool
order_clauses_have_keys(const PlannerInfo *root, List *clauses)
{
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		keys = lappend(keys, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), root->processed_tlist));
	return order_clauses_drop_constants(keys) != NIL;
}

bool
order_clauses_add(PlannerInfo *root, const RelPipeline *planned, List *clauses, PipelineStage *stage)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		bool		is_descending;

		if (is_constant(expr))
			continue;
		if (!stage_sort_direction(clause, expr, &is_descending))
		{
			planning_refuse("ordering by an operator class of its own", NULL);
			return false;
		}
		stage->exprs = lappend(stage->exprs, rel_pipeline_normalize(root, planned, expr));
		stage->sort_flags = lappend_int(stage->sort_flags, stage_sort_flags(clause, is_descending));
	}
	return true;
}

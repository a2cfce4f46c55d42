/*-------------------------------------------------------------------------
 *
 * narrow_ctes.c
 *	  The query with CTEs that have only the rows that a reference wants.
 *
 * PostgreSQL computes a CTE that is referenced more than once as a whole: of
 * one with all years the query may join two.  If each reference has conditions
 * on the CTE's columns, the CTE becomes a subquery in FROM whose WHERE is
 * their disjunction.  From there PostgreSQL pushes it down by its own rules.
 *
 * The references keep their conditions, so each has the rows that it had.  The
 * CTE may neither be volatile nor lock rows, since less would be seen, and the
 * conditions can neither fail nor tell equal values apart, so it does not matter for
 * which rows, or for which row of a group, they are evaluated.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/narrow_ctes.h"
#include "query/pipeline/can_fail.h"
#include "query/planning/query_tree.h"
#include "query/planning/repeats.h"

/* Whether the condition reads anything but plain columns of the relation. */
static bool
reads_more_walker(Node *node, void *context)
{
	const Index *rti = context;
	const Var  *var = (Var *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return var->varno != *rti || var->varlevelsup > 0 || var->varattno <= 0 || !repeats_has_one_form(node);
	return IsA(node, SubLink) || expression_tree_walker(node, reads_more_walker, context);
}

static bool
can_move(Node *condition, Index rti)
{
	return bms_is_member(rti, pull_varnos(NULL, condition)) && !reads_more_walker(condition, &rti) &&
		!contain_volatile_functions(condition) && !expr_can_fail(condition);
}

/* Adds the conditions that can move of those that drop rows of the relation below the node. */
static bool
find_conditions(Node *node, Index rti, List *conditions, List **found)
{
	if (IsA(node, RangeTblRef))
	{
		ListCell   *lc;

		if (((RangeTblRef *) node)->rtindex != (int) rti)
			return false;
		foreach(lc, conditions)
		{
			/* as the planner will, which also raises the errors of constants */
			Node	   *condition = eval_const_expressions(NULL, copyObject(lfirst(lc)));

			if (can_move(condition, rti))
				*found = lappend(*found, condition);
		}
		return true;
	}
	if (IsA(node, FromExpr))
	{
		const FromExpr *from = (FromExpr *) node;
		ListCell   *lc;

		conditions = list_concat_copy(conditions, make_ands_implicit((Expr *) from->quals));
		foreach(lc, from->fromlist)
		{
			if (find_conditions(lfirst(lc), rti, conditions, found))
				return true;
		}
		return false;
	}
	else
	{
		const JoinExpr *join = castNode(JoinExpr, node);
		List	   *own = make_ands_implicit((Expr *) join->quals);
		List	   *left = NIL;
		List	   *right = NIL;

		/* the conditions around an outer join see NULL in place of a row that it drops */
		if (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT)
			left = conditions;
		if (join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT)
		{
			left = list_concat_copy(left, own);
			right = conditions;
		}
		if (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT)
			right = list_concat_copy(right, own);
		return find_conditions(join->larg, rti, left, found) || find_conditions(join->rarg, rti, right, found);
	}
}

/* argument: for each reference before, the conjunction of its conditions, of columns of relation 1.  It has some. */
static bool
add_conditions(Query *query, Index rti, void *argument)
{
	List	  **wanted = argument;
	List	   *conditions = NIL;

	(void) find_conditions((Node *) query->jointree, rti, NIL, &conditions);
	if (conditions == NIL)
		return false;
	ChangeVarNodes((Node *) conditions, (int) rti, 1, 0);
	*wanted = list_append_unique(*wanted, make_ands_explicit(conditions));
	return true;
}

/* The CTE's query becomes a subquery of another one. */
static Query *
select_from(Query *subquery, const CommonTableExpr *cte, Node *condition)
{
	IncrementVarSublevelsUp((Node *) subquery, 1, 1);
	return query_tree_select_all(query_tree_make_subquery(subquery, cte->ctename, copyObject(cte->ctecolnames)),
								 subquery, condition);
}

static bool
narrow(CommonTableExpr *cte, Query *query)
{
	Query	   *inner = castNode(Query, cte->ctequery);
	List	   *wanted = NIL;

	if (cte->cterefcount < 2 || cte->cterecursive || cte->ctematerialized != CTEMaterializeDefault ||
		inner->commandType != CMD_SELECT || !query_tree_visit_references(query, cte, add_conditions, &wanted) ||
		query_tree_has_effects(inner))
		return false;
	cte->ctequery = (Node *) select_from(inner, cte,
										 list_length(wanted) == 1 ? linitial(wanted) : (Node *) make_orclause(wanted));
	return true;
}

/* Whether a CTE at or below the node was narrowed. */
static bool
narrow_walker(Node *node, void *context)
{
	bool	   *is_changed = context;
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, narrow_walker, context);
	/* Those in the CTEs come first: what is pushed into a CTE is no condition of theirs. */
	(void) query_tree_walker(query, narrow_walker, context, 0);
	foreach(lc, query->cteList)
		*is_changed |= narrow(lfirst_node(CommonTableExpr, lc), query);
	return false;
}

Query *
narrow_ctes(Query *query)
{
	bool		is_changed = false;
	Query	   *narrowed;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		return NULL;
	narrowed = copyObject(query);
	(void) narrow_walker((Node *) narrowed, &is_changed);
	return is_changed ? narrowed : NULL;
}

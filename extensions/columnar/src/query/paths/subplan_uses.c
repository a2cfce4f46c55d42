/*-------------------------------------------------------------------------
 *
 * subplan_uses.c
 *	  Where subqueries stand in an expression, and for which rows.
 *
 * PostgreSQL runs a subquery for the rows that ask for it.  A join has its
 * rows for all: below CASE, COALESCE, AND, OR and FILTER the conditions that
 * decide are guards, which make the keys of the other rows NULL where the
 * join could fail for them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "query/paths/decorrelation.h"
#include "query/paths/subplan_uses.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/planning.h"

/* ---------------------------------------------------------------- finding them */

/* The uses found, and what of SubplanUse holds for the node at hand. */
typedef struct SubplanUses
{
	List	   *uses;			/* of SubplanUse * */
	List	   *guards;
	bool		is_guard_unknown;
	bool		is_positive;
} SubplanUses;

static bool find_uses_walker(Node *node, void *context);

static void
add_guard(SubplanUses *found, Node *arg, BoolTestType type)
{
	BooleanTest *test = makeNode(BooleanTest);

	test->arg = (Expr *) arg;
	test->booltesttype = type;
	test->location = -1;
	found->guards = lappend(list_copy(found->guards), test);
}

/* AND and OR end with the first argument that is false or true. */
static void
find_in_bool_expr(const BoolExpr *expr, SubplanUses *found)
{
	ListCell   *lc;

	foreach(lc, expr->args)
	{
		(void) find_uses_walker(lfirst(lc), found);
		if (expr->boolop != NOT_EXPR)
			add_guard(found, lfirst(lc), expr->boolop == AND_EXPR ? IS_FALSE : IS_TRUE);
	}
}

static Node *
put_operand_mutator(Node *node, void *operand)
{
	if (node == NULL)
		return NULL;
	return IsA(node, CaseTestExpr) ? copyObject((Node *) operand)
		: expression_tree_mutator(node, put_operand_mutator, operand);
}

/* Where what stands for an operand may be another one's, or a copy would not be found by its address. */
static bool
hides_operand_walker(Node *node, void *context)
{
	return node != NULL && (IsA(node, CaseExpr) || IsA(node, ArrayCoerceExpr) || IsA(node, SubPlan) ||
							IsA(node, AlternativeSubPlan) ||
							expression_tree_walker(node, hides_operand_walker, context));
}

static void
find_in_case(const CaseExpr *expr, SubplanUses *found)
{
	ListCell   *lc;

	(void) find_uses_walker((Node *) expr->arg, found);
	foreach(lc, expr->args)
	{
		const CaseWhen *when = lfirst_node(CaseWhen, lc);
		Node	   *condition = (Node *) when->expr;
		List	   *guards;

		if (expr->arg != NULL)
		{
			found->is_guard_unknown |= contain_subplans((Node *) expr->arg) || hides_operand_walker(condition, NULL);
			condition = put_operand_mutator(condition, expr->arg);
		}
		(void) find_uses_walker((Node *) when->expr, found);
		guards = found->guards;
		add_guard(found, condition, IS_NOT_TRUE);
		(void) find_uses_walker((Node *) when->result, found);
		found->guards = guards;
		add_guard(found, condition, IS_TRUE);
	}
	(void) find_uses_walker((Node *) expr->defresult, found);
}

static void
find_in_coalesce(const CoalesceExpr *expr, SubplanUses *found)
{
	ListCell   *lc;

	foreach(lc, expr->args)
	{
		(void) find_uses_walker(lfirst(lc), found);
		add_guard(found, pipeline_null_test(lfirst(lc), IS_NOT_NULL), IS_TRUE);
	}
}

/* Arguments are computed for rows that pass the FILTER. */
static void
find_in_aggref(const Aggref *aggref, SubplanUses *found)
{
	(void) find_uses_walker((Node *) aggref->aggfilter, found);
	if (aggref->aggfilter != NULL)
		add_guard(found, (Node *) aggref->aggfilter, IS_NOT_TRUE);
	(void) find_uses_walker((Node *) aggref->aggdirectargs, found);
	(void) find_uses_walker((Node *) aggref->args, found);
}

static void
add_use(Node *node, SubplanUses *found)
{
	SubplanUse *use = palloc(sizeof(SubplanUse));

	use->node = node;
	/* The alternatives are one subquery, planned for few rows around it and for many. */
	use->subplan = IsA(node, SubPlan) ? (SubPlan *) node
		: linitial_node(SubPlan, ((AlternativeSubPlan *) node)->subplans);
	use->guards = found->guards;
	use->is_guard_unknown = found->is_guard_unknown;
	use->is_positive = found->is_positive;
	found->uses = lappend(found->uses, use);
}

/* Leaves the context as it found it: a guard holds for what is evaluated after it within the same node. */
static bool
find_uses_walker(Node *node, void *context)
{
	SubplanUses *found = context;
	const SubplanUses before = *found;

	if (node == NULL)
		return false;
	found->is_positive &= is_andclause(node) || is_orclause(node) || IsA(node, SubPlan) ||
		IsA(node, AlternativeSubPlan);
	switch (nodeTag(node))
	{
		case T_SubPlan:
		case T_AlternativeSubPlan:
			add_use(node, found);
			break;
		case T_BoolExpr:
			find_in_bool_expr((BoolExpr *) node, found);
			break;
		case T_CaseExpr:
			find_in_case((CaseExpr *) node, found);
			break;
		case T_CoalesceExpr:
			find_in_coalesce((CoalesceExpr *) node, found);
			break;
		case T_Aggref:
			find_in_aggref((Aggref *) node, found);
			break;
		default:
			(void) expression_tree_walker(node, find_uses_walker, context);
	}
	found->guards = before.guards;
	found->is_guard_unknown = before.is_guard_unknown;
	found->is_positive = before.is_positive;
	return false;
}

List *
subplan_uses_find(Node *node, bool is_condition)
{
	SubplanUses found = {.is_positive = is_condition};

	(void) find_uses_walker(node, &found);
	return found.uses;
}

/* ---------------------------------------------------------------- guards */

/* Whether what the subquery makes of its Params alone can fail. */
static bool
outer_can_fail_walker(Node *node, void *params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, outer_can_fail_walker, params, 0);
	if (decorrelation_is_outer(node, params))
		return expr_can_fail(node);
	return expression_tree_walker(node, outer_can_fail_walker, params);
}

/* Whether the join with the subquery's rows can fail for a row that does not ask: by its keys or a second match. */
static bool
needs_guard(PlannerInfo *root, const SubPlan *subplan)
{
	Query	   *query = planning_level_of(root->glob, subplan)->parse;

	return expr_can_fail((Node *) subplan->args) || expr_can_fail(subplan->testexpr) ||
		outer_can_fail_walker((Node *) query, subplan->parParam) ||
		(subplan->subLinkType == EXPR_SUBLINK && !(query->hasAggs && query->groupClause == NIL));
}

Node *
subplan_uses_guarded(Node *expr, List *guards)
{
	List	   *whens = NIL;
	ListCell   *lc;

	foreach(lc, guards)
		whens = lappend(whens, pipeline_when(copyObject(lfirst(lc)),
											 makeNullConst(exprType(expr), exprTypmod(expr), exprCollation(expr))));
	return pipeline_case(exprType(expr), exprCollation(expr), whens, expr);
}

/* The test's sides that are of the rows around the subquery, guarded. */
static Node *
guard_test(Node *test, List *params, List *guards)
{
	ListCell   *lc;

	if (!IsA(test, OpExpr))
	{
		foreach(lc, IsA(test, BoolExpr) ? ((BoolExpr *) test)->args : NIL)
			lfirst(lc) = guard_test(lfirst(lc), params, guards);
		return test;
	}
	foreach(lc, ((OpExpr *) test)->args)
	{
		if (!rel_pipeline_has_param(lfirst(lc), params))
			lfirst(lc) = subplan_uses_guarded(lfirst(lc), guards);
	}
	return test;
}

bool
subplan_uses_guard(PlannerInfo *root, SubplanUse *use, Replacements *done)
{
	SubPlan    *subplan = use->subplan;
	List	   *guards;
	ListCell   *lc;

	if ((use->guards == NIL && !use->is_guard_unknown) || !needs_guard(root, subplan))
		return true;
	if (use->is_guard_unknown)
		return false;
	guards = (List *) decorrelation_replace((Node *) use->guards, done);
	use->subplan = subplan = copyObject(subplan);
	/* NULL finds nothing */
	foreach(lc, subplan->args)
		lfirst(lc) = subplan_uses_guarded(lfirst(lc), guards);
	if (subplan->testexpr != NULL)
		subplan->testexpr = guard_test(subplan->testexpr, subplan->paramIds, guards);
	return true;
}

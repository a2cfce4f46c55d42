/*-------------------------------------------------------------------------
 *
 * quantified.c
 *	  x < ANY (subquery), x >= ALL (subquery) and the like, by the least and
 *	  the greatest of its values.
 *
 * x is less than one of the values if it is less than the greatest, less than
 * all if it is less than the least; it equals all if it equals both, and
 * differs from one if it differs from either.  Whether it equals one (= ANY,
 * <> ALL) no bounds can tell: that is membership, also where the two types
 * have no equality that a join can use.  So the subquery's rows are
 * aggregated by the columns that its Params were compared with, and joined.
 *
 * With n rows, of which v have a value, and the comparison c with the bounds:
 *	 ALL is true if n = 0, else c AND (v = n OR NULL);
 *	 ANY is false if n = 0, else c OR (v < n AND NULL).
 * A NULL among the values hides a true ALL and a false ANY; if there is
 * nothing else, or x is NULL, c is NULL.  No group is found for Params for
 * which there are no rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg_compat.h"
#include "query/paths/quantified.h"
#include "query/paths/subplan_uses.h"
#include "query/paths/subplans.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/relation_numbers.h"

/* The operator as one of the value's order: a btree strategy or COMPAT_STRATEGY_NOT_EQUAL; 0: it is none. */
static int
strategy_of(const OpExpr *test)
{
	Oid			family = lookup_type_cache(exprType(lsecond(test->args)), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	ListCell   *lc;

	foreach(lc, compat_get_op_interpretation(test->opno))
	{
		const CompatOpInterpretation *meaning = lfirst(lc);

		if (meaning->opfamily_id == family)
			return compat_strategy_of_interpretation(meaning);
	}
	return 0;
}

/* The strategy if the least and the greatest of the values decide the comparison; else 0. */
static int
bounded_strategy(const SubPlan *subplan)
{
	const OpExpr *test = (const OpExpr *) subplan->testexpr;
	const int	membership = subplan->subLinkType == ALL_SUBLINK ? COMPAT_STRATEGY_NOT_EQUAL : BTEqualStrategyNumber;
	int			strategy;

	if ((subplan->subLinkType != ALL_SUBLINK && subplan->subLinkType != ANY_SUBLINK) || !IsA(test, OpExpr) ||
		list_length(test->args) != 2)
		return 0;
	strategy = strategy_of(test);
	return strategy == membership ? 0 : strategy;
}

bool
quantified_is_comparison(const SubPlan *subplan)
{
	return bounded_strategy(subplan) != 0;
}

/* min or max of the values; NULL: the type has none. */
static Aggref *
bound_of(const char *name, Node *value, Oid collation)
{
	Oid			type = exprType(value);
	Oid			function = LookupFuncName(list_make2(makeString("pg_catalog"), makeString(pstrdup(name))), 1, &type,
										  true);
	Aggref	   *aggref;

	if (!OidIsValid(function) || get_func_rettype(function) != type)
		return NULL;
	aggref = pipeline_aggref(function, type, value, collation);
	aggref->aggcollid = exprCollation(value);
	return aggref;
}

/* Vars of a subquery's rows by key. */
typedef struct Bounds
{
	Var		   *rows;
	Var		   *values;
	Var		   *least;
	Var		   *greatest;
} Bounds;

/* Aggregates the rows; value: what of a row the test compares with. */
static bool
add_bounds(const SubPlan *subplan, SubqueryRows *rows, Node *value, Oid collation, Bounds *bounds)
{
	RelPipeline *planned = rows->planned;
	Aggref	   *all = pipeline_aggref(F_COUNT_, INT8OID, NULL, InvalidOid);
	Aggref	   *values = pipeline_aggref(F_COUNT_ANY, INT8OID, value, collation);
	Aggref	   *least = bound_of("min", value, collation);
	Aggref	   *greatest = bound_of("max", value, collation);
	Index		name = relation_number_add(subplan->plan_name, NULL);
	List	   *keys = NIL;
	List	   *exprs = NIL;
	List	   *names = NIL;
	ListCell   *lc;

	if (least == NULL || greatest == NULL)
		return false;
	foreach(lc, rows->keys)
		keys = lappend(keys, linitial(lfirst_node(OpExpr, lc)->args));
	pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION, keys)->aggrefs =
		list_make4(all, values, least, greatest);
	cost_add_aggregation(planned, list_length(keys), 4, keys == NIL ? 1 : planned->rows);
	planned->pipeline->top->rows = planned->rows;
	bounds->rows = relation_number_add_column(name, (Node *) all, &exprs, &names);
	bounds->values = relation_number_add_column(name, (Node *) values, &exprs, &names);
	bounds->least = relation_number_add_column(name, (Node *) least, &exprs, &names);
	bounds->greatest = relation_number_add_column(name, (Node *) greatest, &exprs, &names);
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, list_concat(exprs, keys))->names =
		list_concat(names, keys);
	return true;
}

static Node *
test_bound(OpExpr *test, Var *bound)
{
	OpExpr	   *copy = copyObject(test);

	lsecond(copy->args) = copyObject(bound);
	return (Node *) copy;
}

/* The test with the bounds that decide it. */
static Node *
test_bounds(OpExpr *test, int strategy, bool is_all, const Bounds *bounds)
{
	List	   *both = list_make2(test_bound(test, bounds->least), test_bound(test, bounds->greatest));

	switch (strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			return is_all ? linitial(both) : lsecond(both);
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			return is_all ? lsecond(both) : linitial(both);
		default:
			return (Node *) (is_all ? make_andclause(both) : make_orclause(both));
	}
}

/* As the head of the file says. */
static Node *
truth_of(Node *test, bool is_all, const Bounds *bounds)
{
	Node	   *null = makeBoolConst(false, true);
	OpExpr	   *has_no_null = (OpExpr *) make_opclause(lookup_type_cache(INT8OID, TYPECACHE_EQ_OPR)->eq_opr, BOOLOID,
													   false, (Expr *) bounds->values, (Expr *) bounds->rows,
													   InvalidOid, InvalidOid);
	BooleanTest *has_rows = makeNode(BooleanTest);

	set_opfuncid(has_no_null);
	has_rows->arg = (Expr *) pipeline_compare_int8(bounds->rows, BTGreaterStrategyNumber, 0);
	has_rows->booltesttype = is_all ? IS_NOT_TRUE : IS_TRUE;
	has_rows->location = -1;
	if (is_all)
	{
		test = (Node *) make_andclause(list_make2(test, make_orclause(list_make2(has_no_null, null))));
		return (Node *) make_orclause(list_make2(has_rows, test));
	}
	test = (Node *) make_orclause(list_make2(test, make_andclause(list_make2(make_notclause((Expr *) has_no_null),
																			 null))));
	return (Node *) make_andclause(list_make2(has_rows, test));
}

bool
quantified_join(PlannerInfo *root, RelPipeline *planned, const SubPlan *subplan, Node **value)
{
	OpExpr	   *test = (OpExpr *) subplan->testexpr;
	const bool	is_all = subplan->subLinkType == ALL_SUBLINK;
	SubqueryRows rows;
	Replacements values = {.params = subplan->paramIds};
	Bounds		bounds;
	List	   *keys;
	int			strategy;

	strategy = bounded_strategy(subplan);
	if (strategy == 0 || rel_pipeline_has_param(linitial(test->args), subplan->paramIds) ||
		!rel_pipeline_has_param(lsecond(test->args), subplan->paramIds) || contain_var_clause(lsecond(test->args)))
		return false;
	if (!subplans_find_rows(root, planned, subplan, &rows))
		return false;
	keys = pipeline_commuted_keys(rows.keys);
	if (keys == NIL && rows.keys != NIL)
		return false;
	values.values = rows.values;
	if (!add_bounds(subplan, &rows, decorrelation_replace(lsecond(test->args), &values), test->inputcollid, &bounds))
		return false;
	/* Without keys the bounds are one row, the same for every row of the query. */
	if (keys == NIL)
		subplans_join_rows(planned, &rows, PENUMBRA_JOIN_INNER, NIL, true);
	else
		subplans_join_smaller_side(planned, &rows, keys, true);
	*value = truth_of(test_bounds(test, strategy, is_all, &bounds), is_all, &bounds);
	return true;
}

/*-------------------------------------------------------------------------
 *
 * element_subqueries.c
 *	  Subqueries over the elements of a row's own arrays and documents, as a
 *	  stage that aggregates lists.
 *
 * Such a subquery is a function of one row (own_elements.h): its conditions are
 * the FILTER of aggregates of that row's elements, and nothing is joined.
 *
 *	(SELECT sum(v) ...)		sum(v)
 *	(SELECT v ...)			the only v, of elements of which more than one is an error
 *	(SELECT v ... LIMIT 1)	(array_agg(v ORDER BY keys, number))[1]; of equal keys PostgreSQL, too, takes the first
 *	EXISTS (SELECT ...)		count(*) > 0
 *	x < ANY (SELECT v ...)	bool_or(x < v), false without elements, NULL if it is not true and
 *							one comparison is NULL
 *	x < ALL (SELECT v ...)	bool_and(x < v), likewise
 *
 * PostgreSQL ends EXISTS, ANY and ALL with the element that decides.  If another one can fail,
 * rows are held back, and an error brings the ordinary plan.  Where a guard says that a row does not
 * ask for the subquery, it has no elements.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "cache/list_image.h"
#include "query/paths/element_subqueries.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/planning/expression_columns.h"
#include "query/planning/own_elements.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/* What is made of a subquery. */
typedef struct ListAggregation
{
	PlannerInfo *root;
	const OwnElements *own;
	List	   *lists;
	List	   *elements;		/* what stands for those of each list, then for their number, if that is read */
	bool		may_refuse;
	List	   *conditions;		/* of the pipeline, as all that follows */
	Index		name;			/* of the relation whose columns are the aggregates */
	List	   *aggregates;
	List	   *columns;		/* a Var for each */
	bool		ends_early;		/* PostgreSQL may not look at all elements */
	bool		is_single;		/* the last aggregate counts the elements, of which one may be there */
} ListAggregation;

static bool
find_lists_walker(Node *node, void *argument)
{
	ListAggregation *made = argument;
	Var		   *elements;
	Var		   *list;

	if (node == NULL)
		return false;
	list = list_image_is_set(node) ? expression_columns_of_set(made->root, node, &elements) : NULL;
	if (list == NULL)
		return expression_tree_walker(node, find_lists_walker, argument);
	if (!list_member(made->lists, list))
	{
		made->lists = lappend(made->lists, list);
		made->elements = lappend(made->elements, elements);
	}
	made->may_refuse |= list_image_may_be_refused(node);
	return false;
}

/* What stands for the number of an element. */
static Var *
number_of_elements(ListAggregation *made)
{
	if (list_length(made->elements) == list_length(made->lists))
		made->elements = lappend(made->elements, makeVar(relation_number_add("elements", "ordinality"), 1, INT8OID, -1,
														 InvalidOid, 0));
	return llast(made->elements);
}

/* An expression of the subquery, or a list of them. */
static void *
normalize(ListAggregation *made, void *expr)
{
	Node	   *normalized = relation_numbers_normalize(made->root, expr);
	Replacements number = {.params = list_make1_int(OWN_ELEMENTS_NUMBER_PARAM)};

	if (!rel_pipeline_has_param(normalized, number.params))
		return normalized;
	number.values = list_make1(number_of_elements(made));
	return decorrelation_replace(normalized, &number);
}

static bool
begin(ListAggregation *made, PlannerInfo *root, const RelPipeline *planned, const PlannerInfo *subroot,
	  const char *name)
{
	*made = (ListAggregation) {.root = root,.own = own_elements_find(subroot)};
	if (made->own == NULL)
		return false;
	(void) find_lists_walker((Node *) made->own->read, made);
	if (made->lists == NIL || list_difference(made->lists, stage_outputs(planned->pipeline->top)) != NIL)
		return false;
	made->conditions = normalize(made, made->own->conditions);
	made->name = relation_number_add(name, NULL);
	return true;
}

/* The Var of an aggregate, or of the only value of the elements. */
static Var *
add_aggregate(ListAggregation *made, Node *aggregate)
{
	return relation_number_add_column(made->name, aggregate, &made->aggregates, &made->columns);
}

/* The aggregate is of the elements that pass the conditions, its own and another. */
static Aggref *
filtered(const ListAggregation *made, Aggref *aggref, Node *condition)
{
	List	   *conditions = list_copy(made->conditions);

	if (aggref->aggfilter != NULL)
		conditions = lappend(conditions, aggref->aggfilter);
	if (condition != NULL)
		conditions = lappend(conditions, condition);
	aggref->aggfilter = conditions == NIL ? NULL : make_ands_explicit(conditions);
	return aggref;
}

static Var *
add_filtered(ListAggregation *made, Aggref *aggref, Node *condition)
{
	return add_aggregate(made, (Node *) filtered(made, aggref, condition));
}

static Var *
add_count(ListAggregation *made, Node *condition)
{
	return add_filtered(made, pipeline_aggref(F_COUNT_, INT8OID, NULL, InvalidOid), condition);
}

/* The expression as the next key of the aggregate's order. */
static void
add_order_key(Aggref *aggref, void *expr, SortGroupClause *clause)
{
	int			number = list_length(aggref->args) + 1;
	TargetEntry *key = makeTargetEntry(expr, number, NULL, true);

	key->ressortgroupref = clause->tleSortGroupRef = number;
	aggref->args = lappend(aggref->args, key);
	aggref->aggorder = lappend(aggref->aggorder, clause);
}

static void
add_number_to_order(ListAggregation *made, Aggref *aggref)
{
	SortGroupClause *clause = makeNode(SortGroupClause);
	bool		is_hashable;

	get_sort_group_operators(INT8OID, true, true, false, &clause->sortop, &clause->eqop, NULL, &is_hashable);
	add_order_key(aggref, number_of_elements(made), clause);
}

/* PostgreSQL's aggregates may show the order of elements. */
static Aggref *
in_order_of_elements(ListAggregation *made, const Aggref *given)
{
	Aggref	   *aggref = copyObject(unconstify(Aggref *, given));
	PenumbraAggregate known;

	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggorder != NIL || aggref->aggdistinct != NIL ||
		(function_map_aggregate(aggref, &known) && !aggregate_shows_row_order(aggref)))
		return aggref;
	add_number_to_order(made, aggref);
	return aggref;
}

/* What stands for the value of the first element; NULL: there are no arrays of it. */
static Node *
add_first(ListAggregation *made, Node *value)
{
	Oid			type = exprType(value);
	Oid			array_type = get_array_type(type);
	Aggref	   *array = pipeline_aggref(F_ARRAY_AGG_ANYNONARRAY, array_type, value, exprCollation(value));
	SubscriptingRef *first = makeNode(SubscriptingRef);
	List	   *keys = normalize(made, made->own->sort_exprs);
	ListCell   *lc;

	if (!OidIsValid(array_type))
		return NULL;
	foreach(lc, keys)
		add_order_key(array, lfirst(lc), copyObject(list_nth(made->own->sort_clauses, foreach_current_index(lc))));
	add_number_to_order(made, array);
	first->refcontainertype = array_type;
	first->refelemtype = first->refrestype = type;
	first->reftypmod = exprTypmod(value);
	first->refcollid = exprCollation(value);
	first->refupperindexpr = list_make1(pipeline_int4(1));
	first->refexpr = (Expr *) filtered(made, array, NULL);
	return (Node *) add_aggregate(made, (Node *) first);
}

static Node *
add_aggregates_mutator(Node *node, void *made)
{
	if (node != NULL && IsA(node, Aggref))
		return (Node *) add_filtered(made, in_order_of_elements(made, (Aggref *) node), NULL);
	return node == NULL ? NULL : expression_tree_mutator(node, add_aggregates_mutator, made);
}

/* What stands for x operator ANY (subquery), or ALL; NULL: values that the test does not read could fail. */
static Node *
add_test(ListAggregation *made, const SubPlan *subplan, bool needs_null)
{
	const bool	is_any = subplan->subLinkType == ANY_SUBLINK;
	Replacements values = {.params = subplan->paramIds,.values = normalize(made, made->own->values)};
	Node	   *test = decorrelation_replace(subplan->testexpr, &values);
	Aggref	   *decided = pipeline_aggref(is_any ? F_BOOL_OR : F_BOOL_AND, BOOLOID, test, InvalidOid);
	Node	   *decision = pipeline_coalesce((Node *) add_filtered(made, decided, NULL), makeBoolConst(!is_any, false));
	Node	   *unknown;

	if (expr_can_fail((Node *) values.values) && !rel_pipeline_has_param(subplan->testexpr, values.params))
		return NULL;
	if (!needs_null)
		return decision;
	unknown = pipeline_compare_int8(add_count(made, pipeline_null_test(copyObject(test), IS_NULL)),
									is_any ? BTGreaterStrategyNumber : BTEqualStrategyNumber, 0);
	if (is_any)
		return (Node *) make_orclause(list_make2(decision, make_andclause(list_make2(unknown,
																					 makeBoolConst(false, true)))));
	return (Node *) make_andclause(list_make2(decision, make_orclause(list_make2(unknown,
																				 makeBoolConst(false, true)))));
}

/* What stands for the subquery; NULL: it is of another kind. */
static Node *
add_value(ListAggregation *made, const SubPlan *subplan, bool is_positive)
{
	Node	   *value;

	made->ends_early = true;
	switch (subplan->subLinkType)
	{
		case EXISTS_SUBLINK:
			return made->own->has_aggregates ? NULL
				: pipeline_compare_int8(add_count(made, NULL), BTGreaterStrategyNumber, 0);
		case ANY_SUBLINK:
		case ALL_SUBLINK:
			/* of ANY NULL counts as false where the bool_or() does not know it, of ALL it does not */
			return made->own->has_aggregates || made->own->is_first ? NULL
				: add_test(made, subplan, !is_positive || subplan->subLinkType == ALL_SUBLINK);
		case EXPR_SUBLINK:
			value = normalize(made, linitial(made->own->values));
			if (made->own->has_aggregates)
			{
				made->ends_early = false;
				return add_aggregates_mutator(value, made);
			}
			if (made->own->is_first)
				return add_first(made, value);
			made->is_single = true;
			value = (Node *) add_aggregate(made, value);
			(void) add_count(made, NULL);
			return value;
		default:
			return NULL;
	}
}

static bool
can_fail(const ListAggregation *made)
{
	return made->may_refuse || made->is_single || expr_can_fail((Node *) made->aggregates);
}

/* Lists that rows for which a guard is true have not. */
static void
add_guarded_lists(ListAggregation *made, RelPipeline *planned, List *guards)
{
	List	   *names = list_copy(stage_outputs(planned->pipeline->top));
	List	   *exprs = list_copy(names);
	ListCell   *lc;

	foreach(lc, made->lists)
		lfirst(lc) = relation_number_add_column(made->name, subplan_uses_guarded(lfirst(lc), guards), &exprs, &names);
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = names;
	cost_add_filter(planned, list_length(made->lists), planned->rows);
}

/* The stage, and above it the aggregates as columns. */
static void
add_stage(ListAggregation *made, RelPipeline *planned)
{
	double		rows = planned->rows;
	double		elements = clamp_row_est(rows * expression_returns_set_rows(made->root, (Node *) made->own->call));
	List	   *before = stage_outputs(planned->pipeline->top);
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_UNNEST, made->lists);

	stage->names = made->elements;
	stage->aggrefs = made->aggregates;
	stage->join_kind = made->is_single ? PENUMBRA_JOIN_SINGLE : PENUMBRA_JOIN_INNER;
	stage->may_refuse_lists = made->may_refuse ||
		(made->ends_early && expr_can_fail((Node *) made->aggregates));
	stage->rows = rows;
	cost_add_unnest(planned, list_length(made->lists), list_length(made->aggregates), elements);
	planned->rows = rows;
	planned->before_sort = NULL;
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, list_concat_copy(before, made->aggregates));
	stage->names = list_concat_copy(before, made->columns);
}

bool
element_subqueries_apply(PlannerInfo *root, RelPipeline *planned, const SubplanUse *use, Replacements *done,
						 Node **value)
{
	ListAggregation made;
	bool		has_guards = use->guards != NIL || use->is_guard_unknown;

	if (!begin(&made, root, planned, planning_level_of(root->glob, use->subplan), use->subplan->plan_name))
		return false;
	*value = add_value(&made, use->subplan, use->is_positive);
	if (*value == NULL || (use->is_guard_unknown && can_fail(&made)))
		return false;
	if (has_guards && can_fail(&made))
	{
		made.ends_early = true;
		add_guarded_lists(&made, planned, (List *) decorrelation_replace((Node *) use->guards, done));
	}
	add_stage(&made, planned);
	return true;
}

bool
element_subqueries_join_lateral(PlannerInfo *root, RelPipeline *planned, const RelOptInfo *rel, bool is_left,
								List **columns)
{
	ListAggregation made;
	Node	   *has_row = NULL;
	ListCell   *lc;

	if (!begin(&made, root, planned, rel->subroot, root->simple_rte_array[rel->relid]->eref->aliasname) ||
		!(made.own->has_aggregates || made.own->is_first))
		return false;
	*columns = NIL;
	foreach(lc, (List *) normalize(&made, made.own->values))
	{
		Node	   *value = made.own->is_first ? add_first(&made, lfirst(lc))
			: add_aggregates_mutator(lfirst(lc), &made);

		if (value == NULL)
			return false;
		*columns = lappend(*columns, value);
	}
	made.ends_early = made.own->is_first;
	if (made.own->is_first && !is_left)
		has_row = pipeline_compare_int8(add_count(&made, NULL), BTGreaterStrategyNumber, 0);
	add_stage(&made, planned);
	if (has_row != NULL)
		pipeline_add_stage(planned->pipeline, PIPELINE_FILTER, list_make1(has_row));
	return true;
}

/*-------------------------------------------------------------------------
 *
 * subplans.c
 *	  Subqueries in conditions, in outputs and, LATERAL, in FROM, as joins of
 *	  remembered pipelines.
 *
 * PostgreSQL plans a subquery before the query around it and runs a
 * correlated one once per row, with the row's values in Params.  Its pipeline
 * is remembered like any other.  Here it loses the filters "column = Param"
 * (decorrelation.c), and the columns become keys: of its aggregation, if it has one, and of a
 * join with the rows around it (T. Neumann, A. Kemper: Unnesting arbitrary
 * queries, BTW 2015, where the dependent side never needs more than keys).
 *
 * Why the answer is the same:
 * - Rows of the subquery with the keys k are those that it has for Params k:
 *   "column = Param" is strict, so a NULL Param finds nothing, as a NULL key
 *   joins nothing.
 * - An aggregation without keys has a row for every Param.  With keys it has
 *   none where no row is found; then its value is that of the target over no
 *   rows, and the condition must not hold for it (is_null_rejected), or the
 *   join keeps the row and puts that value in.
 * - Without an aggregation a second row is an error, raised by the join for
 *   the rows around it that find two.
 * - What can fail, fails for groups of Params that nobody asked for: any
 *   error before the first row leads to the ordinary plan.
 * - Below CASE, COALESCE, AND, OR and FILTER the keys of rows that do not ask
 *   for the subquery are NULL, where a key or a second match could fail
 *   (subplan_uses.c).
 *
 * - Where other conditions have Params, the subquery's rows are joined with the Params' values,
 *   which are taken from the same rows around it, and its keys are these values.  One that
 *   is NULL must find nothing, and values that are equal must be the same.
 *
 * Comparisons with ANY and ALL that are no IN or NOT IN: quantified.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/decorrelation.h"
#include "query/paths/element_subqueries.h"
#include "query/paths/limits.h"
#include "query/paths/quantified.h"
#include "query/paths/subplan_uses.h"
#include "query/paths/subplans.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translation.h"
#include "query/planning/level_columns.h"
#include "query/planning/path_walk.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/repeats.h"

/* ---------------------------------------------------------------- the subquery's rows */

/* A subquery that is planned, and the values it is run for. */
typedef struct Subquery
{
	PlannerInfo *root;
	const char *name;
	List	   *params;			/* numbers of the Params that hold them */
	List	   *args;			/* the values, in the query around it */
	const RelPipeline *outer;	/* the rows that have them */
	Cost		call_cost;		/* of one execution by PostgreSQL */
	bool		has_target;		/* not of EXISTS */
	bool		may_default;	/* the values over no rows can stand for a missing row */
} Subquery;

/* What is left of an expression of aggregates over no rows. */
static Node *
over_no_rows_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = (Aggref *) node;
		PenumbraAggregate known;

		switch (aggref->aggfnoid)
		{
			case F_COUNT_:
			case F_COUNT_ANY:
			case F_REGR_COUNT:
				return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0),
										  false, FLOAT8PASSBYVAL);
			case F_RANK_ANY:
			case F_DENSE_RANK_ANY:
			case F_PERCENT_RANK_ANY:
			case F_CUME_DIST_ANY:
				return node;
			default:
				return function_map_aggregate(aggref, &known)
					? (Node *) makeNullConst(aggref->aggtype, -1, aggref->aggcollid) : node;
		}
	}
	return expression_tree_mutator(node, over_no_rows_mutator, context);
}

/* Folds what raises no error: that is for execution to raise, if a row asks for the value. */
static Node *
fold_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, fold_mutator, context);
	return expr_can_fail(node) ? node : eval_const_expressions(context, node);
}

/* An expression of aggregates over no rows. */
static Node *
over_no_rows(PlannerInfo *subroot, Node *expr)
{
	return fold_mutator(over_no_rows_mutator(expr, NULL), subroot);
}

/* False: not known. */
static bool
find_empty_value(PlannerInfo *subroot, Node *target, Node **value)
{
	Node	   *empty = over_no_rows(subroot, target);

	*value = NULL;
	if (!IsA(empty, Const) && !translation_is_runtime(empty))
		return false;
	if (!IsA(empty, Const) || !((Const *) empty)->constisnull)
		*value = empty;
	return true;
}

/*
 * Whether the row over no rows is there, which a HAVING may drop.  False: a
 * missing row does not tell, since the HAVING keeps that one and drops others.
 */
static bool
find_default(PlannerInfo *subroot, List *having, bool *has_default)
{
	ListCell   *lc;

	*has_default = true;
	foreach(lc, having)
	{
		const Const *empty = (const Const *) over_no_rows(subroot, lfirst(lc));

		if (!IsA(empty, Const))
			return false;
		*has_default &= !empty->constisnull && DatumGetBool(empty->constvalue);
	}
	return having == NIL || !*has_default;
}

/* The join's keys: each column that the Params were compared with, and what the outer query has for them. */
static void
add_keys(const Subquery *subquery, List *dependences, Index name, List **exprs, List **names, List **keys)
{
	Replacements arguments = {.params = subquery->params,.values = subquery->args};
	ListCell   *lc;

	foreach(lc, dependences)
	{
		const Dependence *dependence = lfirst(lc);
		OpExpr	   *key = copyObject(dependence->equality);

		key->args = list_make2(relation_number_add_column(name, dependence->column, exprs, names),
							   decorrelation_replace(dependence->outer, &arguments));
		*keys = lappend(*keys, key);
	}
}

/* The rows around the subquery, reduced to the values of its Params; false: they cannot be had, or not twice. */
static bool
find_values(const Subquery *subquery, ParamValues *values, RelPipeline *planned)
{
	Index		name;
	List	   *keys = NIL;
	List	   *exprs = NIL;
	ListCell   *lc;

	memset(values, 0, sizeof(ParamValues));
	if (subquery->args == NIL || !rel_pipeline_repeats(subquery->outer->pipeline->top))
		return false;
	foreach(lc, subquery->args)
	{
		/* What is computed for a value must hold for those that equal it. */
		if (rel_pipeline_needs_no_input(lfirst(lc)) || !repeats_has_one_form(lfirst(lc)))
			return false;
		keys = list_append_unique(keys, lfirst(lc));
	}
	*planned = *subquery->outer;
	planned->pipeline = pipeline_copy(subquery->outer->pipeline);
	pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION, keys);
	cost_add_aggregation(planned, list_length(keys), 0, planned->rows);
	name = relation_number_add(psprintf("%s_values", subquery->name), NULL);
	foreach(lc, subquery->args)
		(void) relation_number_add_column(name, lfirst(lc), &exprs, &values->columns);
	values->stage = pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs);
	values->stage->names = values->columns;
	return true;
}

/* A row that a join's table is made of, with a few columns. */
#define BUILT_ROW_BYTES 100

/* Of what a join may take, as its build side, if no row is filtered. */
static double
memory_share(const RelPipeline *planned)
{
	return planned->input_rows * BUILT_ROW_BYTES /
		cost_memory_bytes(cost_threads(planned->input_rows, planned->is_rescanned));
}

/*
 * Takes the Params out of the subquery's stages by a join with their values, and adds what it costs.  Nothing comes
 * back if PostgreSQL's executions cost less.
 */
static Decorrelated
decorrelate_by_values(const Subquery *subquery, RelPipeline *planned)
{
	ParamValues values;
	RelPipeline outer;
	Decorrelated decorrelated = {NULL};
	Decorrelated failed = {NULL};
	double		rows = planned->rows;
	double		pairs;

	if (!find_values(subquery, &values, &outer))
		return failed;
	values.memory_share = memory_share(planned);
	decorrelated = decorrelation_of_stage(planned->pipeline->top, subquery->params, &values);
	if (decorrelated.stage == NULL)
		return failed;
	cost_without_rescans(planned);
	planned->rows = Max(rows, planned->input_rows);
	if (values.join != NULL && values.join->join_choice != PENUMBRA_JOIN_ALL)
	{
		cost_add_join(&outer, planned, 1, 1, 1, outer.rows, outer.rows, outer.rows);
		outer.pipeline = planned->pipeline;
		*planned = outer;
	}
	else
	{
		pairs = outer.rows * Max(values.rows, 1);
		cost_add_join(planned, &outer, 1, list_length(values.columns), 1, pairs, pairs, outer.rows * rows);
	}
	if (!MODE_IS_FORCED() &&
		subquery->call_cost * subquery->outer->rows < planned->startup_cost + planned->run_cost)
		return failed;
	return decorrelated;
}

/*
 * Of coalesce(value, constant), which is the constant over no rows, the constant; NULL: it is none, or the stage gives
 * no such value without it.
 */
static Const *
find_default_value(const PipelineStage *stage, Node *output, const Node *empty_value)
{
	Const	   *constant = pipeline_default_of(output);

	return constant != NULL && equal(constant, empty_value) &&
		pipeline_find_expr(stage_outputs(stage), linitial(((CoalesceExpr *) output)->args)) >= 0 ? constant : NULL;
}

/* False: they cannot be had for all Params at once. */
static bool
find_rows(const Subquery *subquery, SubqueryRows *rows)
{
	Decorrelated decorrelated;
	Replacements values = {.params = subquery->params};
	Index		name;
	List	   *outputs;
	List	   *exprs = NIL;
	List	   *names = NIL;
	PipelineStage *stage;
	ListCell   *lc;

	memset(rows, 0, sizeof(SubqueryRows));
	rows->planned = base_pipelines_copy_of_subquery(subquery->root, &outputs);
	/* What an InitPlan of it finds may depend on the Params, too. */
	if (rows->planned == NULL || rows->planned->pipeline->init_plans != NIL)
		return false;
	decorrelated = decorrelation_of_stage(rows->planned->pipeline->top, subquery->params, NULL);
	if (decorrelated.stage == NULL)
		decorrelated = decorrelate_by_values(subquery, rows->planned);
	if (decorrelated.stage == NULL || (decorrelated.is_single_group && !subquery->may_default))
		return false;
	values.values = decorrelated.values;
	rows->planned->pipeline->top = decorrelated.stage;
	rows->is_unique = decorrelated.is_single_group;
	if (rows->is_unique && !find_default(subquery->root, decorrelated.having, &rows->has_default))
		return false;
	name = relation_number_add(subquery->name, NULL);
	foreach(lc, subquery->has_target ? subquery->root->processed_tlist : NIL)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		Node	   *output;
		Node	   *empty_value = NULL;
		Const	   *constant;

		if (entry->resjunk)
			continue;
		output = list_nth(outputs, list_length(rows->values));
		if (decorrelated.values != NIL)
			output = decorrelation_replace(output, &values);
		if (rel_pipeline_has_param(output, subquery->params))
			return false;
		if (rows->has_default && (!find_empty_value(subquery->root, (Node *) entry->expr, &empty_value) ||
								  rel_pipeline_has_param(empty_value, subquery->params)))
			return false;
		constant = find_default_value(rows->planned->pipeline->top, output, empty_value);
		if (constant != NULL)
		{
			output = linitial(((CoalesceExpr *) output)->args);
			empty_value = NULL;
		}
		rows->defaults = lappend(rows->defaults, constant);
		if (!stage_scan_is_position(output))
			output = (Node *) relation_number_add_column(name, output, &exprs, &names);
		else if (pipeline_find_expr(exprs, output) < 0)
		{
			exprs = lappend(exprs, output);
			names = lappend(names, output);
		}
		rows->values = lappend(rows->values, output);
		rows->empty_values = lappend(rows->empty_values, empty_value);
	}
	add_keys(subquery, decorrelated.dependences, name, &exprs, &names, &rows->keys);
	stage = pipeline_add_stage(rows->planned->pipeline, PIPELINE_PROJECTION, exprs);
	stage->names = names;
	return true;
}

bool
subplans_find_rows(PlannerInfo *root, const RelPipeline *outer, const SubPlan *subplan, SubqueryRows *rows)
{
	Subquery	subquery = {
		.root = planning_level_of(root->glob, subplan),
		.name = subplan->plan_name,
		.params = subplan->parParam,
		.args = subplan->args,
		.outer = outer,
		.call_cost = subplan->per_call_cost,
		.has_target = subplan->subLinkType != EXISTS_SUBLINK,
		/* Of the other kinds NULL is not what they are without a row. */
		.may_default = subplan->subLinkType == EXPR_SUBLINK
	};
	ListCell   *lc;

	if (subplan->setParam != NIL || !find_rows(&subquery, rows))
		return false;
	foreach(lc, rows->values)
	{
		if (stage_scan_is_position(lfirst(lc)))
			return false;
	}
	cost_without_rescans(rows->planned);
	return true;
}

/* ---------------------------------------------------------------- conditions */

/* matched: the share of the probe side's rows that find something, for the cost. */
static PipelineStage *
join_rows(RelPipeline *planned, const SubqueryRows *rows, PenumbraJoinKind kind, List *keys, bool probes,
		  double matched)
{
	PipelineStage *outer = planned->pipeline->top;
	PipelineStage *inner = rows->planned->pipeline->top;
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_JOIN, NIL);
	double		outer_rows = planned->rows;
	RelPipeline build = probes ? *rows->planned : *planned;

	if (!probes)
	{
		planned->startup_cost = rows->planned->startup_cost;
		planned->run_cost = rows->planned->run_cost;
		planned->input_rows = rows->planned->input_rows;
		planned->rows = rows->planned->rows;
	}
	stage->inputs = probes ? list_make2(outer, inner) : list_make2(inner, outer);
	stage->join_kind = kind;
	stage->join_keys = keys;
	stage->probe_rows = planned->rows;
	stage->build_rows = build.rows;
	stage->rows = outer_rows;
	pipeline_take(planned->pipeline, rows->planned->pipeline);
	cost_add_join(planned, &build, Max(list_length(keys), 1), 1, 0, planned->rows * matched, outer_rows * matched,
				  outer_rows);
	return stage;
}

void
subplans_join_rows(RelPipeline *planned, const SubqueryRows *rows, PenumbraJoinKind kind, List *keys, bool probes)
{
	(void) join_rows(planned, rows, kind, keys, probes, 1);
}

/* Of the subquery's rows: a row that is built and then looked for without a match costs so many that a filter drops. */
#define KEPT_ROW_TIMES 4

void
subplans_join_smaller_side(RelPipeline *planned, const SubqueryRows *rows, List *keys, bool keeps_all)
{
	if (planned->rows * (keeps_all ? KEPT_ROW_TIMES : 1) < rows->planned->input_rows)
		subplans_join_rows(planned, rows, keeps_all ? PENUMBRA_JOIN_RIGHT : PENUMBRA_JOIN_INNER, rows->keys, false);
	else
		subplans_join_rows(planned, rows, keeps_all ? PENUMBRA_JOIN_LEFT : PENUMBRA_JOIN_INNER, keys, true);
}

/* Adds the test x IN (subquery), or of several columns, to the keys; false: it is no equality. */
static bool
add_test(const SubPlan *subplan, const SubqueryRows *rows, List **keys)
{
	Replacements values = {.params = subplan->paramIds,.values = rows->values};
	List	   *tests = is_andclause(subplan->testexpr) ? ((BoolExpr *) subplan->testexpr)->args
		: list_make1(subplan->testexpr);
	ListCell   *lc;

	foreach(lc, tests)
	{
		Dependence *dependence = decorrelation_of_clause(lfirst(lc), subplan->paramIds);
		OpExpr	   *key;

		if (dependence == NULL)
			return false;
		key = copyObject(dependence->equality);
		lsecond(key->args) = decorrelation_replace(dependence->outer, &values);
		*keys = lappend(*keys, key);
	}
	return true;
}

/* Joins the rows with the subquery's: keeps those that find one (SEMI) or none (ANTI), or adds which (MARK). */
static PipelineStage *
join_matches(RelPipeline *planned, const SubPlan *subplan, const SubqueryRows *rows, PenumbraJoinKind kind,
			 List *keys, double matched, Node **mark)
{
	PipelineStage *stage = join_rows(planned, rows, kind, keys, true, matched);
	List	   *exprs = NIL;

	if (kind == PENUMBRA_JOIN_MARK)
		*mark = (Node *) relation_number_add_column(relation_number_add(subplan->plan_name, NULL),
													makeBoolConst(false, true), &exprs, &stage->names);
	return stage;
}

/* Whether one of the values on this side of the equalities is NULL. */
static Node *
any_is_null(List *equalities, bool of_outer)
{
	List	   *tests = NIL;
	ListCell   *lc;

	foreach(lc, equalities)
	{
		List	   *sides = lfirst_node(OpExpr, lc)->args;

		tests = lappend(tests, pipeline_null_test(of_outer ? linitial(sides) : lsecond(sides), IS_NULL));
	}
	return list_length(tests) == 1 ? linitial(tests) : (Node *) make_orclause(tests);
}

/*
 * Joins the rows for which x IN (subquery), if it is not true, is NULL and not
 * false: with those of the subquery that equal x where neither has a NULL, of
 * which the values have one, or x itself (of_outer).
 */
static bool
join_unknown(PlannerInfo *root, RelPipeline *planned, const RelPipeline *outer, const SubPlan *subplan,
			 PenumbraJoinKind kind, bool of_outer, Node **mark)
{
	SubqueryRows rows;
	List	   *equalities = NIL;
	List	   *conditions = NIL;
	List	   *keys;
	Node	   *has_null;
	ListCell   *lc;

	if (!subplans_find_rows(root, outer, subplan, &rows) || !add_test(subplan, &rows, &equalities))
		return false;
	keys = pipeline_commuted_keys(rows.keys);
	has_null = any_is_null(equalities, of_outer);
	if (of_outer)
	{
		/* As a key: rows without a NULL look at none of the subquery's. */
		OpExpr	   *key = (OpExpr *) make_opclause(BooleanEqualOperator, BOOLOID, false, (Expr *) has_null,
												   (Expr *) makeBoolConst(true, false), InvalidOid, InvalidOid);

		set_opfuncid(key);
		keys = lappend(keys, key);
	}
	else
	{
		pipeline_add_stage(rows.planned->pipeline, PIPELINE_FILTER, list_make1(has_null));
		cost_add_filter(rows.planned, list_length(equalities), clamp_row_est(rows.planned->rows * DEFAULT_UNK_SEL));
	}
	/* Of one value that is NULL there is nothing to compare. */
	foreach(lc, list_length(equalities) > 1 ? equalities : NIL)
	{
		BooleanTest *condition = makeNode(BooleanTest);

		condition->arg = lfirst(lc);
		condition->booltesttype = IS_NOT_FALSE;
		condition->location = -1;
		conditions = lappend(conditions, condition);
	}
	join_matches(planned, subplan, &rows, kind, keys, DEFAULT_UNK_SEL, mark)->exprs = conditions;
	return true;
}

/*
 * Joins the rows with those of EXISTS (subquery) or x IN (subquery): keeps
 * those for which it is true, or (ANTI) false, or adds its value (MARK).
 * NULL counts as false unless it is asked for.  The join itself knows of NULL
 * if the test is its only key; else two more joins find what is NULL.
 */
static bool
join_membership(PlannerInfo *root, RelPipeline *planned, const SubPlan *subplan,
				PenumbraJoinKind kind, bool needs_null, Node **mark)
{
	SubqueryRows rows;
	List	   *keys = NIL;
	List	   *commuted;
	Node	   *unknown[2];
	const RelPipeline *outer = rel_pipeline_copy(planned);
	bool		is_null_aware;

	if ((subplan->subLinkType != ANY_SUBLINK && subplan->subLinkType != EXISTS_SUBLINK) ||
		!subplans_find_rows(root, outer, subplan, &rows))
		return false;
	if (subplan->subLinkType == ANY_SUBLINK && !add_test(subplan, &rows, &keys))
		return false;
	commuted = pipeline_commuted_keys(rows.keys);
	if (list_length(commuted) != list_length(rows.keys))
		return false;
	needs_null &= subplan->subLinkType == ANY_SUBLINK;
	is_null_aware = needs_null && list_length(keys) == 1 && commuted == NIL;
	keys = list_concat(keys, commuted);
	if (keys == NIL)
		return false;
	/* join_unknown() computes the rows again. */
	if (needs_null && !is_null_aware &&
		!repeats_exactly(planning_level_of(root->glob, subplan)->parse, root->glob))
		return false;
	join_matches(planned, subplan, &rows, kind, keys, 1, mark)->is_null_aware = is_null_aware;
	if (!needs_null || is_null_aware)
		return true;
	if (!join_unknown(root, planned, outer, subplan, kind, false, &unknown[0]) ||
		!join_unknown(root, planned, outer, subplan, kind, true, &unknown[1]))
		return false;
	if (kind == PENUMBRA_JOIN_MARK)
	{
		Node	   *null = (Node *) make_andclause(list_make2(make_orclause(list_make2(unknown[0], unknown[1])),
															  makeBoolConst(false, true)));

		*mark = (Node *) make_orclause(list_make2(*mark, null));
	}
	return true;
}

/* CASE WHEN a row was found THEN its value, by place, ELSE what it is without one; or coalesce(its value, that) */
static Node *
value_or_empty(const SubqueryRows *rows, int place)
{
	Var		   *value = list_nth(rows->values, place);
	Node	   *empty_value = list_nth(rows->empty_values, place);
	Node	   *is_found;

	if (list_nth(rows->defaults, place) != NULL)
		return pipeline_coalesce((Node *) value, list_nth(rows->defaults, place));
	if (empty_value == NULL)
		return (Node *) value;
	/* A key that joined is not NULL. */
	is_found = pipeline_null_test(linitial(linitial_node(OpExpr, rows->keys)->args), IS_NOT_NULL);
	return pipeline_case(value->vartype, value->varcollid, list_make1(pipeline_when(is_found, value)), empty_value);
}

/* Joins the rows with those of a correlated subquery in the clause, which has one value for each. */
static bool
join_scalar(PlannerInfo *root, RelPipeline *planned, Node *clause, const SubplanUse *use, Node **value)
{
	SubqueryRows rows;
	Replacements replacements = {.nodes = list_make1(use->node)};
	List	   *keys;

	if (use->subplan->parParam == NIL || !subplans_find_rows(root, planned, use->subplan, &rows))
		return false;
	keys = pipeline_commuted_keys(rows.keys);
	if (keys == NIL)
		return false;
	*value = value_or_empty(&rows, 0);
	replacements.values = list_make1(*value);
	clause = decorrelation_replace(clause, &replacements);
	if (rows.is_unique)
	{
		/* A row without a group does not pass, nor does its condition fail. */
		bool		keeps_all = expr_can_fail(clause) ||
			!bms_is_member(linitial_node(Var, rows.values)->varno, find_nonnullable_rels(clause));

		subplans_join_smaller_side(planned, &rows, keys, keeps_all);
	}
	else
		subplans_join_rows(planned, &rows, PENUMBRA_JOIN_SINGLE, keys, true);
	return true;
}

/* Whether PostgreSQL's plan of a query level reads tables by their indexes only. */
static bool
is_looked_up(PlannerInfo *root)
{
	const Path *path = fetch_upper_rel(root, UPPERREL_FINAL, NULL)->cheapest_total_path;
	ListCell   *lc;

	foreach(lc, root->init_plans)
	{
		if (!is_looked_up(planning_level_of(root->glob, lfirst_node(SubPlan, lc))))
			return false;
	}
	return path != NULL && path_walk_is_looked_up(path);
}

/* Executions of correlated subqueries, and the joins in their place. */
typedef struct Executions
{
	Cost		executions;
	Cost		joins;
	bool		can_win;		/* one is of a kind that a join may lose against */
} Executions;

/*
 * Adds a subquery for which that share of so many rows asks.  A join with all of
 * its rows may take longer than PostgreSQL's executions if an index finds them,
 * or not all rows ask for it, or LIMIT says that there are so few.
 */
static void
add_executions(Executions *sum, PlannerInfo *subroot, double rows, double share, bool is_limited, Cost cost)
{
	RelOptInfo *final = fetch_upper_rel(subroot, UPPERREL_FINAL, NULL);
	const RelPipeline *planned = base_pipelines_find(subroot, final);
	bool		by_index;

	if (planned == NULL || final->cheapest_total_path == NULL)
		return;
	by_index = is_looked_up(subroot);
	sum->can_win |= by_index || share < 1 || is_limited;
	sum->executions += cost_of_executions(rows * share, cost, path_walk_rows(final->cheapest_total_path), by_index);
	sum->joins += cost_of_all_rows(planned);
}

static bool
executions_win(const Executions *sum)
{
	if (MODE_IS_FORCED() || !sum->can_win || sum->executions >= sum->joins)
		return false;
	planning_current()->has_executions = true;
	return true;
}

/* The share of the rows that ask for the subquery: for which none of its guards is true. */
static double
asking_share(PlannerInfo *root, List *guards)
{
	double		share = 1;
	ListCell   *lc;

	foreach(lc, guards)
		share *= 1 - clause_selectivity(root, lfirst(lc), 0, JOIN_INNER, NULL);
	return share;
}

/* Whether the rows have the subquery's value already, which then is no reason for anything. */
static bool
is_joined(const RelPipeline *planned, const SubPlan *subplan)
{
	ListCell   *lc;

	foreach(lc, subplan_uses_find((Node *) planned->subplans, true))
	{
		if (((const SubplanUse *) lfirst(lc))->subplan->plan_id == subplan->plan_id)
			return true;
	}
	return false;
}

/* Whether PostgreSQL executes the correlated subqueries of the expressions, as the query has them, for each row. */
static bool
has_executions(PlannerInfo *root, const RelPipeline *planned, Node *exprs)
{
	const bool	is_limited = limits_bound_rows(root);
	Executions	sum = {0};
	ListCell   *lc;

	foreach(lc, subplan_uses_find(exprs, true))
	{
		const SubplanUse *use = lfirst(lc);

		if (use->subplan->parParam != NIL && !is_joined(planned, use->subplan))
			add_executions(&sum, planning_level_of(root->glob, use->subplan), planned->rows,
						   asking_share(root, use->guards), is_limited, use->subplan->per_call_cost);
	}
	return executions_win(&sum);
}

static bool
is_membership(const SubPlan *subplan)
{
	return subplan->subLinkType == EXISTS_SUBLINK ||
		(subplan->subLinkType == ANY_SUBLINK && !quantified_is_comparison(subplan));
}

/* Joins the rows with those of the subquery in the clause, whatever its kind, and says what stands for it. */
static bool
join_value(PlannerInfo *root, RelPipeline *planned, Node *clause, const SubplanUse *use, Node **value)
{
	if (use->subplan->subLinkType == EXPR_SUBLINK)
		return join_scalar(root, planned, clause, use, value);
	if (is_membership(use->subplan))
		return join_membership(root, planned, use->subplan, PENUMBRA_JOIN_MARK, !use->is_positive, value);
	return quantified_join(root, planned, use->subplan, value);
}

bool
subplans_apply(PlannerInfo *root, RelPipeline *planned, RestrictInfo *rinfo,
					   double result_rows)
{
	Node	   *clause = rel_pipeline_normalize_subplans(root, (Node *) rinfo->clause);
	bool		is_negated = is_notclause(clause);
	Node	   *inner = is_negated ? (Node *) get_notclausearg(clause) : clause;
	Replacements replacements = {0};
	ListCell   *lc;

	if (rinfo->security_level > 0 || contains_volatile(clause, root->glob))
		return false;
	/* Of a join's condition what is around it would be PostgreSQL's, too. */
	if (bms_membership(rinfo->clause_relids) != BMS_MULTIPLE &&
		has_executions(root, planned, (Node *) rinfo->clause))
		return false;
	foreach(lc, subplan_uses_find(clause, true))
	{
		SubplanUse *use = lfirst(lc);
		Node	   *value = NULL;
		bool		is_applied = element_subqueries_apply(root, planned, use, &replacements, &value);

		if (!is_applied && use->node == inner && is_membership(use->subplan))
			return join_membership(root, planned, use->subplan,
								   is_negated ? PENUMBRA_JOIN_ANTI : PENUMBRA_JOIN_SEMI, is_negated, NULL);
		if (!is_applied &&
			(!subplan_uses_guard(root, use, &replacements) || !join_value(root, planned, clause, use, &value)))
			return false;
		replacements.nodes = lappend(replacements.nodes, use->node);
		replacements.values = lappend(replacements.values, value);
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_FILTER, list_make1(decorrelation_replace(clause, &replacements)));
	cost_add_filter(planned, 1, result_rows);
	return true;
}

bool
subplans_join_outputs(PlannerInfo *root, RelPipeline *planned, List *exprs)
{
	Node	   *normalized = rel_pipeline_normalize_subplans(root, (Node *) exprs);
	Replacements replacements = {0};
	ListCell   *lc;

	if (contains_volatile(normalized, root->glob) || has_executions(root, planned, (Node *) exprs))
		return false;
	foreach(lc, subplan_uses_find(normalized, false))
	{
		SubplanUse *use = lfirst(lc);
		int			known = pipeline_find_expr(planned->subplans, use->node);
		Node	   *value = known < 0 ? NULL : list_nth(planned->subplan_values, known);

		/* No row is dropped for its value: in place of a condition stands one that is always true. */
		if (known < 0 && !element_subqueries_apply(root, planned, use, &replacements, &value) &&
			(!subplan_uses_guard(root, use, &replacements) ||
						  !join_value(root, planned, makeBoolConst(true, false), use, &value)))
			return false;
		replacements.nodes = lappend(replacements.nodes, use->node);
		replacements.values = lappend(replacements.values, value);
		if (known >= 0)
			continue;
		planned->subplans = lappend(planned->subplans, use->node);
		planned->subplan_values = lappend(planned->subplan_values, value);
	}
	return true;
}

/* ---------------------------------------------------------------- LATERAL */

/* What LATERAL subqueries get from the relations beside them, by Params. */
static Subquery
lateral_subquery(PlannerInfo *root, const RelPipeline *outer, RelOptInfo *rel)
{
	Subquery	subquery = {
		.root = rel->subroot,
		.name = root->simple_rte_array[rel->relid]->eref->aliasname,
		.outer = outer,
		.call_cost = ((Path *) linitial(rel->pathlist))->total_cost,
		.has_target = true,
		.may_default = true
	};
	ListCell   *lc;

	foreach(lc, rel->subplan_params)
	{
		const PlannerParamItem *item = lfirst(lc);

		subquery.params = lappend_int(subquery.params, item->paramId);
		subquery.args = lappend(subquery.args, relation_numbers_normalize(root, item->item));
	}
	return subquery;
}

/* The subquery's column of that number, which has such values. */
static Var *
lateral_column(const RelOptInfo *rel, AttrNumber number, Node *value)
{
	return makeVar(rel->relid, number, exprType(value), exprTypmod(value), exprCollation(value), 0);
}

/*
 * The outputs so far and the subquery's columns, under the names of the query around it.  False: that reads one of
 * which there is the position only.
 */
static bool
add_lateral_columns(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, List *before,
					const SubqueryRows *rows)
{
	List	   *exprs = list_copy(before);
	List	   *names = list_copy(before);
	ListCell   *lc;

	foreach(lc, rows->values)
	{
		Var		   *value = lfirst(lc);
		Var		   *column = lateral_column(rel, foreach_current_index(lc) + 1, (Node *) value);

		if (stage_scan_is_position((Node *) value))
		{
			if (!level_columns_pass(root, rel, column->varattno, value))
				return false;
			if (pipeline_find_expr(exprs, (Node *) value) >= 0)
				continue;
			exprs = lappend(exprs, value);
			names = lappend(names, value);
			continue;
		}
		exprs = lappend(exprs, value_or_empty(rows, foreach_current_index(lc)));
		names = lappend(names, relation_numbers_normalize(root, (Node *) column));
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = names;
	return true;
}

static void
add_columns_of_elements(PlannerInfo *root, RelPipeline *planned, const RelOptInfo *rel, List *before, List *columns)
{
	List	   *names = list_copy(before);
	ListCell   *lc;

	foreach(lc, columns)
		names = lappend(names, relation_numbers_normalize(root, (Node *)
														  lateral_column(rel, foreach_current_index(lc) + 1,
																		 lfirst(lc))));
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, list_concat_copy(before, columns))->names = names;
}

bool
subplans_join_lateral(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, bool is_left, double result_rows)
{
	Subquery	subquery = lateral_subquery(root, planned, rel);
	List	   *before = stage_outputs(planned->pipeline->top);
	Executions	sum = {0};
	SubqueryRows rows;
	List	   *keys;
	List	   *columns;

	if (rel->subplan_params == NIL)
		return false;
	if (element_subqueries_join_lateral(root, planned, rel, is_left, &columns))
	{
		add_columns_of_elements(root, planned, rel, before, columns);
		planned->rows = result_rows;
		return true;
	}
	add_executions(&sum, rel->subroot, planned->rows, 1, false, ((Path *) linitial(rel->pathlist))->total_cost);
	if (executions_win(&sum) || !find_rows(&subquery, &rows))
		return false;
	keys = pipeline_commuted_keys(rows.keys);
	if (keys == NIL)
		return false;
	/* Its costs stay those of repeated look-ups by index, if PostgreSQL would do that: as fast for few rows. */
	subplans_join_smaller_side(planned, &rows, keys, is_left || rows.has_default);
	planned->rows = result_rows;
	planned->before_sort = NULL;
	return add_lateral_columns(root, planned, rel, before, &rows);
}

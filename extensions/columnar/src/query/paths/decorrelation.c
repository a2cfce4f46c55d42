/*-------------------------------------------------------------------------
 *
 * decorrelation.c
 *	  Takes the Params out of a subquery's stages.
 *
 * A filter "column = Param" goes, and the column becomes one of the stage's
 * outputs and a key of the aggregations above it.  The caller joins by it;
 * the head of subplans.c says why the answer is the same.
 *
 * Where other conditions have Params, the filter becomes a join with the Params' values:
 * its equalities are the keys, the others see the pairs.  Above it the values
 * are columns, which stand for the Params, and each "equals its Param".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/paths/decorrelation.h"
#include "query/paths/limits.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"

Node *
decorrelation_replace(Node *node, void *context)
{
	const Replacements *replacements = context;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	foreach(lc, replacements->params)
	{
		if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
			((Param *) node)->paramid == lfirst_int(lc))
			return copyObject(list_nth(replacements->values, foreach_current_index(lc)));
	}
	foreach(lc, replacements->nodes)
	{
		/* By address: equal subqueries at two places may have guards of their own. */
		if (node == lfirst(lc))
			return copyObject(list_nth(replacements->values, foreach_current_index(lc)));
	}
	return expression_tree_mutator(node, decorrelation_replace, context);
}

bool
decorrelation_is_outer(Node *node, List *params)
{
	return rel_pipeline_has_param(node, params) && rel_pipeline_needs_no_input(node);
}

Dependence *
decorrelation_of_clause(Node *clause, List *params)
{
	OpExpr	   *equality = (OpExpr *) clause;
	Dependence *dependence;

	if (!comparison_key_is_equality_clause(clause))
		return NULL;
	if (decorrelation_is_outer(linitial(equality->args), params))
		equality = pipeline_commuted_key(equality);
	if (equality == NULL || !decorrelation_is_outer(lsecond(equality->args), params) ||
		rel_pipeline_has_param(linitial(equality->args), params) ||
		!contain_var_clause(linitial(equality->args)))
		return NULL;
	dependence = palloc(sizeof(Dependence));
	dependence->outer = lsecond(equality->args);
	dependence->column = linitial(equality->args);
	dependence->equality = equality;
	return dependence;
}

static Dependence *
find_dependence(List *dependences, const Dependence *like)
{
	ListCell   *lc;

	foreach(lc, dependences)
	{
		if (equal(((Dependence *) lfirst(lc))->outer, like->outer))
			return lfirst(lc);
	}
	return NULL;
}

/* What two columns that both equal the same expression have in common. */
static Node *
equality_of(const Dependence *a, const Dependence *b)
{
	Oid			type = exprType(a->column);
	OpExpr	   *equality;

	if (type != exprType(b->column) || a->equality->opno != b->equality->opno ||
		a->equality->inputcollid != b->equality->inputcollid)
		return NULL;
	equality = (OpExpr *) make_opclause(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr, BOOLOID,
										false, (Expr *) a->column, (Expr *) b->column, InvalidOid,
										a->equality->inputcollid);
	set_opfuncid(equality);
	return (Node *) equality;
}

/* The node, or list, with the values in the places of the Params. */
static void *
with_values(void *node, List *params, List *values)
{
	Replacements replacements = {.params = params,.values = values};

	return decorrelation_replace(node, &replacements);
}

/* Whether no row passes the clauses if one of the Params is NULL. */
static bool
reject_null_params(List *clauses, List *params)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, params)
	{
		bool		is_rejected = false;

		foreach(lc2, clauses)
			is_rejected |= rel_pipeline_has_param(lfirst(lc2), list_make1_int(lfirst_int(lc))) &&
				!contain_nonstrict_functions(lfirst(lc2));
		if (!is_rejected)
			return false;
	}
	return true;
}

/* Each Param with its column of the values. */
static List *
dependences_of_values(List *params, const ParamValues *values)
{
	List	   *dependences = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, params, lc2, values->columns)
	{
		Var		   *column = lfirst_node(Var, lc2);
		Dependence *dependence = palloc(sizeof(Dependence));
		Param	   *param = makeNode(Param);

		param->paramkind = PARAM_EXEC;
		param->paramid = lfirst_int(lc);
		param->paramtype = column->vartype;
		param->paramtypmod = column->vartypmod;
		param->paramcollid = column->varcollid;
		param->location = -1;
		dependence->outer = (Node *) param;
		dependence->column = (Node *) column;
		dependence->equality = (OpExpr *)
			make_opclause(lookup_type_cache(column->vartype, TYPECACHE_EQ_OPR)->eq_opr, BOOLOID, false,
						  (Expr *) column, (Expr *) param, InvalidOid, column->varcollid);
		set_opfuncid(dependence->equality);
		dependences = lappend(dependences, dependence);
	}
	return dependences;
}

/* Whether one of the clauses compares an expression of the Params with one of columns so that the engine searches. */
static bool
has_range(List *clauses, List *params, List *values)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		OpExpr	   *clause = lfirst(lc);

		for (int i = 0; IsA(clause, OpExpr) && list_length(clause->args) == 2 && i < 2; i++)
		{
			Node	   *column = list_nth(clause->args, 1 - i);

			if (decorrelation_is_outer(list_nth(clause->args, i), params) && !rel_pipeline_has_param(column, params) &&
				!rel_pipeline_needs_no_input(column) &&
				stage_scan_is_searched(with_values(clause, params, values)))
				return true;
		}
	}
	return false;
}

/*
 * Joins the stage with the Params' values, by what it depends on so far; the other clauses see the pairs.  Where each
 * pair would be looked at, PostgreSQL's executions are better, which skip what zone maps exclude.
 */
static bool
join_values(Decorrelated *result, List *others, List *params, ParamValues *values)
{
	Pipeline	joined = {.top = result->stage};
	PipelineStage *join;
	List	   *clauses = list_copy(others);
	List	   *keys = NIL;
	ListCell   *lc;

	if (values == NULL || values->join != NULL)
		return false;
	values->has_range = has_range(others, params, values->columns);
	if (result->dependences == NIL && !values->has_range)
		return false;
	foreach(lc, result->dependences)
	{
		OpExpr	   *key = ((Dependence *) lfirst(lc))->equality;

		clauses = lappend(clauses, key);
		keys = lappend(keys, with_values(key, params, values->columns));
	}
	if (!reject_null_params(clauses, params))
		return false;
	join = pipeline_add_stage(&joined, PIPELINE_JOIN, with_values(others, params, values->columns));
	join->inputs = list_make2(result->stage, values->stage);
	join->join_kind = PENUMBRA_JOIN_INNER;
	join->join_keys = keys;
	values->join = join;
	result->stage = join;
	result->dependences = dependences_of_values(params, values);
	result->values = values->columns;
	return true;
}

static bool
decorrelate_filter(Decorrelated *result, PipelineStage *stage, List *params, ParamValues *values)
{
	List	   *kept = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	if (result->is_single_group)
		result->having = list_concat_copy(result->having, stage->exprs);
	foreach(lc, stage->exprs)
	{
		Dependence *dependence = rel_pipeline_has_param(lfirst(lc), params)
			? decorrelation_of_clause(lfirst(lc), params) : NULL;
		Dependence *other;
		Node	   *clause = lfirst(lc);

		if (rel_pipeline_has_param(clause, params))
		{
			/* Above an aggregation that has a row in any case the filter is a HAVING. */
			if (result->is_single_group)
				return false;
			if (result->values != NIL)
			{
				kept = lappend(kept, with_values(clause, params, result->values));
				continue;
			}
			if (dependence == NULL)
			{
				others = lappend(others, clause);
				continue;
			}
			other = find_dependence(result->dependences, dependence);
			if (other == NULL)
			{
				result->dependences = lappend(result->dependences, dependence);
				continue;
			}
			clause = equality_of(other, dependence);
			if (clause == NULL)
				return false;
		}
		kept = lappend(kept, clause);
	}
	if (kept == NIL)
		result->stage = linitial(stage->inputs);
	else
		stage->exprs = kept;
	if (others == NIL)
		return true;
	if (values != NULL)
		values->rows = stage->rows;
	return join_values(result, others, params, values);
}

/* The lists with the columns at their ends that are not in the first. */
static void
append_columns(List *dependences, List **exprs, List **names)
{
	ListCell   *lc;

	foreach(lc, dependences)
	{
		Node	   *column = ((Dependence *) lfirst(lc))->column;

		if (names == NULL || *names == NIL)
			*exprs = list_append_unique(list_copy(*exprs), column);
		else
		{
			*exprs = lappend(list_copy(*exprs), column);
			*names = lappend(list_copy(*names), column);
		}
	}
}

static bool
decorrelate_join(Decorrelated *result, PipelineStage *stage, List *params, ParamValues *values)
{
	Decorrelated build = decorrelation_of_stage(lsecond(stage->inputs), params, values);
	ListCell   *lc;

	if (result->values != NIL)
		stage->exprs = with_values(stage->exprs, params, result->values);

	if (build.stage == NULL || build.is_single_group || result->is_single_group ||
		rel_pipeline_has_param(stage->exprs, params) || rel_pipeline_has_param(stage->join_keys, params))
		return false;
	/* The build side's columns come out of an inner join only as they are. */
	if (build.dependences != NIL && stage->join_kind != PENUMBRA_JOIN_INNER)
		return false;
	if (result->dependences != NIL && stage->join_kind != PENUMBRA_JOIN_INNER &&
		stage->join_kind != PENUMBRA_JOIN_LEFT && stage->join_kind != PENUMBRA_JOIN_SEMI &&
		stage->join_kind != PENUMBRA_JOIN_ANTI)
		return false;
	lsecond(stage->inputs) = build.stage;
	if (build.values != NIL)
		result->values = build.values;
	/* What was expected was for one value of the Params. */
	if (result->dependences != NIL)
		stage->probe_rows = 0;
	foreach(lc, build.dependences)
	{
		Dependence *dependence = lfirst(lc);
		Dependence *other = find_dependence(result->dependences, dependence);
		Node	   *key;

		if (other == NULL)
		{
			result->dependences = lappend(result->dependences, dependence);
			continue;
		}
		key = equality_of(other, dependence);
		if (key == NULL)
			return false;
		stage->join_keys = lappend(list_copy(stage->join_keys), key);
	}
	return true;
}

/* The int8 constant, or the value in its place if it is NULL; false: it is none, or negative. */
static bool
find_count(const Node *count, int64 *value)
{
	const Const *constant = (const Const *) count;

	if (count == NULL || (IsA(count, Const) && constant->constisnull))
		return true;
	if (!IsA(count, Const))
		return false;
	*value = DatumGetInt64(constant->constvalue);
	return *value >= 0;
}

/* Whether the projection's output of that name is the input's. */
static bool
passes_on(const PipelineStage *projection, Node *name)
{
	int			place = pipeline_find_expr(projection->names != NIL ? projection->names : projection->exprs, name);

	return place >= 0 && equal(list_nth(projection->exprs, place), name);
}

/* Of a join that takes more than its memory, each of which must fit there; a quarter, since they are uneven. */
#define PARTITIONS (64 / 4)

/*
 * Whether a comparison with the column fails for some pairs only.  What it compares the column with is of the Params'
 * values, and PostgreSQL evaluates that for each of them, as the value by which it searches an index.
 */
static bool
can_pair_fail(const OpExpr *condition, Node *column)
{
	OpExpr	   *of_column = copyObject((OpExpr *) condition);
	ListCell   *lc;

	foreach(lc, of_column->args)
	{
		Node	   *arg = lfirst(lc);

		if (!equal(arg, column))
			lfirst(lc) = makeVar(1, 1, exprType(arg), exprTypmod(arg), exprCollation(arg), 0);
	}
	return expr_can_fail((Node *) of_column);
}

/*
 * The first row for each value of the Params, where the join with them has one more condition than its keys, and the
 * rows' order is that of the value that it compares: at <= $1 ORDER BY at DESC LIMIT 1.  The values look for it among
 * the subquery's rows.  It must not fail for some pairs only, since the engine tests other pairs than PostgreSQL does.
 */
static bool
choose_in_join(const PipelineStage *sort, ParamValues *values)
{
	const PipelineStage *input = linitial(sort->inputs);
	PipelineStage *join = values != NULL ? values->join : NULL;
	OpExpr	   *condition = join != NULL && list_length(join->exprs) == 1 ? linitial(join->exprs) : NULL;
	List	   *keys = condition != NULL ? pipeline_commuted_keys(join->join_keys) : NIL;

	while (input->kind == PIPELINE_PROJECTION && passes_on(input, linitial(sort->exprs)))
		input = linitial(input->inputs);
	if (condition == NULL || !values->has_range || list_length(keys) != list_length(join->join_keys) ||
		input != join || values->memory_share > (keys == NIL ? 1 : PARTITIONS) || list_length(sort->exprs) != 1 ||
		!list_member(condition->args, linitial(sort->exprs)) ||
		can_pair_fail(condition, linitial(sort->exprs)))
		return false;
	join->inputs = list_make2(lsecond(join->inputs), linitial(join->inputs));
	join->join_keys = keys;
	join->join_choice = linitial_int(sort->sort_flags) & PIPELINE_SORT_DESCENDING ? PENUMBRA_JOIN_GREATEST
		: PENUMBRA_JOIN_LEAST;
	return true;
}

/* The first rows for each value of the Params: those whose row_number() over a window of the columns is so small. */
static bool
decorrelate_limit(Decorrelated *result, PipelineStage *stage, List *params, ParamValues *values)
{
	Pipeline	window = {.top = linitial(stage->inputs)};
	int64		offset = 0;
	int64		limit = PG_INT64_MAX;
	List	   *keys = NIL;
	WindowFunc *number;
	List	   *conditions;

	if (result->is_single_group || rel_pipeline_has_param(stage->exprs, params) ||
		!find_count(stage->offset, &offset) || !find_count(stage->limit, &limit))
		return false;
	/* The same rows for all. */
	if (result->dependences == NIL)
		return !limits_is_unknown(stage);
	if (limit == 1 && offset == 0 && choose_in_join(stage, values))
	{
		result->stage = linitial(stage->inputs);
		return true;
	}
	append_columns(result->dependences, &keys, NULL);
	number = pipeline_add_row_number(&window, list_concat_copy(keys, stage->exprs), stage->sort_flags);
	conditions = list_make1(pipeline_compare_int8(number, BTLessEqualStrategyNumber,
												  limit > PG_INT64_MAX - offset ? PG_INT64_MAX : offset + limit));
	if (offset > 0)
		conditions = lappend(conditions, pipeline_compare_int8(number, BTGreaterStrategyNumber, offset));
	result->stage = pipeline_add_stage(&window, PIPELINE_FILTER, conditions);
	return true;
}

/* Whether the stage's rows are the same for all of the Params' values. */
static bool
is_independent(const PipelineStage *stage, List *params)
{
	ListCell   *lc;

	if (stage->source != NULL || stage->sample != NIL || rel_pipeline_has_param(stage->exprs, params) ||
		rel_pipeline_has_param(stage->aggrefs, params) || rel_pipeline_has_param(stage->frames, params) ||
		rel_pipeline_has_param(stage->join_keys, params) || rel_pipeline_has_param(stage->limit, params) ||
		rel_pipeline_has_param(stage->offset, params))
		return false;
	foreach(lc, stage->inputs)
	{
		if (!is_independent(lfirst(lc), params))
			return false;
	}
	return true;
}

Decorrelated
decorrelation_of_stage(PipelineStage *given, List *params, ParamValues *values)
{
	Decorrelated failed = {NULL};
	Decorrelated result = {NULL};
	PipelineStage *stage;
	List	   *keys;

	/* Other readers may have it, too. */
	if ((given->kind == PIPELINE_AGGREGATION || given->kind == PIPELINE_WINDOW) && is_independent(given, params))
	{
		result.stage = given;
		result.is_single_group = given->kind == PIPELINE_AGGREGATION && given->exprs == NIL;
		return result;
	}
	stage = palloc(sizeof(PipelineStage));
	*stage = *given;
	if (stage->inputs != NIL)
	{
		result = decorrelation_of_stage(linitial(given->inputs), params, values);
		if (result.stage == NULL)
			return failed;
		stage->inputs = list_copy(given->inputs);
		linitial(stage->inputs) = result.stage;
	}
	result.stage = stage;
	if (result.values != NIL && stage->kind != PIPELINE_FILTER && stage->kind != PIPELINE_JOIN)
	{
		stage->exprs = with_values(stage->exprs, params, result.values);
		stage->aggrefs = with_values(stage->aggrefs, params, result.values);
	}
	switch (stage->kind)
	{
		case PIPELINE_SCAN:
			/* PostgreSQL's plan may have the parameter anywhere */
			if (stage->source != NULL)
				return failed;
			break;
		case PIPELINE_FILTER:
			if (!decorrelate_filter(&result, stage, params, values))
				return failed;
			break;
		case PIPELINE_PROJECTION:
			if (rel_pipeline_has_param(stage->exprs, params))
				return failed;
			append_columns(result.dependences, &stage->exprs, &stage->names);
			break;
		case PIPELINE_AGGREGATION:
			if (result.is_single_group || stage->grouping_sets != NIL || rel_pipeline_has_param(stage->exprs, params) ||
				rel_pipeline_has_param(stage->aggrefs, params))
				return failed;
			result.is_single_group = stage->exprs == NIL;
			append_columns(result.dependences, &stage->exprs, NULL);
			break;
		case PIPELINE_SORT:
			if (stage->limit == NULL && stage->offset == NULL)
				result.stage = linitial(stage->inputs);
			else if (!decorrelate_limit(&result, stage, params, values))
				return failed;
			break;
		case PIPELINE_WINDOW:
			/* The rows of one of the Params' values are a partition, or several. */
			if (result.is_single_group || rel_pipeline_has_param(stage->exprs, params) ||
				rel_pipeline_has_param(stage->aggrefs, params) || rel_pipeline_has_param(stage->frames, params))
				return failed;
			keys = NIL;
			append_columns(result.dependences, &keys, NULL);
			stage->exprs = list_concat(keys, stage->exprs);
			break;
		case PIPELINE_UNNEST:
			/* The row's columns go on with its elements. */
			if (result.is_single_group || stage->names == NIL || rel_pipeline_has_param(stage->aggrefs, params))
				return failed;
			break;
		case PIPELINE_UNION:
		case PIPELINE_WORKING_TABLE:
		case PIPELINE_RECURSION:
			return failed;
		case PIPELINE_JOIN:
			if (!decorrelate_join(&result, stage, params, values))
				return failed;
			break;
	}
	return result;
}

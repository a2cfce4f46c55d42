/*-------------------------------------------------------------------------
 *
 * decorrelation.c
 *	  Takes the Params out of a subquery's stages.
 *
 * A filter "column = Param" goes, and the column becomes one of the stage's
 * outputs and a key of the aggregations above it.  The caller joins by it;
 * the head of subplans.c says why the answer is the same.
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
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/translate_type.h"

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

	if (!translate_is_equality(clause))
		return NULL;
	if (decorrelation_is_outer(linitial(equality->args), params))
	{
		if (!OidIsValid(get_commutator(equality->opno)))
			return NULL;
		equality = copyObject(equality);
		CommuteOpExpr(equality);
	}
	if (!decorrelation_is_outer(lsecond(equality->args), params) ||
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

static bool
decorrelate_filter(Decorrelated *result, PipelineStage *stage, List *params)
{
	List	   *kept = NIL;
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
			if (dependence == NULL || result->is_single_group)
				return false;
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
	return true;
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
decorrelate_join(Decorrelated *result, PipelineStage *stage, List *params)
{
	Decorrelated build = decorrelation_of_stage(lsecond(stage->inputs), params);
	ListCell   *lc;

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

/* The first rows for each value of the Params: those whose row_number() over a window of the columns is so small. */
static bool
decorrelate_limit(Decorrelated *result, PipelineStage *stage, List *params)
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
		return true;
	append_columns(result->dependences, &keys, NULL);
	number = pipeline_add_row_number(&window, list_concat_copy(keys, stage->exprs), stage->sort_flags);
	conditions = list_make1(pipeline_compare_int8(number, BTLessEqualStrategyNumber,
												  limit > PG_INT64_MAX - offset ? PG_INT64_MAX : offset + limit));
	if (offset > 0)
		conditions = lappend(conditions, pipeline_compare_int8(number, BTGreaterStrategyNumber, offset));
	result->stage = pipeline_add_stage(&window, PIPELINE_FILTER, conditions);
	return true;
}

Decorrelated
decorrelation_of_stage(PipelineStage *given, List *params)
{
	Decorrelated failed = {NULL};
	Decorrelated result = {NULL};
	PipelineStage *stage = palloc(sizeof(PipelineStage));

	*stage = *given;
	if (stage->inputs != NIL)
	{
		result = decorrelation_of_stage(linitial(given->inputs), params);
		if (result.stage == NULL)
			return failed;
		stage->inputs = list_copy(given->inputs);
		linitial(stage->inputs) = result.stage;
	}
	result.stage = stage;
	switch (stage->kind)
	{
		case PIPELINE_SCAN:
			/* PostgreSQL's plan may have the parameter anywhere */
			if (stage->source != NULL)
				return failed;
			break;
		case PIPELINE_FILTER:
			if (!decorrelate_filter(&result, stage, params))
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
			else if (!decorrelate_limit(&result, stage, params))
				return failed;
			break;
		case PIPELINE_WINDOW:
		case PIPELINE_UNION:
		case PIPELINE_UNNEST:
			return failed;
		case PIPELINE_JOIN:
			if (!decorrelate_join(&result, stage, params))
				return failed;
			break;
	}
	return result;
}

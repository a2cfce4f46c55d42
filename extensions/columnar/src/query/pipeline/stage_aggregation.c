/*-------------------------------------------------------------------------
 *
 * stage_aggregation.c
 *	  The stage of an aggregation: GROUP BY, grouping sets, DISTINCT.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"


#include "query/pipeline/comparison_key.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translation.h"

/* The sets of places as sets of bits. */
static uint64 *
key_bits(List *grouping_sets)
{
	uint64	   *bits = palloc0(sizeof(uint64) * list_length(grouping_sets));
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, grouping_sets)
	{
		foreach(lc2, (List *) lfirst(lc))
			bits[foreach_current_index(lc)] |= UINT64CONST(1) << lfirst_int(lc2);
	}
	return bits;
}

/*
 * Of keys that stand for values that are compared by them, a value of the group: the least by its bytes.  PostgreSQL
 * takes whichever row of the group comes first.
 */
static int
add_group_values(Translation *translation, const PipelineStage *stage, PenumbraAggregateCall *calls)
{
	int			count = 0;
	ListCell   *lc;

	foreach(lc, stage->exprs)
	{
		PenumbraExpr value;

		if (!comparison_key_is_other(lfirst(lc)))
			continue;
		value = translate_expr(translation, lfirst(lc));
		calls[count++] = (PenumbraAggregateCall) {.function = PENUMBRA_AGG_MIN,.arguments = {value},.argument_count = 1,
			.filter = -1,.result = penumbra_plan_expr_type(translation->plan, value)
		};
	}
	return count;
}

/* Where a grouping set has not the key, that is NULL, and so is the value. */
static PenumbraExpr
group_value_of(Translation *translation, PenumbraExpr key, int place)
{
	PenumbraExpr value = penumbra_plan_column(translation->plan, translation->current, place);
	PenumbraExpr branch[] = {translate_call(translation, PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &key, 1), value};

	return translate_call(translation, PENUMBRA_FN_CASE, penumbra_plan_expr_type(translation->plan, value), branch, 2);
}

/* A projection of what the operator gives, with the values of such aggregates and of such keys. */
static bool
add_values(Translation *translation, PipelineStage *stage, const bool *is_other_form)
{
	int			before = list_length(stage->exprs) + list_length(stage->names);
	int			count = before + list_length(stage->aggrefs);
	int			group_value = count;
	PenumbraExpr *values = palloc(sizeof(PenumbraExpr) * count);

	for (int i = 0; i < before; i++)
	{
		bool		is_value = i < list_length(stage->exprs) && comparison_key_is_other(list_nth(stage->exprs, i));

		values[i] = penumbra_plan_column(translation->plan, translation->current, i);
		if (is_value && stage->grouping_sets != NIL)
			values[i] = group_value_of(translation, values[i], group_value++);
		else if (is_value)
			values[i] = penumbra_plan_column(translation->plan, translation->current, group_value++);
		if (values[i] < 0)
			return false;
	}
	return translate_aggregate_values(translation, stage->aggrefs, is_other_form, values, before);
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	int			key_count = list_length(stage->exprs);
	int			call_count = list_length(stage->aggrefs);
	PenumbraExpr *keys = palloc(sizeof(PenumbraExpr) * Max(key_count, 1));
	PenumbraAggregateCall *calls = palloc0(sizeof(PenumbraAggregateCall) * Max(call_count + key_count, 1));
	bool	   *is_other_form = palloc0(sizeof(bool) * Max(call_count, 1));
	bool		has_other_form = false;
	int			group_values;
	ListCell   *lc;

	/* Without rows nothing is evaluated.  A refusal ends the translation, so nobody reads the depth then. */
	translation->conditional_depth++;
	if (!comparison_keys_of_groups(translation, stage->exprs, keys))
		return false;
	foreach(lc, stage->aggrefs)
	{
		int			i = foreach_current_index(lc);

		if (!translate_aggregate(translation, lfirst(lc), &calls[i], &is_other_form[i]))
			return false;
		has_other_form |= is_other_form[i];
	}
	group_values = add_group_values(translation, stage, calls + call_count);
	translation->conditional_depth--;
	if (!translation_keep_operator(translation, stage->grouping_sets == NIL
									 ? penumbra_plan_add_aggregation(translation->plan, translation->current,
																	 keys, key_count, calls, call_count + group_values)
									 : penumbra_plan_add_grouping_sets(translation->plan, translation->current,
																	   keys, key_count,
																	   key_bits(stage->grouping_sets),
																	   list_length(stage->grouping_sets),
																	   calls, call_count + group_values)))
		return false;
	return (!has_other_form && group_values == 0) || add_values(translation, stage, is_other_form);
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	return list_concat(list_concat_copy(stage->exprs, stage->names), stage->aggrefs);
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return stage->exprs == NIL ? "Vector Aggregate" : "Vector Hash Aggregate";
}

/* As PostgreSQL shows them: a line for each grouping set. */
static void
explain_group_keys(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (stage->grouping_sets == NIL)
		deparser_explain_list("Vector Group Key", stage->exprs, deparser, es);
	foreach(lc, stage->grouping_sets)
	{
		List	   *keys = NIL;

		foreach(lc2, (List *) lfirst(lc))
			keys = lappend(keys, list_nth(stage->exprs, lfirst_int(lc2)));
		if (keys == NIL)
			ExplainPropertyText("Vector Group Key", "()", es);
		else
			deparser_explain_list("Vector Group Key", keys, deparser, es);
	}
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	explain_group_keys(stage, deparser, es);
	deparser_explain_list("Vector Aggregates", stage->aggrefs, deparser, es);
}

const StageKind stage_aggregation = {
	.is_breaker = true,
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

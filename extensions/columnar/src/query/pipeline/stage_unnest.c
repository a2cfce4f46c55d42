/*-------------------------------------------------------------------------
 *
 * stage_unnest.c
 *	  The stage of unnesting: set-returning functions of which the scan below
 *	  outputs lists.  Without names for elements its expression is a number, and
 *	  says how often each row comes out.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"

static bool
has_ordinality(const PipelineStage *stage)
{
	return list_length(stage->names) > list_length(stage->exprs);
}

static bool
repeats_rows(const PipelineStage *stage)
{
	return stage->names == NIL;
}

static bool
add_repetition(Translation *translation, const PipelineStage *stage, const StageInput *input)
{
	PenumbraUnnest unnest = {.times = pipeline_find_expr(input->outputs, linitial(stage->exprs))};

	return translation_keep_operator(translation,
									 penumbra_plan_add_unnest(translation->plan, input->operator, &unnest));
}

static bool
is_aggregated(const PipelineStage *stage)
{
	return stage->aggrefs != NIL;
}

/* Of a value that is no aggregate, the only element's. */
static bool
translate_only_value(Translation *translation, Node *value, PenumbraAggregateCall *call)
{
	call->filter = -1;
	call->arguments[0] = translate_expr(translation, value);
	call->argument_count = 1;
	if (call->arguments[0] < 0)
		return false;
	call->result = penumbra_plan_expr_type(translation->plan, call->arguments[0]);
	call->function = call->result == PENUMBRA_BOOL ? PENUMBRA_AGG_BOOL_AND : PENUMBRA_AGG_MIN;
	return true;
}

static bool
translate_call_of_elements(Translation *translation, Node *node, PenumbraAggregateCall *call, bool *is_other_form)
{
	if (IsA(node, Aggref))
		return translate_aggregate(translation, (Aggref *) node, call, is_other_form);
	if (IsA(node, SubscriptingRef) && IsA(((SubscriptingRef *) node)->refexpr, Aggref))
		return translate_first_value(translation, (Aggref *) ((SubscriptingRef *) node)->refexpr, call);
	return translate_only_value(translation, node, call);
}

/* Makes the values of aggregates that the engine computes in another form. */
static bool
add_values(Translation *translation, const PipelineStage *stage, int before, const bool *is_other_form)
{
	PenumbraExpr *values = palloc(sizeof(PenumbraExpr) * (before + list_length(stage->aggrefs)));

	for (int i = 0; i < before; i++)
		values[i] = penumbra_plan_column(translation->plan, translation->current, i);
	return translate_aggregate_values(translation, stage->aggrefs, is_other_form, values, before);
}

/* The rows of the input with the aggregates of their elements. */
static bool
add_aggregates(Translation *translation, PipelineStage *stage, const StageInput *input)
{
	int			count = list_length(stage->aggrefs);
	PenumbraAggregateCall *calls = palloc0(sizeof(PenumbraAggregateCall) * count);
	bool	   *is_other_form = palloc0(sizeof(bool) * count);
	bool		has_other_form = false;
	int			single = stage->join_kind == PENUMBRA_JOIN_SINGLE ? count - 1 : -1;
	ListCell   *lc;

	translation->inputs = list_concat_copy(input->outputs, stage->names);
	translation->conditional_depth++;
	foreach(lc, stage->aggrefs)
	{
		int			i = foreach_current_index(lc);

		if (!translate_call_of_elements(translation, lfirst(lc), &calls[i], &is_other_form[i]))
			return false;
		has_other_form |= is_other_form[i];
	}
	translation->conditional_depth--;
	for (int i = 0; i < single; i++)
		calls[i].filter = calls[single].filter;
	if (!penumbra_plan_aggregate_lists(translation->plan, translation->current, calls, count, single))
		return translation_refuse(translation, penumbra_plan_reason(translation->plan)) >= 0;
	return !has_other_form || add_values(translation, stage, list_length(input->outputs), is_other_form);
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	int			count = list_length(stage->exprs);
	PenumbraUnnestList *lists = palloc0(sizeof(PenumbraUnnestList) * count);
	PenumbraUnnest unnest = {
		.lists = lists,
		.list_count = count,
		.keeps_empty = stage->join_kind == PENUMBRA_JOIN_LEFT,
		.has_ordinality = has_ordinality(stage),
	};

	if (repeats_rows(stage))
		return add_repetition(translation, stage, &inputs[0]);
	for (int i = 0; i < count; i++)
	{
		lists[i].column = pipeline_find_expr(inputs[0].outputs, list_nth(stage->exprs, i));
		lists[i].may_be_refused = stage->may_refuse_lists;
		if (lists[i].column < 0)
			return translation_refuse(translation, "lists that are not computed") >= 0;
		if (!translate_type_of(translation, list_nth(stage->names, i), &lists[i].element))
			return false;
	}
	return translation_keep_operator(translation, penumbra_plan_add_unnest(translation->plan, inputs[0].operator,
																		   &unnest)) &&
		(!is_aggregated(stage) || add_aggregates(translation, stage, &inputs[0]));
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	return list_concat_copy(inputs[0].outputs, is_aggregated(stage) ? stage->aggrefs : stage->names);
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	if (repeats_rows(stage))
		return "Vector Repeat";
	if (is_aggregated(stage))
		return "Vector List Aggregate";
	return stage->join_kind == PENUMBRA_JOIN_LEFT ? "Vector Left Unnest" : "Vector Unnest";
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	deparser_explain_list(repeats_rows(stage) ? "Times" : "Unnested", stage->exprs, deparser, es);
	if (es->verbose || has_ordinality(stage))
		deparser_explain_list("Elements", stage->names, deparser, es);
	if (is_aggregated(stage))
		deparser_explain_list("Vector Aggregates", stage->aggrefs, deparser, es);
}

const StageKind stage_unnest = {
	.combines_inputs = true,
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

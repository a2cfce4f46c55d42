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
																		   &unnest));
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	return list_concat_copy(inputs[0].outputs, stage->names);
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	if (repeats_rows(stage))
		return "Vector Repeat";
	return stage->join_kind == PENUMBRA_JOIN_LEFT ? "Vector Left Unnest" : "Vector Unnest";
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	deparser_explain_list(repeats_rows(stage) ? "Times" : "Unnested", stage->exprs, deparser, es);
	if (es->verbose || has_ordinality(stage))
		deparser_explain_list("Elements", stage->names, deparser, es);
}

const StageKind stage_unnest = {
	.combines_inputs = true,
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

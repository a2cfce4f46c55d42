/*-------------------------------------------------------------------------
 *
 * stage_projection.c
 *	  The stage of a projection.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translation.h"

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	int			count = list_length(stage->exprs);
	PenumbraExpr *exprs = palloc(sizeof(PenumbraExpr) * Max(count, 1));

	if (!translate_args(translation, stage->exprs, exprs))
		return false;
	return translation_keep_operator(translation, penumbra_plan_add_projection(translation->plan,
																			   translation->current, exprs, count));
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	return stage->names != NIL ? stage->names : stage->exprs;
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return "Vector Projection";
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	if (es->verbose)
		deparser_explain_list("Vector Output", stage->exprs, deparser, es);
}

const StageKind stage_projection = {
	.stands_with_input = true,
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

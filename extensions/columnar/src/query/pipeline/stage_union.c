/*-------------------------------------------------------------------------
 *
 * stage_union.c
 *	  The stage of UNION ALL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translation.h"

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	int			count = list_length(stage->inputs);
	PenumbraOperator *operators = palloc(sizeof(PenumbraOperator) * count);

	for (int i = 0; i < count; i++)
		operators[i] = inputs[i].operator;
	return translation_keep_operator(translation, penumbra_plan_add_union(translation->plan, operators, count));
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return "Vector Union";
}

const StageKind stage_union = {
	.add_to_plan = add_to_plan,
	.title = title,
};

/*-------------------------------------------------------------------------
 *
 * stages.c
 *	  The table of kinds of stages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translation.h"

/* Each stage of a query is translated with all that are below it, so these have to be few. */
#define STAGES_DEPTH_MAX 200

static const StageKind *const kinds[] = {
	[PIPELINE_SCAN] = &stage_scan,
	[PIPELINE_FILTER] = &stage_filter,
	[PIPELINE_PROJECTION] = &stage_projection,
	[PIPELINE_AGGREGATION] = &stage_aggregation,
	[PIPELINE_SORT] = &stage_sort,
	[PIPELINE_WINDOW] = &stage_window,
	[PIPELINE_UNION] = &stage_union,
	[PIPELINE_UNNEST] = &stage_unnest,
	[PIPELINE_JOIN] = &stage_join,
};

const StageKind *
stage_kind_of(const PipelineStage *stage)
{
	return kinds[stage->kind];
}

List *
stage_outputs(const PipelineStage *stage)
{
	const StageKind *kind = stage_kind_of(stage);
	StageInput	inputs[2] = {0};
	ListCell   *lc;

	if (kind->outputs == NULL)
		return stage_outputs(linitial(stage->inputs));
	foreach(lc, kind->combines_inputs ? stage->inputs : NIL)
		inputs[foreach_current_index(lc)].outputs = stage_outputs(lfirst(lc));
	return kind->outputs(stage, inputs);
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, int depth)
{
	const StageKind *kind = stage_kind_of(stage);
	StageInput *inputs = palloc0(sizeof(StageInput) * Max(list_length(stage->inputs), 1));
	ListCell   *lc;

	CHECK_FOR_INTERRUPTS();
	if (depth >= STAGES_DEPTH_MAX)
		return translation_refuse(translation, "more than 200 stages above each other") >= 0;
	foreach(lc, stage->inputs)
	{
		if (!add_to_plan(translation, lfirst(lc), depth + 1))
			return false;
		inputs[foreach_current_index(lc)] = (StageInput) {translation->current, translation->inputs};
	}
	/* A join has moved on to its second input by now: it takes both from `inputs`. */
	if (!kind->add_to_plan(translation, stage, inputs))
		return false;
	stage->operator = translation->current;
	translation->inputs = kind->outputs == NULL ? inputs[0].outputs : kind->outputs(stage, inputs);
	return true;
}

bool
stages_add_to_plan(Translation *translation, const Pipeline *pipeline)
{
	return add_to_plan(translation, pipeline->top, 0) && translation_finish(translation);
}

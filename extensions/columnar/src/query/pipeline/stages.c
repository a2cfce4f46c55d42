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
#include "query/pipeline/translate_expr.h"
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
	[PIPELINE_WORKING_TABLE] = &stage_working_table,
	[PIPELINE_RECURSION] = &stage_recursion,
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

/* A stage that is in the plan and can be shared. */
typedef struct AddedStage
{
	const PipelineStage *stage;
	StageInput	as_input;
} AddedStage;

static const AddedStage *
find_added(const Translation *translation, const PipelineStage *stage)
{
	ListCell   *lc;

	foreach(lc, translation->added_stages)
	{
		const AddedStage *added = lfirst(lc);

		if (added->stage == stage)
			return added;
	}
	return NULL;
}

static void
keep_added(Translation *translation, const PipelineStage *stage)
{
	AddedStage *added = palloc(sizeof(AddedStage));

	added->stage = stage;
	added->as_input = (StageInput) {translation->current, translation->inputs};
	translation->added_stages = lappend(translation->added_stages, added);
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, int depth)
{
	const StageKind *kind = stage_kind_of(stage);
	StageInput *inputs;
	const AddedStage *added = find_added(translation, stage);
	ListCell   *lc;

	CHECK_FOR_INTERRUPTS();
	if (added != NULL)
	{
		translation->current = added->as_input.operator;
		translation->inputs = added->as_input.outputs;
		return true;
	}
	inputs = palloc0(sizeof(StageInput) * Max(list_length(stage->inputs), 1));
	if (depth >= STAGES_DEPTH_MAX)
		return translation_refuse(translation, "more than 200 stages above each other") >= 0;
	foreach(lc, stage->inputs)
	{
		if (!add_to_plan(translation, lfirst(lc), depth + 1))
			return false;
		inputs[foreach_current_index(lc)] = (StageInput) {translation->current, translation->inputs};
	}
	stage->before = translation->last;
	/* A join has moved on to its second input by now: it takes both from `inputs`. */
	if (!kind->add_to_plan(translation, stage, inputs))
		return false;
	stage->operator = translation->current;
	translation->inputs = kind->outputs == NULL ? inputs[0].outputs : kind->outputs(stage, inputs);
	if (pipeline_can_share(stage))
		keep_added(translation, stage);
	return true;
}

bool
stages_add_to_plan(Translation *translation, const Pipeline *pipeline)
{
	return add_to_plan(translation, pipeline->top, 0) && translation_finish(translation);
}

bool
stages_expr_can_fail(PipelineStage *stage, Node *expr)
{
	Translation *translation = translation_begin(NULL, NULL);
	PenumbraExpr translated = add_to_plan(translation, stage, 0) ? translate_expr(translation, expr) : -1;
	bool		can_fail = translated < 0 || penumbra_plan_expr_can_fail(translation->plan, translated);

	translation_end(translation);
	return can_fail;
}

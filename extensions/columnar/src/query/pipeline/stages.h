/*-------------------------------------------------------------------------
 *
 * stages.h
 *	  The table of kinds of stages, and what is asked of a stage.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGES_H
#define PENUMBRA_STAGES_H

#include "postgres.h"

#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translation.h"

/* What is done with stages of its kind. */
extern const StageKind *stage_kind_of(const PipelineStage *stage);

/* The expressions that the stage outputs. */
extern List *stage_outputs(const PipelineStage *stage);

/* Adds all stages and finishes the plan.  False: refused, see translation->reason. */
extern bool stages_add_to_plan(Translation *translation, const Pipeline *pipeline);

/* Whether the expression of the stage's outputs can end an execution with an error, or is none of the engine's. */
extern bool stages_expr_can_fail(PipelineStage *stage, Node *expr);

#endif							/* PENUMBRA_STAGES_H */

/*-------------------------------------------------------------------------
 *
 * stage_kind.h
 *	  What a pipeline's reader has to know of a kind of stage: a row of the
 *	  table in stages.c, in a file per kind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGE_KIND_H
#define PENUMBRA_STAGE_KIND_H

#include "postgres.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/translation.h"

/* An input of a stage, in the engine's plan. */
typedef struct StageInput
{
	PenumbraOperator operator;
	List	   *outputs;
} StageInput;

typedef struct StageKind
{
	/* No row leaves it before the last came in. */
	bool		is_breaker;
	/* EXPLAIN shows it with its input. */
	bool		stands_with_input;
	/* `outputs` looks at what the inputs output. */
	bool		combines_inputs;
	/* The expressions that it outputs; NULL: those of its first input. */
	List	   *(*outputs) (const PipelineStage *stage, const StageInput *inputs);
	/* Adds it over its inputs, of which the last is the current one; false: refused. */
	bool		(*add_to_plan) (Translation *translation, PipelineStage *stage, const StageInput *inputs);
	char	   *(*title) (const PipelineStage *stage, const Deparser *deparser);
	/* NULL: there is nothing to say. */
	void		(*explain) (const PipelineStage *stage, const Deparser *deparser, ExplainState *es);
} StageKind;

extern const StageKind stage_scan;
extern const StageKind stage_filter;
extern const StageKind stage_projection;
extern const StageKind stage_aggregation;
extern const StageKind stage_sort;
extern const StageKind stage_window;
extern const StageKind stage_union;
extern const StageKind stage_unnest;
extern const StageKind stage_join;
extern const StageKind stage_working_table;
extern const StageKind stage_recursion;

#endif							/* PENUMBRA_STAGE_KIND_H */

/*-------------------------------------------------------------------------
 *
 * stage_recursion.c
 *	  The stages of WITH RECURSIVE: the recursion, and the working table that its
 *	  recursive term begins with.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "query/pipeline/comparison_key.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"
#include "query/planning/relation_numbers.h"

static bool
add_working_table(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	int			count = list_length(stage->exprs);
	PenumbraType *types = palloc(sizeof(PenumbraType) * count);
	ListCell   *lc;

	foreach(lc, stage->exprs)
	{
		if (!translate_type(lfirst_node(Var, lc)->vartype, &types[foreach_current_index(lc)]))
			return translation_refuse(translation, "recursion over columns of a type of its own") >= 0;
	}
	return translation_keep_operator(translation, penumbra_plan_add_working_table(translation->plan, types, count));
}

static List *
outputs_of_working_table(const PipelineStage *stage, const StageInput *inputs)
{
	return stage->exprs;
}

static char *
title_of_working_table(const PipelineStage *stage, const Deparser *deparser)
{
	return psprintf("Vector Working Table of %s",
					relation_number_alias(deparser->names, linitial_node(Var, stage->exprs)->varno));
}

/* Whether rows are equal where the engine's values of all columns are. */
static bool
check_equalities(Translation *translation, List *columns)
{
	PenumbraExpr *keys = palloc(sizeof(PenumbraExpr) * list_length(columns));
	ListCell   *lc;

	foreach(lc, columns)
	{
		if (comparison_key_is_other(lfirst(lc)))
			return translation_refuse(translation, "UNION of a recursion by a comparison of its own") >= 0;
		if (!translate_check_equality(translation, exprCollation(lfirst(lc))))
			return false;
	}
	return comparison_keys(translation, columns, keys);
}

static bool
add_recursion(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	if (stage->is_distinct && !check_equalities(translation, inputs[1].outputs))
		return false;
	return translation_keep_operator(translation, penumbra_plan_add_recursion(translation->plan, inputs[0].operator,
																			  inputs[1].operator, stage->is_distinct,
																			  stage->gives_late));
}

static char *
title_of_recursion(const PipelineStage *stage, const Deparser *deparser)
{
	return stage->is_distinct ? "Vector Recursive Union" : "Vector Recursive Union All";
}

const StageKind stage_working_table = {
	.outputs = outputs_of_working_table,
	.add_to_plan = add_working_table,
	.title = title_of_working_table,
};

const StageKind stage_recursion = {
	.is_breaker = true,
	.add_to_plan = add_recursion,
	.title = title_of_recursion,
};

/*-------------------------------------------------------------------------
 *
 * stage_filter.c
 *	  The stage of a filter: WHERE, HAVING.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_filter.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/stage_sort.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_made.h"
#include "query/pipeline/translate_node.h"
#include "query/pipeline/translation.h"

bool
stage_filter_add_conjuncts(Translation *translation, const PenumbraExpr *conjuncts, int count)
{
	return translation_keep_operator(translation, penumbra_plan_add_filter(translation->plan,
															   translation->current,
															   conjuncts, count));
}

static bool
is_aggregated(const PipelineStage *stage)
{
	if (stage->kind == PIPELINE_AGGREGATION)
		return true;
	return stage->kind == PIPELINE_PROJECTION && is_aggregated(linitial(stage->inputs));
}

/* A comparison of rows or arrays brings those of its columns that zone maps and codes can decide. */
static List *
with_bounds(List *exprs)
{
	List	   *all = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Node	   *bound = translate_row_compare_bound(lfirst(lc));

		if (bound != NULL)
			all = lappend(all, bound);
		all = lappend(list_concat(all, translate_made_bounds(lfirst(lc))), lfirst(lc));
	}
	return all;
}

/* A condition of groups is evaluated once for each anyhow, and if it is refused the aggregation is as well. */
static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	List	   *exprs = with_bounds(stage->exprs);
	int			count = list_length(exprs);
	PenumbraExpr *conjuncts = palloc(sizeof(PenumbraExpr) * count);
	bool		is_taken;
	int64		ignored;

	/* a negative count is an error, rows or not */
	if (!stage_sort_row_count(translation, stage->limit, 0, &ignored) ||
		!stage_sort_row_count(translation, stage->offset, 0, &ignored))
		return false;
	translation->takes_any_calls = stage->takes_any_calls || is_aggregated(linitial(stage->inputs));
	is_taken = translate_args(translation, list_copy_head(exprs, 1), conjuncts);
	/* a row that does not pass one condition does not ask for the next */
	translation->branch_depth++;
	is_taken = is_taken && translate_args(translation, list_copy_tail(exprs, 1), conjuncts + 1);
	translation->branch_depth--;
	translation->takes_any_calls = false;
	return is_taken && stage_filter_add_conjuncts(translation, conjuncts, count);
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return "Vector Filter";
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	deparser_explain_conditions(is_aggregated(linitial(stage->inputs)) ? "Vector Having" : "Vector Filter", stage->exprs, deparser,
					   es);
}

const StageKind stage_filter = {
	.stands_with_input = true,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

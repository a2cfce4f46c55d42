/*-------------------------------------------------------------------------
 *
 * stage_join.c
 *	  The stage of a join.  Its inputs are the side that probes and the side that
 *	  its table is built of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"

#include "query/pipeline/comparison_key.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_node.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"

/* The sides of a join's equality as one engine type; false: refused. */
static bool
match_types(Translation *translation, PenumbraJoinKey *key)
{
	PenumbraType probe = penumbra_plan_expr_type(translation->plan, key->probe);
	PenumbraType build = penumbra_plan_expr_type(translation->plan, key->build);
	PenumbraType wide;

	if (probe == build)
		return true;
	if (!translate_join_type(probe, build, &wide))
	{
		translation->reason = "join of different types";
		return false;
	}
	if (probe != wide)
		key->probe = translate_call(translation, PENUMBRA_FN_CAST, wide, &key->probe, 1);
	if (build != wide)
		key->build = translate_call(translation, PENUMBRA_FN_CAST, wide, &key->build, 1);
	return key->probe >= 0 && key->build >= 0;
}

/* Without keys the engine searches pairs by comparisons: what a condition has of them comes before it. */
static List *
with_bounds(const PipelineStage *stage)
{
	List	   *all = NIL;
	ListCell   *lc;

	if (stage->join_keys != NIL || stage->join_choice != PENUMBRA_JOIN_ALL)
		return stage->exprs;
	foreach(lc, stage->exprs)
		all = lappend(list_concat(all, translate_bounds_of(lfirst(lc))), lfirst(lc));
	return all;
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	List	   *exprs = with_bounds(stage);
	int			condition_count = list_length(exprs);
	PenumbraJoinKey *keys = palloc0(sizeof(PenumbraJoinKey) * Max(list_length(stage->join_keys), 1));
	PenumbraExpr *conditions = palloc(sizeof(PenumbraExpr) * Max(condition_count, 1));
	PenumbraJoin join = {.kind = stage->join_kind,.is_null_aware = stage->is_null_aware,.keys = keys,
		.key_count = list_length(stage->join_keys),.conditions = conditions,
	.condition_count = condition_count,.build_rows_max = (uint64) stage->build_rows_max,.choice = stage->join_choice};
	bool		is_taken;
	ListCell   *lc;

	/* Each side of a key sees its own input only; conditions see both.  Without pairs nothing is evaluated. */
	translation->conditional_depth++;
	foreach(lc, stage->join_keys)
	{
		OpExpr	   *clause = lfirst(lc);
		PenumbraJoinKey *key = &keys[foreach_current_index(lc)];

		key->nulls_are_equal = IsA(clause, DistinctExpr);
		translation->current = inputs[0].operator;
		translation->inputs = inputs[0].outputs;
		key->probe = comparison_key(translation, linitial(clause->args));
		translation->current = inputs[1].operator;
		translation->inputs = inputs[1].outputs;
		key->build = key->probe < 0 ? -1 : comparison_key(translation, lsecond(clause->args));
		if (key->build < 0 || !translate_have_collation(translation, clause->inputcollid, clause->args) ||
			!translate_check_equality(translation, clause->inputcollid) ||
			!match_types(translation, key))
			return false;
	}
	translation->current = inputs[0].operator;
	translation->build = inputs[1].operator;
	translation->inputs = list_concat_copy(inputs[0].outputs, inputs[1].outputs);
	is_taken = translate_args(translation, exprs, conditions);
	translation->build = -1;
	translation->conditional_depth--;
	return is_taken &&
		translation_keep_operator(translation, penumbra_plan_add_join(translation->plan, inputs[0].operator,
																	  inputs[1].operator, &join));
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	switch (stage->join_kind)
	{
		case PENUMBRA_JOIN_SEMI:
		case PENUMBRA_JOIN_ANTI:
			return inputs[0].outputs;
		case PENUMBRA_JOIN_RIGHT_SEMI:
		case PENUMBRA_JOIN_RIGHT_ANTI:
			return inputs[1].outputs;
		case PENUMBRA_JOIN_MARK:
			return list_concat_copy(inputs[0].outputs, stage->names);
		default:
			return list_concat_copy(inputs[0].outputs, inputs[1].outputs);
	}
}

static const char *
join_name(PenumbraJoinKind kind)
{
	switch (kind)
	{
		case PENUMBRA_JOIN_INNER:
			return "Inner";
		case PENUMBRA_JOIN_LEFT:
			return "Left";
		case PENUMBRA_JOIN_SEMI:
			return "Semi";
		case PENUMBRA_JOIN_ANTI:
			return "Anti";
		case PENUMBRA_JOIN_MARK:
			return "Mark";
		case PENUMBRA_JOIN_SINGLE:
			return "Single";
		case PENUMBRA_JOIN_RIGHT:
			return "Right";
		case PENUMBRA_JOIN_FULL:
			return "Full";
		case PENUMBRA_JOIN_RIGHT_SEMI:
			return "Right Semi";
		case PENUMBRA_JOIN_RIGHT_ANTI:
			return "Right Anti";
	}
	return "";
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return psprintf("Vector %s Join", stage->join_choice == PENUMBRA_JOIN_ALL ? join_name(stage->join_kind) : "As-Of");
}

/* The keys as SQL has them. */
static List *
key_clauses(List *keys)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, keys)
		clauses = lappend(clauses, IsA(lfirst(lc), DistinctExpr) ? make_notclause(lfirst(lc)) : lfirst(lc));
	return clauses;
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	deparser_explain_conditions("Vector Join Cond", key_clauses(stage->join_keys), deparser, es);
	deparser_explain_conditions("Vector Join Filter", stage->exprs, deparser, es);
	if (stage->join_choice != PENUMBRA_JOIN_ALL)
		ExplainPropertyText("Vector Join Choice", stage->join_choice == PENUMBRA_JOIN_LEAST ? "least" : "greatest", es);
}

const StageKind stage_join = {
	.combines_inputs = true,
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

/*-------------------------------------------------------------------------
 *
 * stage_sort.c
 *	  The stage of a sort: ORDER BY, also with LIMIT and OFFSET.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/typcache.h"

#include "query/pipeline/comparison_key.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/enum_order.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/stage_sort.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translation.h"

/* LIMIT or OFFSET; null_value is what NULL stands for. */
bool
stage_sort_row_count(Translation *translation, Node *node, int64 null_value, int64 *count)
{
	Datum		value;
	bool		isnull;

	*count = null_value;
	if (node == NULL)
		return true;
	if (IsA(node, Const))
	{
		value = ((Const *) node)->constvalue;
		isnull = ((Const *) node)->constisnull;
	}
	else if (translation_is_runtime(node))
	{
		int			index = translation_runtime_index(translation, node);

		if (translation->runtime_values == NULL)
		{
			*count = 1;
			return true;
		}
		if (translation->runtime_values[index].has_failed)
		{
			translation->reason = "LIMIT or OFFSET that cannot be evaluated";
			return false;
		}
		value = translation->runtime_values[index].value;
		isnull = translation->runtime_values[index].isnull;
	}
	else
	{
		translation->reason = "LIMIT that depends on more than parameters";
		return false;
	}
	if (isnull)
		return true;
	*count = DatumGetInt64(value);
	if (*count >= 0)
		return true;
	translation->reason = "negative LIMIT or OFFSET";
	return false;
}

bool
stage_sort_direction(const SortGroupClause *clause, Node *expr, bool *is_descending)
{
	TypeCacheEntry *type = lookup_type_cache(exprType(expr), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	*is_descending = clause->sortop == type->gt_opr;
	return clause->sortop == type->lt_opr || clause->sortop == type->gt_opr;
}

int
stage_sort_flags(const SortGroupClause *clause, bool is_descending)
{
	return (is_descending ? PIPELINE_SORT_DESCENDING : 0) | (clause->nulls_first ? PIPELINE_SORT_NULLS_FIRST : 0);
}

/* What the engine orders: the values, or what it can order in their place. */
static bool
set_key(Translation *translation, Node *expr, PenumbraSortKey *key)
{
	Node	   *compared = comparison_key_node(expr);
	PenumbraCollation *collation;

	key->expr = -1;
	if (translate_collation(translation, PENUMBRA_FN_LT, exprCollation(expr), &collation) &&
		translate_order_is_known(translation, compared))
	{
		key->collation = collation;
		key->expr = translate_expr(translation, compared);
		if (key->expr < 0)
			return false;
		key->expr = enum_order_key(translation, expr, key->expr);
	}
	if (key->expr < 0)
	{
		key->collation = NULL;
		key->expr = host_call_label(translation, expr);
	}
	return key->expr >= 0;
}

PenumbraSortKey *
stage_sort_keys(Translation *translation, List *exprs, List *sort_flags)
{
	PenumbraSortKey *keys = palloc(sizeof(PenumbraSortKey) * Max(list_length(exprs), 1));
	ListCell   *lc;

	foreach(lc, exprs)
	{
		int			i = foreach_current_index(lc);
		int			flags = list_nth_int(sort_flags, i);

		if (!translate_has_collation(translation, exprCollation(lfirst(lc)), lfirst(lc)) ||
			!set_key(translation, lfirst(lc), &keys[i]))
			return NULL;
		keys[i].descending = (flags & PIPELINE_SORT_DESCENDING) != 0;
		keys[i].nulls_first = (flags & PIPELINE_SORT_NULLS_FIRST) != 0;
		keys[i].orders_peers = (flags & PIPELINE_SORT_OF_PEERS) != 0;
	}
	return keys;
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	PenumbraSortKey *keys = stage_sort_keys(translation, stage->exprs, stage->sort_flags);
	int			count = list_length(stage->exprs);
	int64		limit;
	int64		offset;

	if (keys == NULL)
		return false;
	if (!stage_sort_row_count(translation, stage->limit, -1, &limit) ||
		!stage_sort_row_count(translation, stage->offset, 0, &offset))
		return false;
	return translation_keep_operator(translation, penumbra_plan_add_sort(translation->plan,
															 translation->current, keys, count,
															 limit, offset));
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return stage->limit != NULL ? "Vector Top-N" : "Vector Sort";
}

void
stage_sort_explain_keys(const char *label, List *exprs, List *sort_flags, const Deparser *deparser, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		int			flags = list_nth_int(sort_flags, foreach_current_index(lc));
		bool		is_descending = (flags & PIPELINE_SORT_DESCENDING) != 0;
		bool		nulls_first = (flags & PIPELINE_SORT_NULLS_FIRST) != 0;

		/* NULLs are first by default where the order is descending. */
		texts = lappend(texts, psprintf("%s%s%s", deparser_text(lfirst(lc), deparser),
										is_descending ? " DESC" : "",
										nulls_first == is_descending ? ""
										: nulls_first ? " NULLS FIRST" : " NULLS LAST"));
	}
	ExplainPropertyList(label, texts, es);
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	stage_sort_explain_keys("Vector Sort Key", stage->exprs, stage->sort_flags, deparser, es);
	if (stage->limit != NULL)
		ExplainPropertyText("Vector Limit", deparser_text(stage->limit, deparser), es);
	if (stage->offset != NULL)
		ExplainPropertyText("Vector Offset", deparser_text(stage->offset, deparser), es);
}

const StageKind stage_sort = {
	.is_breaker = true,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};

/*-------------------------------------------------------------------------
 *
 * partition_totals.c
 *	  Windows of aggregates over whole partitions, for which the rows are read
 *	  twice.
 *
 * Such a window has the same value for all rows of a partition, so it is the
 * join of the rows with their own groups.  To keep the rows until their groups
 * are known takes memory for all of them, to read them from the cache again
 * takes none.
 *
 * A row finds its group by an equality, which NULL does not pass.  Of keys that
 * may be NULL, and are no integers of which a larger one stands for it, it is IS
 * NOT DISTINCT FROM, which costs the join its filter and its array.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

#include "query/paths/order_clauses.h"
#include "query/paths/partition_totals.h"
#include "query/paths/row_sample.h"
#include "query/paths/subplans.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/planning/level_columns.h"
#include "query/planning/relation_numbers.h"

/* Whether the frame of each row is its partition: without an order all of its rows are peers. */
static bool
is_whole_partition(const WindowClause *clause)
{
	int			options = clause->frameOptions;

	return clause->orderClause == NIL && !(options & FRAMEOPTION_EXCLUSION) &&
		clause->startOffset == NULL && clause->endOffset == NULL &&
		(!(options & FRAMEOPTION_ROWS) || ((options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) &&
										   (options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING)));
}

/* A scan of cached tables, its conditions, and what is computed of its columns. */
static bool
is_cheap(const PipelineStage *stage)
{
	if (stage->kind == PIPELINE_SCAN)
		return stage->source == NULL;
	return (stage->kind == PIPELINE_FILTER || stage->kind == PIPELINE_PROJECTION) &&
		is_cheap(linitial(stage->inputs));
}

/* No integer of 32 bits. */
#define NULL_KEY (INT64CONST(1) << 40)

/* An integer that is not NULL, and of the key's values equal for equal ones; NULL: of another type. */
static Node *
without_null(Node *key)
{
	Oid			type = exprType(key);

	if (type != INT2OID && type != INT4OID)
		return NULL;
	return pipeline_coalesce((Node *) makeFuncExpr(type == INT2OID ? F_INT8_INT2 : F_INT8_INT4, INT8OID,
												   list_make1(key), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST),
							 pipeline_int8(NULL_KEY));
}

/* The equality of a key and what it is called in the groups, where that may be NULL IS NOT DISTINCT FROM. */
static OpExpr *
equality_of(Node *key, Node *name, bool can_be_null)
{
	OpExpr	   *equality;
	Oid			operator = lookup_type_cache(exprType(key), TYPECACHE_EQ_OPR)->eq_opr;

	equality = (OpExpr *) make_opclause(operator, BOOLOID, false, (Expr *) key, (Expr *) name, InvalidOid,
										exprCollation(key));
	set_opfuncid(equality);
	if (can_be_null)
		NodeSetTag(equality, T_DistinctExpr);
	return equality;
}

static void
name_all(List *exprs, const char *name, List **names)
{
	Index		number = relation_number_add(name, NULL);
	List	   *named = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		(void) relation_number_add_column(number, lfirst(lc), &named, names);
}

bool
partition_totals_add(PlannerInfo *root, RelPipeline *planned, const RelPipeline *rows, const WindowClause *clause,
					 List *functions, bool is_sorted, int width)
{
	RelPipeline totals = *rows;
	RelPipeline joined = *planned;
	RelPipeline windowed = *planned;
	PipelineStage *stage;
	List	   *outputs = stage_outputs(planned->pipeline->top);
	List	   *raw_keys = NIL;
	List	   *keys;
	List	   *join_keys = NIL;
	List	   *names = NIL;
	List	   *equalities = NIL;
	Bitmapset  *with_nulls = NULL;
	ListCell   *lc;
	ListCell   *lc2;

	if (!is_whole_partition(clause) || !is_cheap(rows->pipeline->top) ||
		!order_clauses_keys(clause->partitionClause, root->processed_tlist, &raw_keys))
		return false;
	keys = (List *) rel_pipeline_normalize(root, planned, (Node *) raw_keys);
	totals.pipeline = pipeline_copy(rows->pipeline);
	stage = pipeline_add_stage(totals.pipeline, PIPELINE_AGGREGATION, keys);
	foreach(lc, functions)
	{
		if (!lfirst_node(WindowFunc, lc)->winagg)
			return false;
		stage->aggrefs = lappend(stage->aggrefs, pipeline_aggref_of_window(lfirst(lc)));
		/* The groups' rows have no order. */
		if (aggregate_shows_row_order(llast(stage->aggrefs)))
			return false;
	}
	stage->rows = keys == NIL ? 1 : row_sample_groups(root, raw_keys, rows->rows);
	cost_add_aggregation(&totals, list_length(keys), list_length(functions), stage->rows);
	cost_add_join(&joined, &totals, list_length(keys), list_length(functions), 0, planned->rows, planned->rows,
				  planned->rows);
	if (!is_sorted)
		cost_add_partitions(&windowed, list_length(keys), width);
	cost_add_window(&windowed, list_length(functions));
	if (joined.startup_cost + joined.run_cost >= windowed.startup_cost + windowed.run_cost ||
		!rel_pipeline_repeats(stage))
		return false;
	forboth(lc, raw_keys, lc2, keys)
	{
		Node	   *key = lfirst(lc2);

		if (!level_columns_is_not_null(root, lfirst(lc)))
		{
			Node	   *integer = without_null(key);

			if (integer == NULL)
				with_nulls = bms_add_member(with_nulls, list_length(join_keys));
			else
				key = integer;
		}
		join_keys = lappend(join_keys, key);
	}
	/* One row of a hash table is found faster than one of a loop. */
	if (keys == NIL)
		join_keys = list_make1(pipeline_int4(0));
	name_all(list_concat_copy(join_keys, stage->aggrefs), "totals", &names);
	stage = pipeline_add_stage(totals.pipeline, PIPELINE_PROJECTION, list_concat_copy(join_keys, stage->aggrefs));
	stage->names = names;
	forboth(lc, join_keys, lc2, names)
		equalities = lappend(equalities, equality_of(lfirst(lc), lfirst(lc2),
													 bms_is_member(foreach_current_index(lc), with_nulls)));

	joined.pipeline = pipeline_copy(planned->pipeline);
	stage = pipeline_add_stage(joined.pipeline, PIPELINE_JOIN, NIL);
	stage->inputs = lappend(stage->inputs, totals.pipeline->top);
	stage->join_kind = PENUMBRA_JOIN_INNER;
	stage->join_keys = equalities;
	stage->probe_rows = stage->rows = planned->rows;
	stage->build_rows = totals.rows;
	pipeline_take(joined.pipeline, totals.pipeline);
	stage = pipeline_add_stage(joined.pipeline, PIPELINE_PROJECTION,
							   list_concat_copy(outputs, list_copy_tail(names, list_length(equalities))));
	stage->names = list_concat_copy(outputs, functions);
	joined.before_sort = NULL;
	/* A type may have groups in the engine, but no joins. */
	if (!rel_pipeline_check(joined.pipeline))
		return false;
	*planned = joined;
	return true;
}

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
 * A row finds its group by an equality, which NULL does not pass: the keys are
 * columns that have none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "query/paths/order_clauses.h"
#include "query/paths/partition_totals.h"
#include "query/paths/row_sample.h"
#include "query/paths/subplans.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
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

static bool
is_not_null(PlannerInfo *root, Node *key)
{
	const Var  *var = (const Var *) strip_implicit_coercions(key);

	return IsA(var, Var) && var->varlevelsup == 0 && var->varattno > 0 &&
		root->simple_rte_array[var->varno]->rtekind == RTE_RELATION &&
		compat_column_is_not_null(root->simple_rel_array[var->varno], root->simple_rte_array[var->varno], var->varattno);
}

/* An equality of a key of the rows and what it is called in the groups, for each key; false: not one that finds all. */
static bool
make_keys(PlannerInfo *root, const WindowClause *clause, List *keys, List *names, List **equalities)
{
	ListCell   *lc;
	ListCell   *lc2;
	ListCell   *lc3;

	if (list_length(keys) != list_length(clause->partitionClause))
		return false;
	forthree(lc, clause->partitionClause, lc2, keys, lc3, names)
	{
		Node	   *key = get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), root->processed_tlist);
		OpExpr	   *equality;

		if (!is_not_null(root, key))
			return false;
		equality = (OpExpr *) make_opclause(lfirst_node(SortGroupClause, lc)->eqop, BOOLOID, false, lfirst(lc2),
											lfirst(lc3), InvalidOid, exprCollation(key));
		set_opfuncid(equality);
		*equalities = lappend(*equalities, equality);
	}
	return true;
}

static void
name_all(List *exprs, const char *name, List **names)
{
	Index		number = relation_number_add(name, NULL);
	List	   *named = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		(void) subplans_add_name(number, lfirst(lc), &named, names);
}

bool
partition_totals_add(PlannerInfo *root, RelPipeline *planned, const RelPipeline *rows, const WindowClause *clause,
					 List *functions, int width)
{
	RelPipeline totals = *rows;
	RelPipeline joined = *planned;
	RelPipeline windowed = *planned;
	PipelineStage *stage;
	List	   *outputs = stage_outputs(planned->pipeline->top);
	List	   *raw_keys = NIL;
	List	   *keys;
	List	   *groups;
	List	   *names = NIL;
	List	   *equalities = NIL;
	ListCell   *lc;

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
	}
	stage->rows = keys == NIL ? 1 : row_sample_groups(root, raw_keys, rows->rows);
	cost_add_aggregation(&totals, list_length(keys), list_length(functions), stage->rows);
	cost_add_join(&joined, &totals, list_length(keys), list_length(functions), 0, planned->rows, planned->rows,
				  planned->rows);
	cost_add_partitions(&windowed, list_length(keys), width);
	cost_add_window(&windowed, list_length(functions));
	if (joined.startup_cost + joined.run_cost >= windowed.startup_cost + windowed.run_cost ||
		!rel_pipeline_repeats(stage))
		return false;
	groups = list_concat_copy(keys, stage->aggrefs);
	/* A row of the table is found faster than one of a loop. */
	if (keys == NIL)
		groups = lcons(pipeline_int4(0), groups);
	name_all(groups, "totals", &names);
	if (keys == NIL)
		equalities = pipeline_commuted_keys(list_make1(pipeline_int4_equals(linitial(names), 0)));
	else if (!make_keys(root, clause, keys, names, &equalities))
		return false;
	pipeline_add_stage(totals.pipeline, PIPELINE_PROJECTION, groups)->names = names;

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

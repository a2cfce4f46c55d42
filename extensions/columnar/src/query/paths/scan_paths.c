/*-------------------------------------------------------------------------
 *
 * scan_paths.c
 *	  Penumbra's scans of tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "cache/cache.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/row_order.h"
#include "query/paths/scan_paths.h"
#include "query/paths/tables.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/planning/expression_columns.h"
#include "query/planning/level_columns.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/*
 * About what PostgreSQL takes for a unit of cost.  A query that is planned just
 * after the server's start waits so long for what is on disk: at worst it takes
 * twice as long as it would have.
 */
#define ORDINARY_MS_PER_COST 0.01

/* Smaller tables are not worth a look unless penumbra.mode demands it. */
#define TABLE_PAGES_MIN 8

/*
 * Splits the quals into those of the engine and those that PostgreSQL keeps.
 * A qual of the engine runs before all that are kept, so it must not see
 * rows that a kept qual of a lower security level would hide, unless it is
 * leakproof.  A parallel scan cannot change to the ordinary plan, so it takes
 * only quals that cannot fail and wait for no value.
 */
static void
split_quals(const ServedTable *table, bool is_parallel, List **pushed, List **kept)
{
	Index		kept_level = PG_UINT32_MAX;
	ListCell   *lc;

	foreach(lc, table->quals)
	{
		TableQual  *qual = lfirst(lc);

		if (qual->refusal == NULL && (qual->is_parallel || !is_parallel))
			*pushed = lappend(*pushed, qual->rinfo);
		else
		{
			*kept = lappend(*kept, qual->rinfo);
			kept_level = Min(kept_level, qual->rinfo->security_level);
		}
	}
	foreach(lc, *pushed)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->security_level <= kept_level || rinfo->leakproof)
			continue;
		*kept = lappend(*kept, rinfo);
		*pushed = foreach_delete_current(*pushed, lc);
	}
}

/* Plain columns only: anything else would have to be in custom_scan_tlist too. */
static bool
target_is_columns(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		if (!IsA(lfirst(lc), Var) || ((Var *) lfirst(lc))->varno != rel->relid)
			return false;
	}
	return true;
}

/* The engine's part of a scan, which outputs `outputs`; NULL: refused. */
static Pipeline *
make_scan_pipeline(PlannerInfo *root, ServedTable *table, List *pushed, List *outputs)
{
	Pipeline   *pipeline = rel_pipeline_begin_scan(root, table->rel->relid, table->attnums);
	PipelineStage *scan = pipeline->top;
	const Var  *position = stage_scan_position(relation_number_of(root, table->rel->relid));
	List	   *normalized = NIL;
	ListCell   *lc;

	foreach(lc, outputs)
	{
		const Var  *var = lfirst_node(Var, lc);

		if (list_member_int(table->fetched, var->varattno))
			normalized = rel_pipeline_map_attribute(pipeline, normalized, position, var->varattno);
		else
		{
			pipeline->output_map = lappend_int(pipeline->output_map, list_length(normalized));
			normalized = lappend(normalized, relation_numbers_normalize(root, lfirst(lc)));
		}
	}
	scan->table_oids = list_make1_oid(table->oid);
	scan->table_attnums = list_make1(table->attnums);
	if (pipeline->position_map != NIL)
		(void) stage_scan_add_positions(pipeline, position->varno);
	scan = pipeline->top;
	rel_pipeline_add_filters(root, pipeline, pushed);
	if (!equal(normalized, scan->exprs))
		pipeline_add_stage(pipeline, PIPELINE_PROJECTION, normalized);
	return rel_pipeline_check(pipeline) ? pipeline : NULL;
}

/* The rows that the index of the path finds; 0: it has none. */
static double
rows_of_index(const Path *path, double table_rows)
{
	Selectivity selectivity = 0;
	Cost		cost;

	if (IsA(path, IndexPath))
		selectivity = ((const IndexPath *) path)->indexselectivity;
	else if (IsA(path, BitmapHeapPath))
		cost_bitmap_tree_node(((const BitmapHeapPath *) path)->bitmapqual, &cost, &selectivity);
	return selectivity * table_rows;
}

/* Of a table alone; in joins PostgreSQL's selectivities are corrected (join_estimates.c). */
static bool
has_sampled_rows(PlannerInfo *root, const ServedTable *table)
{
	return table->sampled_share >= 0 && bms_membership(root->all_baserels) == BMS_SINGLETON;
}

/*
 * The rows that a sample has shown are those of PostgreSQL's paths, too: with a guess of a few rows they would
 * seem to be cheaper below a sort.
 */
static void
set_sampled_rows(PlannerInfo *root, const ServedTable *table)
{
	RelOptInfo *rel = table->rel;
	double		rows = clamp_row_est(rel->tuples * table->sampled_share);
	List	   *paths = list_concat_copy(rel->pathlist, rel->partial_pathlist);
	ListCell   *lc;

	if (!has_sampled_rows(root, table))
		return;
	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL)
			path->rows = clamp_row_est(path->rows * rows / rel->rows);
	}
	rel->rows = rows;
}

/*
 * Whether the level is executed for each row of another and joins a function's rows.  PostgreSQL takes a hundred for
 * those of a document, where there are a few, so that looking them up by an index seems to cost more than a scan.
 */
static bool
has_guessed_loops(const PlannerInfo *root)
{
	if (!planning_level_is_repeated(root))
		return false;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (root->simple_rel_array[i] != NULL && root->simple_rte_array[i]->rtekind == RTE_FUNCTION)
			return true;
	}
	return false;
}

/*
 * A scan by one process in place of `replaced`; or, given the path of that, a
 * partial path for workers.  NULL: refused.
 */
static PenumbraPath *
make_scan_path(PlannerInfo *root, ServedTable *table, Path *replaced, const PenumbraPath *serial,
			   int workers)
{
	RelOptInfo *rel = table->rel;
	RelPipeline planned = {.workers = workers};
	List	   *pushed = NIL;
	List	   *kept = NIL;
	List	   *outputs = list_copy(rel->reltarget->exprs);
	List	   *clauses;
	PenumbraPath *path;
	ListCell   *lc;

	split_quals(table, workers > 0, &pushed, &kept);
	clauses = extract_actual_clauses(kept, false);
	if (level_columns_hide(root, clauses))
		return NULL;
	foreach(lc, pull_var_clause((Node *) clauses, PVC_RECURSE_PLACEHOLDERS))
		outputs = list_append_unique(outputs, lfirst(lc));
	/* A partial path keeps at least the quals that the serial one keeps. */
	if (serial != NULL && list_length(serial->kept_quals) == list_length(kept))
		planned.pipeline = serial->pipeline;
	else
		planned.pipeline = make_scan_pipeline(root, table, pushed, outputs);
	if (planned.pipeline == NULL)
		return NULL;
	clauses = extract_actual_clauses(pushed, false);
	cost_add_scan(&planned, list_make1(table), rel_pipeline_count_columns(clauses),
				  list_length(outputs),
				  kept == NIL && has_sampled_rows(root, table) ? rel->rows
				  : clamp_row_est(rel->tuples * clauselist_selectivity(root, pushed, 0, JOIN_INNER, NULL)),
				  rel->tuples);
	path = custom_path_create(root, rel, rel->reltarget, NODE_SCAN, &planned,
							  workers > 0 ? NULL : replaced);
	path->scan_exprs = outputs;
	path->kept_quals = kept;
	path->custom.flags |= CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom.path.rows = clamp_row_est(rel->rows / cost_processes(workers));
	path->custom.path.parallel_aware = workers > 0;
	path->custom.path.parallel_safe = rel->consider_parallel;
	path->custom.path.parallel_workers = workers;
	if (kept != NIL)
	{
		/* A path with an index is charged for all rows that it finds, though cheaper quals drop some before. */
		double		rows = Max(planned.rows, rows_of_index(replaced, rel->tuples) / cost_processes(workers));
		QualCost	cost;

		cost_qual_eval(&cost, kept, root);
		path->custom.path.startup_cost += cost.startup;
		path->custom.path.total_cost += cost.startup + cost.per_tuple * rows;
		path->total_cost = path->custom.path.total_cost;
	}
	if (replaced != NULL && bms_membership(root->all_baserels) == BMS_MULTIPLE && has_guessed_loops(root))
		cost_set_exists(&path->custom.path, replaced, 1);
	else if (replaced != NULL && bms_membership(root->all_baserels) == BMS_MULTIPLE)
		cost_set_join_input(&path->custom.path, rel, replaced);
	else if (replaced != NULL && table->is_rescanned && root->tuple_fraction == 1.0)
		cost_set_exists(&path->custom.path, replaced, rel->rows);
	return path;
}

static void
refuse_quals(const ServedTable *table)
{
	ListCell   *lc;

	foreach(lc, table->quals)
	{
		const char *refusal = ((const TableQual *) lfirst(lc))->refusal;

		if (refusal != NULL)
			planning_refuse(refusal, quote_identifier(get_rel_name(table->oid)));
	}
}

/*
 * A cursor over one table without grouping or ORDER BY is "simply updatable":
 * UPDATE ... WHERE CURRENT OF looks for the table's scan, which knows its row
 * (row_identity.c), below nothing but LIMIT, projections and Append.
 */
bool
scan_paths_is_simply_updatable(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return planning_current()->is_cursor && bms_membership(root->all_baserels) == BMS_SINGLETON &&
		!parse->hasAggs && !parse->hasWindowFuncs && parse->groupClause == NIL && parse->groupingSets == NIL &&
		parse->distinctClause == NIL && parse->sortClause == NIL;
}

static void
add_scan_paths(PlannerInfo *root, ServedTable *table)
{
	RelOptInfo *rel = table->rel;
	Path	   *ordinary = custom_path_cheapest_ordinary(rel, true);
	PenumbraPath *serial;
	PenumbraPath *parallel = NULL;
	int			workers = 0;

	if (ordinary == NULL || !target_is_columns(rel) || level_columns_hide(root, rel->reltarget->exprs))
		return;
	if (row_order_is_shown(root))
	{
		/* Aggregates and windows of the level may be the engine's. */
		if (!root->parse->hasAggs && !root->parse->hasWindowFuncs)
			planning_refuse("order of rows that the query around shows", quote_identifier(get_rel_name(table->oid)));
		return;
	}
	/* Only a join, a top-N or the first rows of windows are fewer rows to fetch. */
	if (table->fetched != NIL && rel->baserestrictinfo == NIL)
	{
		if (!root->parse->hasWindowFuncs)
			tables_refuse_fetched(table);
		return;
	}
	if (rel->consider_parallel)
		workers = compute_parallel_worker(rel, rel->pages, -1, max_parallel_workers_per_gather);
	refuse_quals(table);
	serial = make_scan_path(root, table, ordinary, NULL, 0);
	if (serial == NULL)
		return;
	/* Made before the serial path is offered, which empties partial_pathlist where Penumbra is forced. */
	if (workers > 0 && rel->partial_pathlist != NIL && table->fetched == NIL &&
		!expression_columns_can_fail(table->attnums))
		parallel = make_scan_path(root, table, linitial(rel->partial_pathlist), serial, workers);
	core_path_offer(root, rel, serial, NULL);
	if (parallel != NULL)
		add_partial_path(rel, &parallel->custom.path);
}

/* What an index finds for a subquery costs little, and may cost more than a join where it is executed for many rows. */
static bool
is_lookup(const PlannerInfo *root, RelOptInfo *rel)
{
	Planning   *planning = planning_current();

	if (cost_scan_can_win(rel))
		return false;
	planning->has_lookups |= planning_level_is_repeated(root);
	return !planning->looks_at_lookups || !planning_level_is_repeated(root);
}

bool
scan_paths_may_add(const PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	if (rte->rtekind != RTE_RELATION || rte->inh || rte->relid < FirstNormalObjectId ||
		(rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_OTHER_MEMBER_REL) ||
		rel->pathlist == NIL || IS_DUMMY_REL(rel))
		return false;
	return penumbra_mode != MODE_AUTO ||
		(rel->pages >= TABLE_PAGES_MIN && !is_lookup(root, rel));
}

void
scan_paths_add(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	Planning   *planning = planning_current();
	const Path *ordinary = custom_path_cheapest_ordinary(rel, false);
	ServedTable *table;

	if (tables_is_target_or_locked(root, rel))
		return;
	if (ordinary != NULL)
		cache_await_start(ordinary->total_cost * ORDINARY_MS_PER_COST);
	table = tables_examine(root, rel, rte, false);
	if (table == NULL)
		return;
	planning->tables = lappend(planning->tables, table);
	set_sampled_rows(root, table);
	add_scan_paths(root, table);
}

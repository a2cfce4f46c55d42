/*-------------------------------------------------------------------------
 *
 * scan_paths.c
 *	  Which tables Penumbra can serve, and its scans of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "query/cost.h"
#include "query/custom_path.h"
#include "query/names.h"
#include "query/paths.h"
#include "query/planned.h"
#include "query/planning.h"
#include "query/privileges.h"
#include "query/row_sample.h"
#include "query/stored_form.h"
#include "query/translate.h"
#include "query/wishes.h"

/*
 * About what PostgreSQL takes for a unit of cost.  A query that is planned just
 * after the server's start waits so long for what is on disk: at worst it takes
 * twice as long as it would have.
 */
#define ORDINARY_MS_PER_COST 0.01

/* Smaller tables are not worth a look unless penumbra.mode demands it. */
#define TABLE_PAGES_MIN 8
/* From here on a table of which a plan reads much is worth loading. */
#define WANTED_PAGES_MIN 64

/* From so many chunks on, planning looks at what zone maps will skip. */
#define SAMPLED_CHUNKS_MIN 4

/* ---------------------------------------------------------------- eligibility */

/* The columns of rel that the query reads; NULL with a reason if it reads what is no column. */
static bool
columns_used(RelOptInfo *rel, List **attnos, const char **reason)
{
	Bitmapset  *used = NULL;
	ListCell   *lc;
	int			member = -1;

	*attnos = NIL;
	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &used);
	while ((member = bms_next_member(used, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno <= 0)
		{
			*reason = attno == 0 ? "whole-row reference" : "system column";
			return false;
		}
		*attnos = lappend_int(*attnos, attno);
	}
	return true;
}

bool
planned_is_target_or_locked(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	if (bms_is_member(rel->relid, root->all_result_relids) ||
		rel->relid == (Index) root->parse->resultRelation)
		return true;
	foreach(lc, root->rowMarks)
	{
		if (lfirst_node(PlanRowMark, lc)->rti == rel->relid)
			return true;
	}
	return false;
}

static const char *
refusal_of_query(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, Relation relation)
{
	Planning   *planning = planning_current();

	if (!RelationIsPopulated(relation))
		return "materialized view without data";
	if (rte->tablesample != NULL)
		return "TABLESAMPLE";
	if (!bms_is_empty(rel->lateral_relids))
		return "lateral reference";
	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW)
		return "not a plain table";
	if (pg_database_encoding_max_length() > 1 && GetDatabaseEncoding() != PG_UTF8)
		return "server encoding";
	if (!planning->is_examined)
	{
		planning->is_examined = true;
		planning->reads_stored_form = stored_form_is_read(root);
	}
	if (planning->reads_stored_form)
		return "function that looks at the stored form of a value";
	return NULL;
}

static const char *
refusal_of_columns(Relation rel, List *attnos)
{
	ListCell   *lc;

	foreach(lc, attnos)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), lfirst_int(lc) - 1);
		PenumbraType type;

		if (!cache_type_of(attribute->atttypid, &type))
			return psprintf("column of type %s", format_type_be(attribute->atttypid));
	}
	return NULL;
}

static AttrNumber *
attno_array(List *attnos)
{
	AttrNumber *array = palloc(sizeof(AttrNumber) * Max(list_length(attnos), 1));
	ListCell   *lc;

	foreach(lc, attnos)
		array[foreach_current_index(lc)] = lfirst_int(lc);
	return array;
}

/*
 * Finds out what the engine makes of the quals, and what zone maps will skip
 * by those whose values are known.  Quals that can fail never skip anything.
 */
static void
examine_quals(PlannerInfo *root, PlannedTable *table, Relation relation,
			  const AttrNumber *attnums, bool may_read_values)
{
	RelOptInfo *rel = table->rel;
	PipelineStage *scan = planned_begin_scan(root, rel->relid, table->attnos)->top;
	Translation *translation = translation_begin(NULL, NULL);
	PenumbraExpr *conjuncts = palloc(sizeof(PenumbraExpr) * list_length(rel->baserestrictinfo));
	int			count = 0;
	ListCell   *lc;

	translation->needs_values = may_read_values;
	translation_add_scan(translation, scan);
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		TableQual  *qual;
		PenumbraExpr expr;

		if (rinfo->pseudoconstant)
			continue;
		qual = palloc0(sizeof(TableQual));
		qual->rinfo = rinfo;
		table->quals = lappend(table->quals, qual);
		translation->runtime_exprs = NIL;
		expr = translate_expr(translation, names_normalize(root, (Node *) rinfo->clause));
		if (expr < 0)
		{
			qual->refusal = pstrdup(translation->reason);
			continue;
		}
		if (translation->runtime_exprs != NIL)
			continue;
		qual->is_parallel = !penumbra_plan_expr_can_fail(translation->plan, expr);
		/* Costs can be seen: as with statistics, they must not tell of hidden rows. */
		if (rinfo->security_level == 0 || rinfo->leakproof)
			conjuncts[count++] = expr;
	}
	if (count > 0 && may_read_values && table->coverage.cached_pages >= SAMPLED_CHUNKS_MIN * cache_chunk_pages &&
		translation_add_filter(translation, conjuncts, count) && translation_finish(translation))
		table->skipped_share = cache_estimate_skipped(relation, attnums,
													  list_length(table->attnos),
													  translation->plan,
													  scan->operator);
	translation_end(translation);
}

/* A parameter that no sublink of this query level sets: a value of an outer one. */
static bool
holds_outer_value(Node *node, void *context)
{
	const PlannerInfo *root = context;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Param) || ((Param *) node)->paramkind != PARAM_EXEC)
		return expression_tree_walker(node, holds_outer_value, context);
	foreach(lc, root->init_plans)
	{
		if (list_member_int(lfirst_node(SubPlan, lc)->setParam, ((Param *) node)->paramid))
			return false;
	}
	return true;
}

static void
examine_repetition(PlannerInfo *root, PlannedTable *table)
{
	List	   *clauses = extract_actual_clauses(table->rel->baserestrictinfo, false);
	Path	   *ordinary = custom_path_cheapest_ordinary(table->rel, false);

	table->is_rescanned = holds_outer_value((Node *) clauses, root);
	table->is_looked_up = table->is_rescanned && ordinary != NULL &&
		(IsA(ordinary, IndexPath) || IsA(ordinary, BitmapHeapPath));
}

/* The table, and those of the columns that are not cached at all. */
static char *
missing_columns(Relation relation, List *attnos)
{
	StringInfoData text;
	const char *separator = " (";
	ListCell   *lc;

	initStringInfo(&text);
	appendStringInfoString(&text, quote_identifier(RelationGetRelationName(relation)));
	foreach(lc, attnos)
	{
		AttrNumber	attno = lfirst_int(lc);
		CacheCoverage coverage;

		if (cache_estimate_coverage(relation, &attno, 1, &coverage) && coverage.cached_pages > 0)
			continue;
		appendStringInfo(&text, "%s%s", separator,
						 quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(relation), attno - 1)->attname)));
		separator = ", ";
	}
	if (separator[0] == ',')
		appendStringInfoChar(&text, ')');
	return text.data;
}

/* Looks at an opened table; NULL: not for us.  Without anything cached it is of use in a tree only. */
static PlannedTable *
examine_table(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, Relation relation,
			  bool in_tree)
{
	PlannedTable *table = palloc0(sizeof(PlannedTable));
	const char *reason = refusal_of_query(root, rel, rte, relation);
	AttrNumber *attnums;
	bool		is_cached;

	if (reason == NULL)
		reason = cache_refusal_of_relation(relation);
	if (reason == NULL && columns_used(rel, &table->attnos, &reason))
		reason = refusal_of_columns(relation, table->attnos);
	if (reason != NULL)
	{
		planning_refuse(reason);
		return NULL;
	}
	attnums = attno_array(table->attnos);
	is_cached = cache_estimate_coverage(relation, attnums, list_length(table->attnos),
										&table->coverage);
	if (!is_cached)
		memset(&table->coverage, 0, sizeof(table->coverage));
	table->rel = rel;
	table->oid = rte->relid;
	if (table->coverage.cached_pages < rel->pages - rel->pages / 8 &&
		rel->pages >= WANTED_PAGES_MIN)
		wishes_add(root, table);
	if (table->coverage.cached_pages == 0 && !in_tree && !MODE_IS_FORCED())
	{
		planning_refuse("not cached");
		planning_current()->reason = psprintf("not cached: %s", missing_columns(relation, table->attnos));
		return NULL;
	}
	table->sampled_share = -1;
	if (rel->baserestrictinfo != NIL)
	{
		bool		may_read_values = privileges_permit_values(root);

		examine_quals(root, table, relation, attnums, may_read_values);
		if (may_read_values && bms_membership(root->all_baserels) == BMS_MULTIPLE)
			row_sample_take(root, table, relation, attnums);
		examine_repetition(root, table);
	}
	return table;
}

/* ---------------------------------------------------------------- scans */

/*
 * Splits the quals into those of the engine and those that PostgreSQL keeps.
 * A qual of the engine runs before all that are kept, so it must not see
 * rows that a kept qual of a lower security level would hide, unless it is
 * leakproof.  A parallel scan cannot change to the ordinary plan, so it takes
 * only quals that cannot fail and wait for no value.
 */
static void
split_quals(const PlannedTable *table, bool is_parallel, List **pushed, List **kept)
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
make_scan_pipeline(PlannerInfo *root, PlannedTable *table, List *pushed, List *outputs)
{
	Pipeline   *pipeline = planned_begin_scan(root, table->rel->relid, table->attnos);
	PipelineStage *scan = pipeline->top;
	List	   *normalized = (List *) names_normalize(root, (Node *) outputs);

	scan->table_oids = list_make1_oid(table->oid);
	scan->table_attnos = list_make1(table->attnos);
	planned_add_filters(root, pipeline, pushed);
	if (!equal(normalized, scan->exprs))
		pipeline_add_stage(pipeline, PIPELINE_PROJECTION, normalized);
	if (!planned_check(pipeline))
		return NULL;
	for (int i = 0; i < list_length(outputs); i++)
		pipeline->output_map = lappend_int(pipeline->output_map, i);
	return pipeline;
}

/*
 * A scan by one process in place of `replaced`; or, given the path of that, a
 * partial path for workers.  NULL: refused.
 */
static PenumbraPath *
make_scan_path(PlannerInfo *root, PlannedTable *table, Path *replaced, const PenumbraPath *serial,
			   int workers)
{
	RelOptInfo *rel = table->rel;
	PlannedPipeline planned = {.workers = workers};
	List	   *pushed = NIL;
	List	   *kept = NIL;
	List	   *outputs = list_copy(rel->reltarget->exprs);
	List	   *clauses;
	PenumbraPath *path;
	ListCell   *lc;

	split_quals(table, workers > 0, &pushed, &kept);
	clauses = extract_actual_clauses(kept, false);
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
	cost_add_scan(&planned, list_make1(table), planned_count_columns(clauses),
				  list_length(outputs),
				  clamp_row_est(rel->tuples * clauselist_selectivity(root, pushed, 0, JOIN_INNER, NULL)),
				  rel->tuples);
	path = custom_path_create(root, rel, rel->reltarget, "Penumbra Scan", &planned,
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
		QualCost	cost;

		cost_qual_eval(&cost, kept, root);
		path->custom.path.startup_cost += cost.startup;
		path->custom.path.total_cost += cost.startup + cost.per_tuple * planned.rows;
		path->total_cost = path->custom.path.total_cost;
	}
	if (replaced != NULL && bms_membership(root->all_baserels) == BMS_MULTIPLE)
		cost_set_join_input(&path->custom.path, rel, replaced);
	else if (replaced != NULL && table->is_rescanned && root->tuple_fraction == 1.0)
		cost_set_exists(&path->custom.path, replaced, rel->rows);
	return path;
}

static void
refuse_quals(const PlannedTable *table)
{
	ListCell   *lc;

	foreach(lc, table->quals)
	{
		const char *refusal = ((const TableQual *) lfirst(lc))->refusal;

		if (refusal != NULL)
			planning_refuse(refusal);
	}
}

/*
 * A cursor over one table without grouping or ORDER BY is "simply updatable":
 * UPDATE ... WHERE CURRENT OF asks its scan for the row's TID, which the cache
 * does not keep.
 */
bool
planned_is_simply_updatable(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return planning_current()->is_cursor && bms_membership(root->all_baserels) == BMS_SINGLETON &&
		!parse->hasAggs && parse->groupClause == NIL && parse->groupingSets == NIL &&
		parse->distinctClause == NIL && parse->sortClause == NIL;
}

static void
add_scan_paths(PlannerInfo *root, PlannedTable *table)
{
	RelOptInfo *rel = table->rel;
	Path	   *ordinary = custom_path_cheapest_ordinary(rel, true);
	PenumbraPath *serial;
	PenumbraPath *parallel = NULL;
	int			workers = 0;

	if (planned_is_simply_updatable(root))
	{
		planning_refuse("cursor that WHERE CURRENT OF may use");
		return;
	}
	if (ordinary == NULL || !target_is_columns(rel))
		return;
	if (rel->consider_parallel)
		workers = compute_parallel_worker(rel, rel->pages, -1, max_parallel_workers_per_gather);
	refuse_quals(table);
	serial = make_scan_path(root, table, ordinary, NULL, 0);
	if (serial == NULL)
		return;
	if (workers > 0 && rel->partial_pathlist != NIL)
		parallel = make_scan_path(root, table, linitial(rel->partial_pathlist), serial, workers);
	planned_offer(root, rel, serial, NULL);
	if (parallel != NULL)
		add_partial_path(rel, &parallel->custom.path);
}

PlannedTable *
planned_find_table(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, planning_current()->tables)
	{
		PlannedTable *table = lfirst(lc);

		if (table->rel == rel)
			return table;
	}
	return NULL;
}

PlannedTable *
planned_table_of_rel(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	PlannedTable *table = planned_find_table(rel);
	Relation	relation;

	if (table != NULL)
		return table;
	if (rte->rtekind != RTE_RELATION || rte->relid < FirstNormalObjectId ||
		planned_is_target_or_locked(root, rel))
		return NULL;
	relation = table_open(rte->relid, NoLock);
	table = examine_table(root, rel, rte, relation, true);
	table_close(relation, NoLock);
	return table;
}

bool
paths_may_add_scan(RelOptInfo *rel, RangeTblEntry *rte)
{
	if (rte->rtekind != RTE_RELATION || rte->inh || rte->relid < FirstNormalObjectId ||
		(rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_OTHER_MEMBER_REL) ||
		rel->pathlist == NIL || IS_DUMMY_REL(rel))
		return false;
	return penumbra_mode != MODE_AUTO ||
		(rel->pages >= TABLE_PAGES_MIN && cost_scan_can_win(rel));
}

void
paths_add_scan(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	Planning   *planning = planning_current();
	const Path *ordinary = custom_path_cheapest_ordinary(rel, false);
	PlannedTable *table;
	Relation	relation;

	if (planned_is_target_or_locked(root, rel))
		return;
	if (ordinary != NULL)
		cache_await_start(ordinary->total_cost * ORDINARY_MS_PER_COST);
	relation = table_open(rte->relid, NoLock);
	table = examine_table(root, rel, rte, relation, false);
	table_close(relation, NoLock);
	if (table == NULL)
		return;
	planning->tables = lappend(planning->tables, table);
	add_scan_paths(root, table);
}

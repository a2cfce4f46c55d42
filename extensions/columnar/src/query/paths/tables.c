/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  Which tables Penumbra can serve, and what is known of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "cache/cache.h"
#include "cache/column_facts.h"
#include "query/paths/custom_path.h"
#include "query/paths/function_columns.h"
#include "query/paths/row_sample.h"
#include "query/paths/tables.h"
#include "query/paths/wishes.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_filter.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translation.h"
#include "query/planning/expression_columns.h"
#include "query/planning/level_columns.h"
#include "query/planning/planning.h"
#include "query/planning/privileges.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/stored_form.h"

/* From so many chunks on, planning looks at what zone maps will skip. */
#define SAMPLED_CHUNKS_MIN 4

bool
tables_is_target_or_locked(PlannerInfo *root, RelOptInfo *rel)
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
refusal_of_table(RelOptInfo *rel, RangeTblEntry *rte, Relation relation)
{
	if (!RelationIsPopulated(relation))
		return "materialized view without data";
	if (rte->tablesample != NULL && !stage_scan_sample_is_known(rte->tablesample))
		return "TABLESAMPLE";
	if (!bms_is_empty(rel->lateral_relids))
		return "lateral reference";
	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW)
		return "not a plain table";
	return cache_refusal_of_relation(relation);
}

static const char *
refusal_of_query(PlannerInfo *root)
{
	Planning   *planning = planning_current();

	if (pg_database_encoding_max_length() > 1 && GetDatabaseEncoding() != PG_UTF8)
		return "server encoding";
	/* Once for each planner() call: it walks the query's expressions. */
	if (!planning->is_examined)
	{
		planning->is_examined = true;
		planning->reads_stored_form = stored_form_is_read(root);
	}
	return planning->reads_stored_form ? "function that looks at the stored form of a value" : NULL;
}

/*
 * Moves columns to those that are fetched for the rows of a scan: what the engine cannot read, and what is not
 * cached, if the query returns it of few rows and the others are.  Of a table of which nothing is cached PostgreSQL
 * may find the rows, with all columns.
 */
static void
split_columns(PlannerInfo *root, Relation relation, ServedTable *table)
{
	RelOptInfo *rel = table->rel;
	List	   *unreadable = NIL;
	List	   *fetched;
	Index		parent = rel->relid;
	bool		has_cached = MODE_IS_FORCED();
	ListCell   *lc;

	foreach(lc, table->attnums)
	{
		int			attno = lfirst_int(lc);
		ColumnKey	key = column_key_of_attribute(attno);
		PenumbraType type;

		if (expression_column_is(attno))
			continue;
		if (!cache_type_of_column(key, RelationGetDescr(relation), &type))
			unreadable = lappend_int(unreadable, attno);
		else if (cache_has_nearly(relation, key, rel->pages))
			has_cached = true;
		else if (level_columns_is_spared(root, rel, attno))
			table->spared = lappend_int(table->spared, attno);
	}
	if (list_length(unreadable) + list_length(table->spared) == list_length(table->attnums))
		table->spared = NIL;
	fetched = has_cached ? list_concat_copy(unreadable, table->spared) : unreadable;
	(void) expression_columns_of_parent(root, &parent, NIL);
	table->is_fetched_last = fetched != NIL &&
		level_columns_return(root, rel, fetched, stage_scan_position(relation_number_of(root, parent)));
	table->fetched = table->is_fetched_last ? fetched : unreadable;
	table->attnums = list_difference_int(table->attnums, table->fetched);
}

static ColumnKey *
keys_of_table(PlannerInfo *root, const ServedTable *table)
{
	Index		name = relation_number_of(root, table->rel->relid);

	return expression_columns_keys(table->oid, table->oid, name, table->attnums,
								   expression_columns_list(table->attnums, name));
}

/* The columns that the query will read from the cache. */
static const ServedTable *
without_spared(PlannerInfo *root, const ServedTable *table)
{
	ServedTable *wanted = palloc(sizeof(ServedTable));

	*wanted = *table;
	wanted->attnums = list_difference_int(table->attnums, table->spared);
	wanted->columns = keys_of_table(root, wanted);
	return wanted;
}

/* Nothing says that a query reads few rows, or it does more than return the columns. */
static bool
may_fetch(const ServedTable *table, bool is_scan)
{
	return table->attnums != NIL && (table->is_fetched_last || (is_scan && table->rel->baserestrictinfo != NIL));
}

void
tables_refuse_fetched(const ServedTable *table)
{
	AttrNumber	attno = linitial_int(table->fetched);
	Oid			type_oid = get_atttype(table->oid, attno);
	PenumbraType type;

	planning_refuse(!cache_type_is_composed(type_oid) && cache_type_of(type_oid, &type) ? "not cached"
					: psprintf("column of type %s", format_type_be(type_oid)),
					quote_qualified_identifier(get_rel_name(table->oid), get_attname(table->oid, attno, false)));
}

/*
 * Finds out what the engine makes of the quals, and what zone maps will skip
 * by those whose values are known.  Quals that can fail never skip anything.
 */
static void
examine_quals(PlannerInfo *root, ServedTable *table, Relation relation, bool may_read_values)
{
	RelOptInfo *rel = table->rel;
	PipelineStage *scan = rel_pipeline_begin_scan(root, rel->relid, table->attnums)->top;
	Translation *translation = translation_begin(NULL, NULL);
	PenumbraExpr *conjuncts = palloc(sizeof(PenumbraExpr) * list_length(rel->baserestrictinfo));
	int			count = 0;
	ListCell   *lc;

	translation->needs_values = may_read_values;
	stage_scan_add_to_plan(translation, scan);
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
		expr = translate_expr(translation, relation_numbers_normalize(root, (Node *) rinfo->clause));
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
		stage_filter_add_conjuncts(translation, conjuncts, count) && translation_finish(translation))
		table->skipped_share = cache_estimate_skipped(relation, table->columns,
													  list_length(table->attnums),
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
examine_repetition(PlannerInfo *root, ServedTable *table)
{
	List	   *clauses = extract_actual_clauses(table->rel->baserestrictinfo, false);
	Path	   *ordinary = custom_path_cheapest_ordinary(table->rel, false);

	table->is_rescanned = holds_outer_value((Node *) clauses, root);
	table->is_looked_up = table->is_rescanned && ordinary != NULL &&
		(IsA(ordinary, IndexPath) || IsA(ordinary, BitmapHeapPath));
}

/* The table, and those of the columns that are not cached at all. */
static char *
missing_columns(Relation relation, const ServedTable *table)
{
	StringInfoData text;
	const char *separator = " (";

	initStringInfo(&text);
	appendStringInfoString(&text, quote_identifier(RelationGetRelationName(relation)));
	for (int i = 0; i < list_length(table->attnums); i++)
	{
		const ColumnKey *column = &table->columns[i];
		CacheCoverage coverage;
		NameData	name;

		if ((cache_estimate_coverage(relation, column, 1, &coverage) && coverage.cached_pages > 0) ||
			!column_key_name(*column, relation, &name))
			continue;
		appendStringInfo(&text, "%s%s", separator,
						 column_key_is_expression(*column) ? NameStr(name) : quote_identifier(NameStr(name)));
		separator = ", ";
	}
	if (separator[0] == ',')
		appendStringInfoChar(&text, ')');
	return text.data;
}

static ServedTable *
examine_opened(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, Relation relation, bool in_tree)
{
	ServedTable *table = palloc0(sizeof(ServedTable));
	const char *reason = refusal_of_table(rel, rte, relation);
	bool		is_cached;
	const ServedTable *wished;

	function_columns_find(root);
	table->rel = rel;
	table->oid = rte->relid;
	if (reason == NULL)
		table->attnums = level_columns_of_rel(root, rel, &reason);
	if (reason == NULL)
		split_columns(root, relation, table);
	if (reason != NULL)
		planning_refuse(reason, quote_identifier(RelationGetRelationName(relation)));
	else if ((reason = refusal_of_query(root)) != NULL)
		planning_refuse(reason, NULL);
	if (reason != NULL)
		return NULL;
	if (table->fetched != NIL && !may_fetch(table, !in_tree))
	{
		tables_refuse_fetched(table);
		return NULL;
	}
	table->columns = keys_of_table(root, table);
	if (table->columns == NULL)
	{
		planning_refuse("expression that cannot be cached", quote_identifier(RelationGetRelationName(relation)));
		return NULL;
	}
	is_cached = cache_estimate_coverage(relation, table->columns, list_length(table->attnums),
										&table->coverage);
	if (!is_cached)
		memset(&table->coverage, 0, sizeof(table->coverage));
	/* Before a table is refused as not cached: the finished plan tells whether it is worth loading. */
	wished = function_columns_wished(root, table);
	if ((wished != NULL || table->coverage.cached_pages < rel->pages - rel->pages / 8) &&
		rel->pages >= WANTED_PAGES_MIN)
		wishes_add(root, wished == NULL ? without_spared(root, table) : wished);
	if (table->coverage.cached_pages == 0 && !in_tree && !MODE_IS_FORCED())
	{
		planning_refuse("not cached", missing_columns(relation, table));
		return NULL;
	}
	table->sampled_share = -1;
	if (rel->baserestrictinfo != NIL)
	{
		bool		may_read_values = privileges_permit_values(root);

		examine_quals(root, table, relation, may_read_values);
		if (may_read_values)
			row_sample_take(root, table, relation);
		examine_repetition(root, table);
	}
	return table;
}

ServedTable *
tables_examine(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, bool in_tree)
{
	Relation	relation = table_open(rte->relid, NoLock);
	ServedTable *table = examine_opened(root, rel, rte, relation, in_tree);

	table_close(relation, NoLock);
	return table;
}

ServedTable *
tables_find(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	ServedTable *table = rel_pipeline_find_table(rel);

	if (table != NULL)
		return table->fetched == NIL || table->is_fetched_last ? table : NULL;
	if (rte->rtekind != RTE_RELATION || rte->relid < FirstNormalObjectId || tables_is_target_or_locked(root, rel))
		return NULL;
	table = tables_examine(root, rel, rte, true);
	if (table != NULL)
		planning_current()->joined_tables = lappend(planning_current()->joined_tables, table);
	return table;
}

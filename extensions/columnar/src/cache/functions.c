/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  SQL functions of the cache: load, unload, refresh, explain_coverage.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "cache/column_facts.h"
#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/cached_expression.h"
#include "cache/policy/database.h"
#include "cache/policy/table_options.h"
#include "cache/directory.h"
#include "cache/functions.h"
#include "cache/invalidation.h"
#include "cache/loader.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "cache/region.h"

PENUMBRA_SQL_FUNCTION(penumbra_sql_load);
PENUMBRA_SQL_FUNCTION(penumbra_sql_load_in_parts);
PENUMBRA_SQL_FUNCTION(penumbra_sql_unload);
PENUMBRA_SQL_FUNCTION(penumbra_sql_refresh);
PENUMBRA_SQL_FUNCTION(penumbra_sql_forget_dropped_databases);
PENUMBRA_SQL_FUNCTION(penumbra_sql_explain_coverage);

/* ---------------------------------------------------------------- checks -- */

void
functions_check_is_preloaded(void)
{
	if (cache_is_available())
		return;
	if (region_is_configured())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the column cache does not exist, because penumbra.memory is 0 or could not be had"),
				 errhint("Raise penumbra.memory and restart the server; its log says what could not be had.")));
	else
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the column cache does not exist, because penumbra was not loaded at server start"),
				 errhint("Add penumbra to shared_preload_libraries in \"%s\" and restart the server.",
						 GetConfigOption("config_file", true, false))));
}

bool
functions_may_see_all(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

ReturnSetInfo *
functions_begin_rows(FunctionCallInfo fcinfo)
{
	functions_check_is_preloaded();
	InitMaterializedSRF(fcinfo, 0);
	return (ReturnSetInfo *) fcinfo->resultinfo;
}

/*
 * Loading and unloading give a user no value of the table, but memory, time
 * and the place of other tables' columns, as VACUUM does: so its privilege.
 */
bool
functions_may_maintain(Oid relid)
{
	return compat_class_maintaincheck(relid, GetUserId());
}

static void
check_may_maintain(Relation rel)
{
	if (!functions_may_maintain(RelationGetRelid(rel)))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
}

static void
refuse_relation(Relation rel, const char *reason)
{
	char		relkind = rel->rd_rel->relkind;
	bool		is_of_kind = relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW;

	ereport(ERROR,
			(errcode(is_of_kind ? ERRCODE_FEATURE_NOT_SUPPORTED : ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("relation \"%s\" cannot be cached", RelationGetRelationName(rel)),
			 is_of_kind ? errdetail("The reason is: %s.", reason) : errdetail_relkind_not_supported(relkind),
			 strcmp(reason, "old_snapshot_threshold is set") == 0 ?
			 errhint("Set old_snapshot_threshold to -1.") : 0));
}

Relation
functions_open_relation(Oid relid)
{
	Relation	rel;

	functions_check_is_preloaded();
	rel = relation_open(relid, AccessShareLock);
	check_may_maintain(rel);
	return rel;
}

/* The parser's error is about a place in the expression, not in the statement that names it. */
static void
point_into_expression(void *text)
{
	int			position = geterrposition();

	if (position <= 0)
		return;
	errposition(0);
	internalerrposition(position);
	internalerrquery(text);
}

/* The expression, written as in a query of the relation. */
static ColumnKey
column_of_expression(Relation rel, const char *text, ExpressionNeed need)
{
	ErrorContextCallback callback = {error_context_stack, point_into_expression, unconstify(char *, text)};
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL, false, true);
	List	   *parsed;
	ResTarget  *target;
	Node	   *expr;
	ColumnKey	key;

	error_context_stack = &callback;
	pstate->p_sourcetext = text;
	addNSItemToQuery(pstate, item, true, true, true);
	parsed = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	target = linitial_node(ResTarget, castNode(SelectStmt, linitial_node(RawStmt, parsed)->stmt)->targetList);
	expr = transformExpr(pstate, target->val, EXPR_KIND_SELECT_TARGET);
	assign_expr_collations(pstate, expr);
	expr = eval_const_expressions(NULL, expr);
	free_parsestate(pstate);
	error_context_stack = callback.previous;
	if (cacheable_form(expr) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("expression \"%s\" of relation \"%s\" cannot be cached", text, RelationGetRelationName(rel)),
				 errhint("Immutable functions and operators of PostgreSQL's own can be, if the result has a type that can be cached.")));
	if (!cached_expression_find(RelationGetRelid(rel), expr, need, &key))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("expression \"%s\" is too long, has failed for a row, or too many of relation \"%s\" are cached",
						text, RelationGetRelationName(rel)),
				 errdetail("At most %d expressions of a relation are cached.", COLUMN_KEY_EXPRESSIONS),
				 errhint("What is not loaded, or was not read by a query for ten minutes, makes room; what has failed is tried again after an hour.")));
	return key;
}

/* Something else than a misspelt name. */
static bool
looks_like_expression(const char *name)
{
	return strpbrk(name, "()[]<>='@?#:&|") != NULL;
}

/* A column that is named twice is added once, so there are never more than the relation has. */
static void
append_column(ColumnKey column, ColumnKey *columns, int *ncolumns)
{
	for (int i = 0; i < *ncolumns; i++)
	{
		if (column_keys_are_equal(columns[i], column))
			return;
	}
	columns[(*ncolumns)++] = column;
}

static void
append_column_by_name(Relation rel, const char *name, ExpressionNeed need, ColumnKey *columns, int *ncolumns)
{
	AttrNumber	attnum = attnameAttNum(rel, name, true);
	Form_pg_attribute att;
	PenumbraType type;

	if (attnum == InvalidAttrNumber && !looks_like_expression(name))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(rel))));
	if (attnum == InvalidAttrNumber)
	{
		append_column(column_of_expression(rel, name, need), columns, ncolumns);
		return;
	}
	if (attnum < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("system column \"%s\" cannot be cached", name)));
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	if (compat_attribute_is_virtual(att))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("virtual generated column \"%s\" cannot be cached", name),
				 errdetail("It is computed from other columns when read.")));
	if (cache_type_is_composed(att->atttypid))
	{
		append_column(column_of_expression(rel, quote_identifier(name), need), columns, ncolumns);
		return;
	}
	if (!cache_type_of(att->atttypid, &type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of type %s cannot be cached", name,
						format_type_be(att->atttypid))));
	append_column(column_key_of_attribute(attnum), columns, ncolumns);
}

/* The named columns, or without names every column that can be cached. */
static int
list_columns(Relation rel, ArrayType *names, ExpressionNeed need, ColumnKey *columns)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			ncolumns = 0;
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	if (names == NULL)
	{
		for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		{
			PenumbraType type;

			if (cache_type_of_column(column_key_of_attribute(attnum), desc, &type))
				columns[ncolumns++] = column_key_of_attribute(attnum);
		}
		return ncolumns;
	}
	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	if (count > column_key_places(desc) * 4)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("too many column names")));
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column name must not be null")));
		append_column_by_name(rel, TextDatumGetCString(elements[i]), need, columns, &ncolumns);
	}
	return ncolumns;
}

/* ---------------------------------------------------------------- loading - */

/* Further names than these would hide the other messages. */
#define NAMES_SHOWN		20

/* Names of things that are left out, each with the reason. */
typedef struct LeftNames
{
	StringInfoData text;
	int			count;
} LeftNames;

/* What a load of a relation, with its partitions, has done and left out: reported once. */
typedef struct LoadReport
{
	ArrayType  *names;			/* of the columns; NULL: all that can be cached */
	int64		chunks_loaded;
	uint64		chunks_seen;
	uint64		chunks_total;
	bool		is_full;
	LeftPages	left;
	/* of a load in parts: */
	uint32		chunk_limit;	/* 0: no parts */
	uint32		first_chunk;	/* of the table in hand */
	uint32		next_chunk;		/* 0: it is done */
	uint64		protected_serial;
	LeftNames	left_tables;	/* partitions */
} LoadReport;

static void
add_left_name(LeftNames *names, const char *name, const char *reason)
{
	if (names->count == 0)
		initStringInfo(&names->text);
	if (names->count < NAMES_SHOWN)
		appendStringInfo(&names->text, "%s\"%s\" (%s)", names->count > 0 ? ", " : "", name, reason);
	else if (names->count == NAMES_SHOWN)
		appendStringInfoString(&names->text, ", ...");
	names->count++;
}

/* Those of a partitioned table are those of its partitions. */
static void
report_left_columns(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	LeftNames	unsupported = {0};
	LeftNames	wholes = {0};

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		bool		is_virtual = compat_attribute_is_virtual(att);
		PenumbraType type;

		if (att->attisdropped || cache_type_of_column(column_key_of_attribute(att->attnum), desc, &type))
			continue;
		add_left_name(!is_virtual && cache_type_is_composed(att->atttypid) ? &wholes : &unsupported,
					  NameStr(att->attname), is_virtual ? "virtual" : format_type_be(att->atttypid));
	}
	if (unsupported.count > 0)
		ereport(NOTICE,
				(errmsg_plural("%d column of relation \"%s\" cannot be cached",
							   "%d columns of relation \"%s\" cannot be cached",
							   unsupported.count, unsupported.count, RelationGetRelationName(rel)),
				 errdetail("Not supported: %s.", unsupported.text.data)));
	if (wholes.count > 0)
		ereport(NOTICE,
				(errmsg_plural("%d column of relation \"%s\" was not loaded",
							   "%d columns of relation \"%s\" were not loaded",
							   wholes.count, wholes.count, RelationGetRelationName(rel)),
				 errdetail("Of documents, arrays and the like only what queries read is loaded, or what is named: %s.",
						   wholes.text.data)));
}

static void
report_left_partitions(Relation rel, const LeftNames *names)
{
	if (names->count > 0)
		ereport(NOTICE,
				(errmsg_plural("%d partition of relation \"%s\" cannot be cached",
							   "%d partitions of relation \"%s\" cannot be cached",
							   names->count, names->count, RelationGetRelationName(rel)),
				 errdetail("Skipped: %s.", names->text.data)));
}

/* A full cache is a warning, not an error: loaded chunks serve, and the heap serves the rest. */
static void
report_full_cache(Relation rel, const LoadReport *report)
{
	bool		has_quota = directory_quota_bytes() < region_budget_bytes();

	ereport(WARNING,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("the column cache is full: %llu of %llu chunks of relation \"%s\" are loaded",
					(unsigned long long) report->chunks_seen, (unsigned long long) report->chunks_total,
					RelationGetRelationName(rel)),
			 errdetail("The other pages are read from the table."),
			 errhint("Load fewer columns, unload other tables, or raise %s (now %zu MB).",
					 has_quota ? "penumbra.database_memory" : "penumbra.memory",
					 (has_quota ? directory_quota_bytes() : region_budget_bytes()) / (1024 * 1024))));
}

static void
report_left_pages(Relation rel, uint64 pages, const char *reason, const char *detail, const char *hint)
{
	if (pages > 0)
		ereport(NOTICE,
				(errmsg_plural("%llu page of relation \"%s\" is not cached because of %s",
							   "%llu pages of relation \"%s\" are not cached because of %s",
							   pages, (unsigned long long) pages, RelationGetRelationName(rel), reason),
				 errdetail("%s", detail), errhint("%s", hint)));
}

/* Whether Citus keeps the relation's rows in tables of their own, its shards, of this and other servers. */
static bool
has_shards(Relation rel)
{
	Oid			catalog = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	Relation	distributed;
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	if (!OidIsValid(catalog))
		return false;
	distributed = table_open(catalog, AccessShareLock);
	/* logicalrelid, its first column and its primary key */
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(RelationGetRelid(rel)));
	scan = systable_beginscan(distributed, InvalidOid, false, NULL, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(distributed, AccessShareLock);
	return found;
}

static void
report_shards(Relation rel)
{
	const char *name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												  RelationGetRelationName(rel));

	ereport(NOTICE,
			(errmsg("relation \"%s\" has no pages of its own, because it is distributed", RelationGetRelationName(rel)),
			 errdetail("Each server caches the shards that it has."),
			 errhint("SELECT * FROM run_command_on_placements(%s, $$SELECT penumbra.load('%%s')$$);",
					 quote_literal_cstr(name))));
}

static void
report_load(Relation rel, const LoadReport *report)
{
	if (report->chunks_total == 0 && has_shards(rel))
		report_shards(rel);
	if (report->is_full)
		report_full_cache(rel, report);
	report_left_pages(rel, report->left.wide, "large values",
					  "They are read from the table.",
					  "Load the other columns only.");
	report_left_pages(rel, report->left.unlogged, "writes without WAL",
					  "COPY with FREEZE does so while wal_level is minimal, and nothing has changed them since.",
					  "Copy without FREEZE and vacuum, or rewrite the table while wal_level is replica.");
	report_left_pages(rel, report->left.unsettled, "rows that not all transactions see",
					  "They are read from the table, and cached by a later load.",
					  RecoveryInProgress() ? "Vacuum the table on the primary: a standby knows of no other page that all see it." :
					  "Vacuum the table when the transactions that run now have ended.");
}

static void
load_columns(Relation rel, const ColumnKey *columns, int ncolumns, bool patches, LoadReport *report)
{
	LoadOptions options = {
		.columns = columns,
		.ncolumns = ncolumns,
		.patches = patches,
		.wait = true,
		.first_chunk = report->first_chunk,
		.chunk_limit = report->chunk_limit,
		.protected_serial = report->protected_serial,
	};
	LoadResult	result;

	if (ncolumns == 0)
		return;
	loader_load(rel, &options, &result);
	report->chunks_loaded += result.chunks_loaded;
	report->next_chunk = result.outcome == LOAD_MORE ? result.next_chunk : 0;
	if (report->next_chunk == 0)
	{
		report->chunks_seen += result.next_chunk;
		report->chunks_total += result.chunks_total;
	}
	report->is_full |= result.outcome == LOAD_FULL;
	report->left.wide += result.left.wide;
	report->left.unlogged += result.left.unlogged;
	report->left.unsettled += result.left.unsettled;
}

static void
load_table(Relation rel, LoadReport *report)
{
	ColumnKey  *columns = palloc(sizeof(ColumnKey) * Max(column_key_places(RelationGetDescr(rel)), 1));
	TableOptions options = table_options_read(RelationGetRelid(rel));
	int			named = list_columns(rel, report->names, EXPRESSION_LOADED, columns);
	int			ncolumns = table_options_filter(&options, columns, named);

	if (report->names != NULL && ncolumns < named)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("columns of relation \"%s\" are not to be cached", RelationGetRelationName(rel)),
				 errdetail("A security label of the table or its columns says so."),
				 errhint("Change it with SECURITY LABEL FOR penumbra.")));
	load_columns(rel, columns, ncolumns, false, report);
}

/* Loads again what is cached of the relation and not right any more, or gives it patches. */
static void
refresh_table(Relation rel, LoadReport *report)
{
	ColumnKey  *columns = palloc(sizeof(ColumnKey) * Max(column_key_places(RelationGetDescr(rel)), 1));
	TableOptions options;
	ColumnSummary *summaries;
	CacheKey	key;
	int			count;
	int			ncolumns = 0;

	directory_key_of(rel, &key);
	count = directory_list_columns(&key, &summaries);
	for (int i = 0; i < count; i++)
	{
		ColumnKey	column = column_key_now(summaries[i].column, RelationGetDescr(rel));
		PenumbraType type;

		if (cache_type_of_column(column, RelationGetDescr(rel), &type))
			columns[ncolumns++] = column;
	}
	options = table_options_read(RelationGetRelid(rel));
	load_columns(rel, columns, table_options_filter(&options, columns, ncolumns), true, report);
}

/*
 * The tables that hold rows of the relation: itself, or its partitions.  Others'
 * are left out, as VACUUM does.
 */
static List *
list_tables(Relation rel)
{
	List	   *tables = NIL;
	ListCell   *cell;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return list_make1_oid(RelationGetRelid(rel));
	foreach(cell, find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL))
	{
		Oid			relid = lfirst_oid(cell);

		if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
			continue;
		if (functions_may_maintain(relid))
			tables = lappend_oid(tables, relid);
		else
			ereport(WARNING,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied to change what is cached of \"%s\", skipping it",
							get_rel_name(relid))));
	}
	return tables;
}

static const char *
refusal_of_table(Relation rel)
{
	const char *reason = cache_refusal_of_relation(rel);
	TableOptions options = table_options_read(RelationGetRelid(rel));

	return reason == NULL && table_options_refuse(&options) ? "labelled \"never\"" : reason;
}

typedef void (*LoadTable) (Relation rel, LoadReport *report);

/* Before a table's lock, as DROP EXTENSION holds this one while it may wait for tables. */
static void
lock_extension(void)
{
	functions_check_is_preloaded();
	if (!database_lock_extension(true))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the column cache does not serve this database, which does not have the extension"),
				 errhint("Run CREATE EXTENSION penumbra in this database.")));
}

/* Loads a table that was named or is a partition of what was; one that is gone has nothing to load. */
static void
load_one(Oid relid, Oid named, LoadTable load, LoadReport *report)
{
	Relation	table = try_relation_open(relid, AccessShareLock);
	const char *reason;

	report->first_chunk = report->next_chunk;
	report->next_chunk = 0;
	if (table == NULL)
		return;
	check_may_maintain(table);
	reason = refusal_of_table(table);
	if (reason == NULL)
		load(table, report);
	else if (relid == named)
		refuse_relation(table, reason);
	else
		add_left_name(&report->left_tables, RelationGetRelationName(table), reason);
	relation_close(table, NoLock);
}

static void
report_tables(Relation rel, LoadTable load, const LoadReport *report)
{
	if (load == load_table && report->names == NULL)
		report_left_columns(rel);
	report_left_partitions(rel, &report->left_tables);
	report_load(rel, report);
}

/* A partition that cannot be cached keeps no other one out. */
static int64
load_tables(Oid relid, LoadTable load, ArrayType *names)
{
	Relation	rel;
	LoadReport	report = {.names = names};
	ListCell   *cell;

	lock_extension();
	rel = functions_open_relation(relid);
	foreach(cell, list_tables(rel))
		load_one(lfirst_oid(cell), relid, load, &report);
	report_tables(rel, load, &report);
	relation_close(rel, NoLock);
	return report.chunks_loaded;
}

Datum
penumbra_sql_load(PG_FUNCTION_ARGS)
{
	functions_check_is_preloaded();
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_INT64(load_tables(PG_GETARG_OID(0), load_table,
								PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1)));
}

/* One transaction's part. */
static void
load_part(Oid relid, Oid named, LoadReport *report)
{
	lock_extension();
	PushActiveSnapshot(GetTransactionSnapshot());
	load_one(relid, named, load_table, report);
	PopActiveSnapshot();
}

/*
 * Each transaction has a snapshot, locks and the user's privileges of its own.  What
 * is left out is reported by the last one.
 */
Datum
penumbra_sql_load_in_parts(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	LoadReport	report = {.chunk_limit = CHUNKS_PER_TRANSACTION};
	List	   *tables;
	ListCell   *cell;
	Relation	rel;

	functions_check_is_preloaded();
	if (castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("penumbra.load_in_parts cannot run in a transaction block or a function"),
				 errhint("Use penumbra.load().")));
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	report.names = PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P_COPY(1);
	report.protected_serial = directory_next_serial();
	lock_extension();
	rel = functions_open_relation(relid);
	tables = list_tables(rel);
	relation_close(rel, NoLock);
	foreach(cell, tables)
	{
		do
		{
			load_part(lfirst_oid(cell), relid, &report);
			SPI_commit();
		} while (report.next_chunk > 0);
	}
	rel = try_relation_open(relid, AccessShareLock);
	if (rel != NULL)
	{
		report_tables(rel, load_table, &report);
		relation_close(rel, NoLock);
	}
	SPI_finish();
	return (Datum) 0;
}

Datum
penumbra_sql_refresh(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(load_tables(PG_GETARG_OID(0), refresh_table, NULL));
}

Datum
penumbra_sql_unload(PG_FUNCTION_ARGS)
{
	Relation	rel = functions_open_relation(PG_GETARG_OID(0));
	int64		chunks = 0;
	ListCell   *cell;

	foreach(cell, list_tables(rel))
	{
		Relation	table = relation_open(lfirst_oid(cell), NoLock);
		CacheKey	key;

		directory_key_of(table, &key);
		chunks += (int64) directory_drop_relation(&key);
		relation_close(table, NoLock);
	}
	relation_close(rel, NoLock);
	PG_RETURN_INT64(chunks);
}

Datum
penumbra_sql_forget_dropped_databases(PG_FUNCTION_ARGS)
{
	functions_check_is_preloaded();
	PG_RETURN_INT64((int64) invalidation_drop_lost_databases());
}

/* ---------------------------------------------------------------- coverage  */

static int64
count_rows(const PenumbraChunk *chunk)
{
	int64		rows = 0;

	for (uint32 i = 0; i < chunk->range_count; i++)
	{
		if (chunk->row_bits == NULL)
			rows += chunk->ranges[i].end - chunk->ranges[i].begin;
		else
		{
			for (uint32 row = chunk->ranges[i].begin; row < chunk->ranges[i].end; row++)
				rows += (chunk->row_bits[row / 64] >> (row % 64)) & 1;
		}
	}
	return rows;
}

/* Validates the columns for the query's snapshot, as a scan of them would. */
Datum
penumbra_sql_explain_coverage(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	Relation	rel;
	ColumnKey  *columns;
	int			ncolumns;
	CachedScan *scan;
	ChunkBuffer *buffer = cache_create_buffer(CurrentMemoryContext);
	PenumbraChunk chunk;
	int64		chunk_count;
	int64		rows = 0;
	Datum		values[6];
	bool		nulls[lengthof(values)] = {0};

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	rel = functions_open_relation(PG_GETARG_OID(0));
	columns = palloc(sizeof(ColumnKey) * Max(column_key_places(RelationGetDescr(rel)), 1));
	ncolumns = list_columns(rel, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1), EXPRESSION_NEEDED, columns);
	scan = cache_scan_begin(rel, GetActiveSnapshot(), columns, ncolumns, false, 0, NULL);
	for (int i = 0; i < scan->nchunks; i++)
		rows += count_rows(&scan->chunks[i]);
	chunk_count = scan->nchunks;
	while (cache_scan_begin_read(scan, buffer))
	{
		if (!cache_scan_end_read(scan, buffer, &chunk))
			continue;
		rows += count_rows(&chunk);
		chunk_count++;
	}
	cache_free_buffer(buffer);
	values[0] = Int64GetDatum(chunk_count);
	values[1] = Int64GetDatum(scan->pages.from_cache);
	values[2] = Int64GetDatum(rows);
	values[3] = Int64GetDatum(scan->pages.by_row);
	values[4] = Int64GetDatum(scan->pages.from_heap);
	values[5] = Int64GetDatum(scan->nheap_ranges);
	cache_scan_end(scan);
	put_row(result, values, nulls);
	relation_close(rel, NoLock);
	return (Datum) 0;
}

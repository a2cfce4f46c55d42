/*-------------------------------------------------------------------------
 *
 * views.c
 *	  What the views of the cache are made of, for whoever may see it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_class.h"
#include "access/relation.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "cache/column_facts.h"
#include "cache/cache.h"
#include "cache/cached_expression.h"
#include "cache/directory.h"
#include "cache/disk/disk_cache.h"
#include "cache/functions.h"
#include "cache/progress.h"
#include "cache/region.h"
#include "cache/wanted.h"
#include "cache/worker.h"
#include "pg_compat.h"
#include "result_rows.h"

PENUMBRA_SQL_FUNCTION(penumbra_sql_get_tables);
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_staleness);
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_columns);
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_memory);
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_disk);
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_progress);
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_activity);

/* ---------------------------------------------------------------- who may see what */

/* Other databases' privileges, and those of relations that are gone, cannot be looked up. */
static bool
may_see_relation(const RelationSummary *relation)
{
	if (relation->key.database != MyDatabaseId ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation->relid)))
		return false;
	return functions_may_maintain(relation->relid) || cache_may_read(GetUserId(), relation->relid, 0);
}

/* Encodings and encoded sizes tell of values, like pg_stats: not where row-level security hides some. */
static bool
may_see_values(Oid relid)
{
	return functions_may_maintain(relid) || check_enable_rls(relid, InvalidOid, true) != RLS_ENABLED;
}

static bool
may_see_column(Oid relid, AttrNumber attnum)
{
	return may_see_values(relid) && (functions_may_maintain(relid) || cache_may_read(GetUserId(), relid, attnum));
}

/* ---------------------------------------------------------------- rows ---- */

/*
 * relid, schemaname and relname; null in other databases and where the relation is gone.  From the system cache:
 * other extensions hide rows of pg_class from queries (Citus its shards).
 */
static void
put_names(Datum *values, bool *nulls, Oid database, Oid relid)
{
	char	   *names[] = {NULL, NULL};

	if (database == MyDatabaseId && (names[1] = get_rel_name(relid)) != NULL)
		names[0] = get_namespace_name(get_rel_namespace(relid));
	values[0] = ObjectIdGetDatum(relid);
	for (int i = 0; i < lengthof(names); i++)
	{
		nulls[i + 1] = names[i] == NULL;
		if (names[i] != NULL)
			values[i + 1] = DirectFunctionCall1(namein, CStringGetDatum(names[i]));
	}
}

Datum
penumbra_sql_get_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	bool		sees_all = functions_may_see_all();
	RelationSummary *relations;
	int			count;

	count = directory_list_relations(InvalidOid, InvalidOid, &relations);
	for (int i = 0; i < count; i++)
	{
		RelationSummary *relation = &relations[i];
		Datum		values[] = {
			ObjectIdGetDatum(relation->key.database),
			0, 0, 0,			/* its names */
			ObjectIdGetDatum(relation->key.filenumber),
			Int64GetDatum(relation->chunks),
			Int64GetDatum(relation->pages),
			Int64GetDatum(relation->cached_pages),
			Int64GetDatum(relation->changed_pages),
			Int64GetDatum(relation->rows),
			Int64GetDatum(relation->bytes),
			Int64GetDatum(relation->disk_bytes),
			Int64GetDatum(relation->scans),
			Int64GetDatum(relation->pages_from_cache),
			Int64GetDatum(relation->pages_from_heap),
			Int64GetDatum(relation->misses),
			Int64GetDatum(relation->evictions),
		};
		bool		nulls[lengthof(values)] = {0};

		if (!sees_all && !may_see_relation(relation))
			continue;
		put_names(&values[1], &nulls[1], relation->key.database, relation->relid);
		nulls[10] = nulls[11] = !sees_all && !may_see_values(relation->relid);	/* bytes */
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

/* What keeps the worker from a relation, as far as the cache knows; NULL: nothing. */
static const char *
obstacle_of(const RelationSummary *relation, const LoadProgress *loads, int load_count)
{
	const char *busy = NULL;

	for (int i = 0; i < load_count; i++)
	{
		if (memcmp(&loads[i].key, &relation->key, sizeof(CacheKey)) == 0)
			return "loading";
		if (loads[i].key.database == relation->key.database && loads[i].by_worker)
			busy = "busy";
	}
	if (relation->lacks_memory)
		return "memory";
	return penumbra_auto_load ? busy : "off";
}

static bool
is_autovacuumed(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		result = AutoVacuumingActive();
	bool		is_null;
	Datum		options;

	if (!HeapTupleIsValid(tuple))
		return false;
	options = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_reloptions, &is_null);
	if (!is_null)
	{
		StdRdOptions *parsed = (StdRdOptions *) default_reloptions(options, false, RELOPT_KIND_HEAP);

		result &= parsed == NULL || parsed->autovacuum.enabled;
	}
	ReleaseSysCache(tuple);
	return result;
}

Datum
penumbra_sql_get_staleness(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	LoadProgress *loads = palloc(sizeof(LoadProgress) * PROGRESS_SLOTS);
	bool		sees_all = functions_may_see_all();
	RelationSummary *relations;
	int			load_count;
	int			count;

	load_count = progress_list(loads);
	count = directory_list_relations(MyDatabaseId, InvalidOid, &relations);
	for (int i = 0; i < count; i++)
	{
		RelationSummary *relation = &relations[i];
		const char *obstacle = obstacle_of(relation, loads, load_count);
		Datum		values[] = {
			0, 0, 0,			/* its names */
			Int64GetDatum(relation->cached_pages),
			Int64GetDatum(relation->unproven_pages),
			Int64GetDatum(relation->lost_pages),
			TimestampTzGetDatum(relation->stale_since),
			Int64GetDatum(relation->unsettled_pages),
			TransactionIdGetDatum(relation->unsettled_xid),
			BoolGetDatum(is_autovacuumed(relation->relid)),
			obstacle != NULL ? CStringGetTextDatum(obstacle) : (Datum) 0,
		};
		bool		nulls[lengthof(values)] = {0};

		if (!sees_all && !may_see_relation(relation))
			continue;
		put_names(&values[0], &nulls[0], MyDatabaseId, relation->relid);
		nulls[6] = relation->stale_since == 0;
		nulls[8] = !TransactionIdIsValid(relation->unsettled_xid);
		nulls[10] = obstacle == NULL;
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

/* Of a relation that somebody has locked, so that it cannot be looked at, an expression has no text. */
static bool
describe_expression(Oid relid, ColumnKey key, bool sees_all, NameData *name, Oid *type, int32 *typmod)
{
	Relation	rel;
	ColumnFacts facts;
	Bitmapset  *attributes;
	bool		is_seen;
	int			attribute = -1;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return false;
	}
	key = column_key_now(key, RelationGetDescr(rel));
	facts = column_key_facts(key, RelationGetDescr(rel));
	is_seen = OidIsValid(facts.type_oid) && column_key_name(key, rel, name);
	attributes = cached_expression_attributes(key);
	while ((attribute = bms_next_member(attributes, attribute)) >= 0)
		is_seen &= sees_all || may_see_column(relid, attribute);
	*type = facts.type_oid;
	*typmod = facts.typmod;
	relation_close(rel, AccessShareLock);
	return is_seen;
}

/* False: it is gone, or the user may not see it. */
static bool
describe_column(Oid relid, ColumnKey key, bool sees_all, NameData *name, Oid *type, int32 *typmod)
{
	HeapTuple	tuple;
	bool		is_seen;

	if (column_key_is_expression(key))
		return describe_expression(relid, key, sees_all, name, type, typmod);
	tuple = SearchSysCacheAttNum(relid, column_key_number(key));
	if (!HeapTupleIsValid(tuple))
		return false;
	is_seen = sees_all || may_see_column(relid, column_key_number(key));
	*name = ((Form_pg_attribute) GETSTRUCT(tuple))->attname;
	*type = ((Form_pg_attribute) GETSTRUCT(tuple))->atttypid;
	*typmod = ((Form_pg_attribute) GETSTRUCT(tuple))->atttypmod;
	ReleaseSysCache(tuple);
	return is_seen;
}

static void
put_column(ReturnSetInfo *result, Oid relid, const ColumnSummary *column, bool sees_all)
{
	NameData	name;
	Oid			type;
	int32		typmod;

	if (describe_column(relid, column->column, sees_all, &name, &type, &typmod))
	{
		Datum		values[] = {
			0, 0, 0,			/* the relation's names */
			Int16GetDatum(column_key_number(column->column)),
			NameGetDatum(&name),
			CStringGetTextDatum(format_type_with_typemod(type, typmod)),
			Int64GetDatum(column->chunks),
			Int64GetDatum(column->pages),
			Int64GetDatum(column->rows),
			Int64GetDatum(column->bytes),
			Int64GetDatum(column->disk_bytes),
			Int64GetDatum(column->plain_bytes),
			CStringGetTextDatum(column->encodings),
			Int64GetDatum(column->hits),
		};
		bool		nulls[lengthof(values)] = {0};

		nulls[3] = column_key_is_expression(column->column);
		put_names(&values[0], &nulls[0], MyDatabaseId, relid);
		put_row(result, values, nulls);
	}
}

/* put_column() decides for each column whether the user may see it. */
Datum
penumbra_sql_get_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	bool		sees_all = functions_may_see_all();
	RelationSummary *relations;
	int			count;

	count = directory_list_relations(MyDatabaseId, InvalidOid, &relations);
	for (int i = 0; i < count; i++)
	{
		ColumnSummary *columns;
		int			column_count = directory_list_columns(&relations[i].key, &columns);

		for (int c = 0; c < column_count; c++)
			put_column(result, relations[i].relid, &columns[c], sees_all);
		pfree(columns);
	}
	return (Datum) 0;
}

Datum
penumbra_sql_get_memory(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);

	for (int class = 0; class < REGION_CLASS_COUNT; class++)
	{
		RegionClassStats stats;
		Datum		values[5];
		bool		nulls[lengthof(values)] = {0};

		region_get_stats(class, &stats);
		values[0] = Int64GetDatum(stats.page_bytes);
		values[1] = Int64GetDatum(stats.pages);
		values[2] = Int64GetDatum(stats.used_bytes);
		values[3] = Int64GetDatum(region_budget_bytes());
		values[4] = Int64GetDatum(eviction_count(class));
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

Datum
penumbra_sql_get_disk(PG_FUNCTION_ARGS)
{
	static const char *const states[] = {"off", "opening", "open", "refused", "stopped"};
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	DiskStats	stats;

	disk_cache_get_stats(&stats);
	{
		Datum		values[] = {
			CStringGetTextDatum(states[stats.state]),
			BoolGetDatum(stats.is_pending),
			Int64GetDatum(stats.budget_bytes),
			Int64GetDatum(stats.file_bytes),
			Int64GetDatum(stats.saved_chunks),
			Int64GetDatum(stats.saved_segments),
			Int64GetDatum(stats.saved_bytes),
			Int64GetDatum(stats.restored_chunks),
			Int64GetDatum(stats.restored_segments),
			Int64GetDatum(stats.restored_bytes),
			Int64GetDatum(stats.segments_read),
			Int64GetDatum(stats.bytes_read),
			Int64GetDatum(stats.read_errors),
			Int64GetDatum(stats.damaged),
			Int64GetDatum(stats.bytes_written),
			Int64GetDatum(stats.write_errors),
			TimestampTzGetDatum(stats.reader_since),
			Int64GetDatum(stats.reader_bytes),
			Int64GetDatum(stats.reader_bytes_left),
		};
		bool		nulls[lengthof(values)] = {0};

		nulls[lengthof(values) - 3] = stats.reader_since == 0;

		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

Datum
penumbra_sql_get_progress(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	LoadProgress *slots = palloc(sizeof(LoadProgress) * PROGRESS_SLOTS);
	int			count;

	count = progress_list(slots);
	for (int i = 0; i < count; i++)
	{
		LoadProgress *slot = &slots[i];
		Datum		values[] = {
			Int32GetDatum(slot->pid),
			ObjectIdGetDatum(slot->key.database),
			0, 0, 0,			/* the relation's names */
			BoolGetDatum(slot->by_worker),
			TimestampTzGetDatum(slot->started),
			Int32GetDatum(slot->columns),
			Int64GetDatum(slot->chunks_total),
			Int64GetDatum(slot->chunks_done),
			Int64GetDatum(slot->chunks_loaded),
			Int64GetDatum(slot->heap_bytes),
			Int64GetDatum(slot->cached_bytes),
			Int64GetDatum(slot->first_chunk),
		};
		bool		nulls[lengthof(values)] = {0};

		put_names(&values[2], &nulls[2], slot->key.database, slot->relid);
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

Datum
penumbra_sql_get_activity(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	LoadTotals	totals;
	Datum		values[7];
	bool		nulls[lengthof(values)] = {0};

	progress_get_totals(&totals);
	values[0] = Int64GetDatum(totals.loads);
	values[1] = Int64GetDatum(totals.chunks_loaded);
	values[2] = Int64GetDatum(totals.heap_bytes);
	values[3] = Int64GetDatum(totals.cached_bytes);
	values[4] = Int64GetDatum(totals.vacuums);
	values[5] = Int64GetDatum(totals.errors);
	values[6] = Int64GetDatum(wanted_count());
	put_row(result, values, nulls);
	return (Datum) 0;
}

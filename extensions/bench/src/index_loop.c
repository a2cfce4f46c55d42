/*-------------------------------------------------------------------------
 *
 * index_loop.c
 *	  index_lookup_loop(), index_random_lookup_loop(): lookups of an index
 *	  through its access method, without executor, planner and protocol.
 *
 * Any access method that returns entries one by one and searches by the
 * equality of its first column's type can be measured, and so be compared.
 *
 *-------------------------------------------------------------------------
 */
#include "loop.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg_compat.h"

PENUMBRA_SQL_FUNCTION(penumbra_bench_index_lookup_loop);
PENUMBRA_SQL_FUNCTION(penumbra_bench_index_random_lookup_loop);

#define RANDOM_KEYS_MAX 10000000

/* How much of an entry is fetched. */
typedef enum FetchKind
{
	FETCH_TID,					/* its place in the table */
	FETCH_TUPLE,				/* and what the index stores */
	FETCH_HEAP					/* and the visible row of the table */
} FetchKind;

typedef struct IndexLoop
{
	Relation	table;
	Relation	index;
	FetchKind	fetch;
} IndexLoop;

static FetchKind
get_fetch_kind(FunctionCallInfo fcinfo, int argument)
{
	char	   *name;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("kind of fetch must not be null")));
	name = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (strcmp(name, "tid") == 0)
		return FETCH_TID;
	if (strcmp(name, "tuple") == 0)
		return FETCH_TUPLE;
	if (strcmp(name, "heap") == 0)
		return FETCH_HEAP;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid kind of fetch: \"%s\"", name),
			 errhint("Available kinds are \"tid\", \"tuple\" and \"heap\".")));
}

static void
open_index(FunctionCallInfo fcinfo, IndexLoop *loop, FetchKind fetch)
{
	Oid			index_oid;
	Oid			table_oid;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("index must not be null")));
	index_oid = PG_GETARG_OID(0);
	/* The table first, as everybody locks them; not found means that it is no index. */
	table_oid = IndexGetRelation(index_oid, true);
	loop->table = OidIsValid(table_oid) ? table_open(table_oid, AccessShareLock) : NULL;
	loop->index = index_open(index_oid, AccessShareLock);
	loop->fetch = fetch;

	if (loop->index->rd_rel->relkind != RELKIND_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot search partitioned index \"%s\"",
						RelationGetRelationName(loop->index)),
				 errhint("Name the index of a partition.")));
	if (RELATION_IS_OTHER_TEMP(loop->index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!loop->index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(loop->index))));
	if (loop->index->rd_indam->amgettuple == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method of index \"%s\" does not return entries one by one",
						RelationGetRelationName(loop->index))));
	if (fetch == FETCH_TUPLE && !index_can_return(loop->index, 1))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" does not return what it stores",
						RelationGetRelationName(loop->index))));
}

/* A scan key "first column = value of this type"; the value comes later. */
static ScanKeyData
make_equality_key(Relation index, Oid key_type)
{
	Oid			family = index->rd_opfamily[0];
	Oid			column_type = index->rd_opcintype[0];
	TypeCacheEntry *entry = lookup_type_cache(column_type, TYPECACHE_EQ_OPR);
	int			strategy = 0;
	Oid			operator = InvalidOid;
	ScanKeyData key;

	if (IsBinaryCoercible(key_type, column_type))
		key_type = column_type;
	if (OidIsValid(entry->eq_opr))
		strategy = get_op_opfamily_strategy(entry->eq_opr, family);
	if (strategy != 0)
		operator = get_opfamily_member(family, column_type, key_type, (int16) strategy);
	if (!OidIsValid(operator))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("index \"%s\" cannot be searched by equality with keys of type %s",
						RelationGetRelationName(index), format_type_be(key_type)),
				 errdetail("Its first column has the type %s.", format_type_be(column_type))));
	ScanKeyEntryInitialize(&key, 0, 1, (StrategyNumber) strategy, key_type,
						   index->rd_indcollation[0], get_opcode(operator), (Datum) 0);
	return key;
}

static inline bool
fetch_next(const IndexLoop *loop, IndexScanDesc scan, TupleTableSlot *slot)
{
	if (loop->fetch == FETCH_HEAP)
		return index_getnext_slot(scan, ForwardScanDirection, slot);
	return index_getnext_tid(scan, ForwardScanDirection) != NULL;
}

/* The checksum covers TIDs, so it does not depend on what is fetched of the rows. */
static void
run_loop(const IndexLoop *loop, const LoopKeys *keys, LoopResult *result)
{
	ScanKeyData key = make_equality_key(loop->index, keys->type);
	TupleTableSlot *slot = table_slot_create(loop->table, NULL);
	IndexScanDesc scan = compat_index_beginscan(loop->table, loop->index, GetActiveSnapshot(), 1, 0);
	instr_time	start;

	scan->xs_want_itup = loop->fetch == FETCH_TUPLE;
	INSTR_TIME_SET_CURRENT(start);
	for (int64 i = 0; i < result->executions; i++)
	{
		key.sk_argument = loop_key(keys, i);
		index_rescan(scan, &key, 1, NULL, 0);
		CHECK_FOR_INTERRUPTS();
		while (fetch_next(loop, scan, slot))
		{
			result->checksum += hash_bytes_extended((unsigned char *) &scan->xs_heaptid,
													sizeof(ItemPointerData), 0);
			result->rows++;
			CHECK_FOR_INTERRUPTS();
		}
	}
	INSTR_TIME_SET_CURRENT(result->duration);
	INSTR_TIME_SUBTRACT(result->duration, start);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

static Datum
run_and_close(FunctionCallInfo fcinfo, IndexLoop *loop, const LoopKeys *keys)
{
	LoopResult	result = {.executions = loop_get_executions(fcinfo, 1), .is_read_only = true};

	run_loop(loop, keys, &result);
	index_close(loop->index, AccessShareLock);
	table_close(loop->table, AccessShareLock);
	return loop_make_result(fcinfo, &result);
}

/* A statement that gives somewhat more than COUNT first columns of the index, if it has so many. */
static char *
sample_statement(const IndexLoop *loop, int count, int64 seed)
{
	Oid			index_oid = RelationGetRelid(loop->index);
	double		rows = loop->table->rd_rel->reltuples;
	double		percent = rows > 0 ? Min(100.0, 100.0 * (1.2 * count + 1000) / rows) : 100.0;
	char	   *column;
	Datum		predicate;
	StringInfoData statement;
	bool		is_null;

	column = TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext, ObjectIdGetDatum(index_oid),
													 Int32GetDatum(1), BoolGetDatum(false)));
	predicate = SysCacheGetAttr(INDEXRELID, loop->index->rd_indextuple, Anum_pg_index_indpred,
								&is_null);
	initStringInfo(&statement);
	appendStringInfo(&statement,
					 "SELECT * FROM (SELECT %s FROM ONLY %s TABLESAMPLE BERNOULLI (%.17g)"
					 " REPEATABLE (" INT64_FORMAT ")",
					 column,
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(loop->table)),
												RelationGetRelationName(loop->table)),
					 percent, seed);
	if (!is_null)
		appendStringInfo(&statement, " WHERE %s",
						 TextDatumGetCString(DirectFunctionCall2(pg_get_expr, predicate,
																 ObjectIdGetDatum(RelationGetRelid(loop->table)))));
	appendStringInfoString(&statement, ") AS sample(key) WHERE key IS NOT NULL");
	return statement.data;
}

static void
shuffle(LoopKeys *keys, int64 seed)
{
	pg_prng_state state;

	pg_prng_seed(&state, (uint64) seed);
	for (int i = keys->count - 1; i > 0; i--)
	{
		int			other = (int) pg_prng_uint64_range(&state, 0, (uint64) i);
		Datum		value = keys->values[i];

		keys->values[i] = keys->values[other];
		keys->values[other] = value;
	}
}

/* Random keys that the index has, in random order: the same for the same seed and table. */
static LoopKeys
sample_keys(const IndexLoop *loop, int count, int64 seed)
{
	MemoryContext context = CurrentMemoryContext;
	char	   *statement = sample_statement(loop, count, seed);
	LoopKeys	keys;
	Form_pg_attribute attribute;

	SPI_connect();
	if (SPI_execute(statement, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "sample of \"%s\" failed", RelationGetRelationName(loop->index));
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("index \"%s\" has no keys", RelationGetRelationName(loop->index))));
	attribute = TupleDescAttr(SPI_tuptable->tupdesc, 0);
	keys.type = attribute->atttypid;
	keys.count = (int) SPI_processed;
	keys.values = MemoryContextAllocHuge(context, keys.count * sizeof(Datum));
	for (int i = 0; i < keys.count; i++)
	{
		bool		is_null;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null);
		MemoryContext previous;

		/* Out of line is no place for a key that is compared in a loop. */
		if (attribute->attlen == -1)
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		previous = MemoryContextSwitchTo(context);
		keys.values[i] = datumCopy(value, attribute->attbyval, attribute->attlen);
		MemoryContextSwitchTo(previous);
		CHECK_FOR_INTERRUPTS();
	}
	SPI_finish();
	shuffle(&keys, seed);
	keys.count = Min(keys.count, count);
	return keys;
}

Datum
penumbra_bench_index_lookup_loop(PG_FUNCTION_ARGS)
{
	IndexLoop	loop;
	LoopKeys	keys;

	loop_check_superuser();
	keys = loop_get_keys(fcinfo, 2);
	open_index(fcinfo, &loop, get_fetch_kind(fcinfo, 3));
	return run_and_close(fcinfo, &loop, &keys);
}

Datum
penumbra_bench_index_random_lookup_loop(PG_FUNCTION_ARGS)
{
	IndexLoop	loop;
	LoopKeys	keys;

	loop_check_superuser();
	if (PG_ARGISNULL(2) || PG_ARGISNULL(4))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("number of keys and seed must not be null")));
	if (PG_GETARG_INT32(2) < 1 || PG_GETARG_INT32(2) > RANDOM_KEYS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of keys must be between 1 and %d", RANDOM_KEYS_MAX)));
	open_index(fcinfo, &loop, get_fetch_kind(fcinfo, 3));
	keys = sample_keys(&loop, PG_GETARG_INT32(2), PG_GETARG_INT64(4));
	return run_and_close(fcinfo, &loop, &keys);
}

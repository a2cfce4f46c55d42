/*-------------------------------------------------------------------------
 *
 * drop.c
 *	  drop_dictionary(): a dictionary goes when nothing that is stored uses it.
 *
 *	  The proof has two parts.  Nothing outside of tables has a value: no other
 *	  session is in the database, none can come before the end of the
 *	  transaction, and there is no prepared transaction; this session runs
 *	  nothing but this statement and has no held cursor, and its plans are made
 *	  anew.  So what a snapshot of now sees is all that anybody can read again,
 *	  and dictionary_uses() looks at all of it.  What is left are keys of
 *	  removed rows within indexes: those are built anew.
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "dictionary.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "train.h"
#include "type_pair.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#include "utils/plancache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

PENUMBRA_SQL_FUNCTION(stored_with_dictionary);
PENUMBRA_SQL_FUNCTION(drop_dictionary);

typedef struct Search
{
	uint32		dictionary_id;
	Oid			schema;			/* of the compressed types */
} Search;

static bool holds_dictionary(Datum value, Oid type, const Search *search);

static bool
array_holds(Datum value, const Search *search)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	Datum		element;
	bool		is_null;
	bool		holds = false;

	while (!holds && array_iterate(iterator, &element, &is_null))
		holds = !is_null && holds_dictionary(element, ARR_ELEMTYPE(array), search);
	array_free_iterator(iterator);
	return holds;
}

static bool
row_holds(Datum value, const Search *search)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(value);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
											  HeapTupleHeaderGetTypMod(row));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row), .t_data = row};
	bool		holds = false;

	for (int i = 0; i < desc->natts && !holds; i++)
	{
		bool		is_null;
		Datum		attribute = heap_getattr(&tuple, i + 1, desc, &is_null);

		holds = !is_null && !TupleDescAttr(desc, i)->attisdropped &&
			holds_dictionary(attribute, TupleDescAttr(desc, i)->atttypid, search);
	}
	ReleaseTupleDesc(desc);
	return holds;
}

static bool
range_holds(const RangeType *range, const Search *search)
{
	TypeCacheEntry *entry = lookup_type_cache(RangeTypeGetOid(range), TYPECACHE_RANGE_INFO);
	Oid			bound = entry->rngelemtype->type_id;
	RangeBound	lower;
	RangeBound	upper;
	bool		is_empty;

	range_deserialize(entry, range, &lower, &upper, &is_empty);
	return !is_empty && ((!lower.infinite && holds_dictionary(lower.val, bound, search)) ||
						 (!upper.infinite && holds_dictionary(upper.val, bound, search)));
}

static bool
multirange_holds(const MultirangeType *multirange, const Search *search)
{
	TypeCacheEntry *entry = lookup_type_cache(MultirangeTypeGetOid(multirange),
											  TYPECACHE_MULTIRANGE_INFO);
	RangeType **ranges;
	int32		count;

	multirange_deserialize(entry->rngtype, multirange, &count, &ranges);
	for (int i = 0; i < count; i++)
		if (range_holds(ranges[i], search))
			return true;
	return false;
}

/* Whether a value of the dictionary is in this one, however deep. */
static bool
holds_dictionary(Datum value, Oid type, const Search *search)
{
	bool		is_plain;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	type = getBaseType(type);
	if (compressed_type_name(type, search->schema, &is_plain) != NULL && !is_plain)
	{
		OpenValue	opened;
		uint32		dictionary_id;

		value_open_header(value, &opened);
		dictionary_id = opened.header.dictionary_id;
		value_close(&opened);
		return dictionary_id == search->dictionary_id;
	}
	if (type == ANYARRAYOID || OidIsValid(get_element_type(type)))
		return array_holds(value, search);
	switch (get_typtype(type))
	{
		case TYPTYPE_COMPOSITE:
			return row_holds(value, search);
		case TYPTYPE_RANGE:
			return range_holds(DatumGetRangeTypeP(value), search);
		case TYPTYPE_MULTIRANGE:
			return multirange_holds(DatumGetMultirangeTypeP(value), search);
		default:
			return false;
	}
}

Datum
stored_with_dictionary(PG_FUNCTION_ARGS)
{
	Search	   *search = fcinfo->flinfo->fn_extra;

	if (search == NULL)
	{
		search = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(Search));
		search->schema = catalog_schema();
		fcinfo->flinfo->fn_extra = search;
	}
	search->dictionary_id = PG_GETARG_INT64(1);
	PG_RETURN_BOOL(holds_dictionary(PG_GETARG_DATUM(0), get_fn_expr_argtype(fcinfo->flinfo, 0),
									search));
}

/* Values in memory: nobody but this statement can have any, until the end of the transaction. */
static void
require_nobody_else(FunctionCallInfo fcinfo)
{
	const CallContext *call = (const CallContext *) fcinfo->context;
	int			sessions;
	int			prepared;

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to drop a compression dictionary")));
	/* a transaction block, function or procedure around this could have a value of its own */
	if (call == NULL || !IsA(call, CallContext) || call->atomic || SPI_inside_nonatomic_context())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("drop_dictionary() must be a statement and a transaction of its own")));
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("drop_dictionary() must run at isolation level READ COMMITTED")));
	/* a new session takes this lock while it starts */
	LockSharedObject(DatabaseRelationId, MyDatabaseId, 0, AccessExclusiveLock);
	if (CountOtherDBBackends(MyDatabaseId, &sessions, &prepared))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("database \"%s\" is being accessed by others",
						get_database_name(MyDatabaseId)),
				 errdetail("There are %d other sessions and %d prepared transactions.", sessions,
						   prepared),
				 errhint("They may hold values that need the dictionary.")));
}

static void
execute_on_name(const char *function, Datum name)
{
	Oid			type = TEXTOID;
	const char *schema = quote_identifier(get_namespace_name(catalog_schema()));

	SPI_execute_with_args(psprintf("SELECT %s.%s($1)", schema, function), 1, &type, &name, NULL,
						  false, 0);
}

/*
 * The trigger of "compression_dictionaries" lets a row be deleted only while
 * dictionary_is_unused is set, which is done here after the proof.
 */
Datum
drop_dictionary(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("name of a compression dictionary must not be null")));
	require_nobody_else(fcinfo);
	SPI_connect();
	execute_on_name("prove_dictionary_unused", PG_GETARG_DATUM(0));
	dictionary_is_unused = true;
	PG_TRY();
	{
		execute_on_name("delete_dictionary", PG_GETARG_DATUM(0));
	}
	PG_FINALLY();
	{
		dictionary_is_unused = false;
	}
	PG_END_TRY();
	SPI_finish();
	dictionary_forget_numbers();
	ResetPlanCache();
	PG_RETURN_VOID();
}

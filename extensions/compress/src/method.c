/*-------------------------------------------------------------------------
 *
 * method.c
 *	  The registry of methods.  See method.h.
 *
 *	  Methods of other extensions are rows of the table "registered_compression_methods", which are
 *	  not dumped: the script of the extension makes them anew.  A row has the
 *	  library and the symbol of the handler, not its OID, so that reading a
 *	  value needs no catalog but this table, and pg_upgrade can carry it over.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include "access/htup_details.h"
#include "catalog.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "value.h"

PENUMBRA_SQL_FUNCTION(create_compression_method);
PENUMBRA_SQL_FUNCTION(built_in_compression_methods);
PENUMBRA_SQL_FUNCTION(compression_method_options);

/* A row of "registered_compression_methods" */
typedef struct MethodRow
{
	uint32		id;
	char	   *name;
	char	   *library;
	char	   *symbol;
} MethodRow;

/* CompressionMethods of other extensions, by id; never removed, as their libraries are not. */
static HTAB *custom_methods = NULL;

uint32
method_custom_id(const char *name)
{
	uint32		hash = hash_bytes((const unsigned char *) name, strlen(name));

	return METHOD_ID_FIRST_CUSTOM + hash % (METHOD_ID_MAX + 1 - METHOD_ID_FIRST_CUSTOM);
}

static void
copy_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	MethodRow  *row = arg;
	bool		is_null;

	row->id = DatumGetInt64(heap_getattr(tuple, Anum_methods_id, desc, &is_null));
	row->name = TextDatumGetCString(heap_getattr(tuple, Anum_methods_name, desc, &is_null));
	row->library = TextDatumGetCString(heap_getattr(tuple, Anum_methods_library, desc, &is_null));
	row->symbol = TextDatumGetCString(heap_getattr(tuple, Anum_methods_symbol, desc, &is_null));
}

static void
check_routine(const char *name, const CompressionRoutine *routine)
{
	if (routine == NULL || routine->version != PENUMBRA_COMPRESSION_VERSION ||
		routine->size != sizeof(CompressionRoutine))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("compression method \"%s\" was built for another version of the interface",
						name),
				 errdetail("The version is %u of %u bytes, supported is %u of %zu bytes.",
						   routine != NULL ? routine->version : 0,
						   routine != NULL ? routine->size : 0,
						   PENUMBRA_COMPRESSION_VERSION, sizeof(CompressionRoutine))));
	if (routine->cmcompress == NULL || routine->cmdecompress == NULL ||
		routine->min_level < PENUMBRA_MIN_LEVEL || routine->max_level > PENUMBRA_MAX_LEVEL ||
		routine->default_level < routine->min_level || routine->default_level > routine->max_level)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("compression method \"%s\" has an invalid definition", name)));
}

/* Any error of loading is reported as a method that is not available: its library may be gone while its values stay. */
static const CompressionRoutine *
load_routine(const MethodRow *row)
{
	MemoryContext caller = CurrentMemoryContext;
	PGFunction	volatile handler = NULL;
	const CompressionRoutine *routine;

	PG_TRY();
	{
		handler = load_external_function(row->library, row->symbol, true, NULL);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("compression method \"%s\" is not available", row->name),
				 errdetail_internal("%s", error->message),
				 errhint("Install the extension that the method came with.")));
	}
	PG_END_TRY();

	routine = (const CompressionRoutine *)
		DatumGetPointer(DirectFunctionCall1(handler, PointerGetDatum(NULL)));
	check_routine(row->name, routine);
	return routine;
}

static const CompressionMethod *
remember_method(const MethodRow *row)
{
	const CompressionRoutine *routine = load_routine(row);
	CompressionMethod *method;

	if (custom_methods == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(CompressionMethod)};

		custom_methods = hash_create("compression methods", 16, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	method = hash_search(custom_methods, &row->id, HASH_ENTER, NULL);
	method->routine = routine;
	strlcpy(method->name, row->name, NAMEDATALEN);
	return method;
}

/* The first ids are the indexes of built-in methods. Others are looked up in the catalog once per backend. */
const CompressionMethod *
method_by_id(uint32 id)
{
	const CompressionMethod *method = NULL;
	MethodRow	row;

	if (id < lengthof(builtin_methods))
		return &builtin_methods[id];
	if (custom_methods != NULL)
		method = hash_search(custom_methods, &id, HASH_FIND, NULL);
	if (method == NULL)
	{
		if (!catalog_find("registered_compression_methods", Anum_methods_id, Int64GetDatum(id), INT8OID, copy_row, &row))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("compression method with id %u does not exist", id),
					 errhint("Create the extension that the method came with.")));
		method = remember_method(&row);
	}
	return method;
}

const CompressionMethod *
method_by_name(const char *name)
{
	MethodRow	row;

	for (int i = 0; i < lengthof(builtin_methods); i++)
		if (strcmp(builtin_methods[i].name, name) == 0)
			return &builtin_methods[i];
	if (catalog_find("registered_compression_methods", Anum_methods_name, CStringGetTextDatum(name), TEXTOID,
					 copy_row, &row))
		return remember_method(&row);
	return NULL;
}

/*
 * Returns NULL if the method's extension or library is missing or was built for
 * another version of the interface. Other errors are passed on.
 */
const CompressionRoutine *
method_available_routine(uint32 id)
{
	MemoryContext caller = CurrentMemoryContext;
	const CompressionRoutine *volatile routine = NULL;

	if (id < lengthof(builtin_methods))
		return builtin_methods[id].routine;
	PG_TRY();
	{
		routine = method_by_id(id)->routine;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		if (geterrcode() != ERRCODE_UNDEFINED_FILE && geterrcode() != ERRCODE_UNDEFINED_OBJECT &&
			geterrcode() != ERRCODE_FEATURE_NOT_SUPPORTED)
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	return routine;
}

void
method_name(uint32 id, char name[NAMEDATALEN])
{
	MethodRow	row;

	if (id < lengthof(builtin_methods))
		strlcpy(name, builtin_methods[id].name, NAMEDATALEN);
	else if (catalog_find("registered_compression_methods", Anum_methods_id, Int64GetDatum(id), INT8OID, copy_row, &row))
		strlcpy(name, row.name, NAMEDATALEN);
	else
		snprintf(name, NAMEDATALEN, "%u", id);
}

/* The C function of that name, as a row. */
static MethodRow
handler_row(text *handler_name)
{
	Oid			argument = INTERNALOID;
	Oid			oid = LookupFuncName(compat_qualified_name_list(text_to_cstring(handler_name)),
									  1, &argument, false);
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	MethodRow	row = {0};
	Datum		value;
	bool		is_null;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", oid);
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang != ClanguageId ||
		((Form_pg_proc) GETSTRUCT(tuple))->prorettype != INTERNALOID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("function %s is not a handler of a compression method",
						text_to_cstring(handler_name)),
				 errdetail("A handler is a C function from internal to internal.")));
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &is_null);
	row.library = TextDatumGetCString(value);
	value = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
	row.symbol = TextDatumGetCString(value);
	ReleaseSysCache(tuple);
	return row;
}

static void
insert_row(const MethodRow *row)
{
	Oid			types[] = {INT8OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID};
	Datum		values[] = {
		Int64GetDatum(row->id), CStringGetTextDatum(row->name),
		CStringGetTextDatum(row->library), CStringGetTextDatum(row->symbol),
		CStringGetTextDatum(get_extension_name(CurrentExtensionObject))
	};
	char	   *table = quote_qualified_identifier(get_namespace_name(catalog_schema()), "registered_compression_methods");

	/* What a dropped extension of the same name left, its next version replaces. */
	SPI_connect();
	SPI_execute_with_args(psprintf("DELETE FROM %s WHERE name = $2 AND extension = $5", table),
						  lengthof(types), types, values, NULL, false, 0);
	SPI_execute_with_args(psprintf("INSERT INTO %s VALUES ($1, $2, $3, $4, $5)", table),
						  lengthof(types), types, values, NULL, false, 0);
	SPI_finish();
}

static void
check_id_is_free(const MethodRow *row)
{
	MethodRow	other;

	if (catalog_find("registered_compression_methods", Anum_methods_id, Int64GetDatum(row->id), INT8OID,
					 copy_row, &other) && strcmp(other.name, row->name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("compression method \"%s\" has the id %u of method \"%s\"", row->name,
						row->id, other.name),
				 errhint("Pass another id, from %d to %d, as the third argument.",
						 METHOD_ID_FIRST_CUSTOM, METHOD_ID_MAX)));
}

/* Each compressed value has the id of its method. So the id follows from the name, unless the script gives one. */
Datum
create_compression_method(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	MethodRow	row;

	if (!creating_extension)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("compression methods are created by the script of an extension"),
				 errdetail("So they exist, with the same id, before a dump's tables are restored.")));
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to create a compression method")));
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN || strspn(name, "0123456789-") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name of a compression method: \"%s\"", name)));
	for (int i = 0; i < lengthof(builtin_methods); i++)
		if (strcmp(builtin_methods[i].name, name) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("compression method \"%s\" is built in", name)));

	row = handler_row(PG_GETARG_TEXT_PP(1));
	row.name = name;
	row.id = PG_NARGS() == 3 ? PG_GETARG_INT32(2) : method_custom_id(name);
	if (row.id < METHOD_ID_FIRST_CUSTOM || row.id > METHOD_ID_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("id of a compression method must be from %d to %d",
						METHOD_ID_FIRST_CUSTOM, METHOD_ID_MAX)));
	check_id_is_free(&row);
	check_routine(name, load_routine(&row));
	insert_row(&row);
	PG_RETURN_INT32(row.id);
}

/* Ids and names, for the view compression_methods */
Datum
built_in_compression_methods(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < lengthof(builtin_methods); i++)
	{
		Datum		values[] = {
			Int64GetDatum(builtin_methods[i].id), CStringGetTextDatum(builtin_methods[i].name)
		};
		bool		nulls[lengthof(values)] = {false};

		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

/* Levels and whether it takes dictionaries; NULLs of a method that is not available */
Datum
compression_method_options(PG_FUNCTION_ARGS)
{
	uint32		id = PG_GETARG_INT64(0);
	const CompressionRoutine *routine = method_available_routine(id);
	bool		has_levels = routine_has_levels(routine);
	Datum		values[4] = {0};
	bool		nulls[4] = {!has_levels, !has_levels, !has_levels, id != METHOD_NONE && routine == NULL};

	if (has_levels)
	{
		values[0] = Int32GetDatum(routine->min_level);
		values[1] = Int32GetDatum(routine->max_level);
		values[2] = Int32GetDatum(routine->default_level);
	}
	values[3] = BoolGetDatum(routine != NULL && routine->takes_dictionary);
	return make_row(fcinfo, values, nulls);
}

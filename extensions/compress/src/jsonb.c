/*-------------------------------------------------------------------------
 *
 * jsonb.c
 *	  compressed_jsonb: the binary form of jsonb, compressed.  Operators are
 *	  the server's functions on the cached decompressed value.
 *
 *-------------------------------------------------------------------------
 */
#include "compare.h"

#include "catalog/pg_type.h"
#include "input.h"
#include "nodes/nodeFuncs.h"
#include "nodes/subscripting.h"
#include "parser/parse_coerce.h"
#include "pg_compat.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "value_cache.h"

PENUMBRA_SQL_FUNCTION(compressed_jsonb_in);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_out);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_recv);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_send);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_from_jsonb);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_to_jsonb);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_to_json);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_concat);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_extract_path);
PENUMBRA_SQL_FUNCTION(compressed_jsonb_subscript_handler);
PENUMBRA_SQL_FUNCTION(gin_extract_compressed_jsonb);
PENUMBRA_SQL_FUNCTION(gin_extract_compressed_jsonb_path);

static Datum
input_jsonb(FunctionCallInfo fcinfo, Datum datum)
{
	struct varlena *raw = PG_DETOAST_DATUM(datum);

	return input_value(fcinfo, VARDATA(raw), VARSIZE(raw) - VARHDRSZ, false);
}

static Datum
cached_jsonb(FunctionCallInfo fcinfo, int argument)
{
	return PointerGetDatum(cached_value(PG_GETARG_DATUM(argument)));
}

Datum
compressed_jsonb_in(PG_FUNCTION_ARGS)
{
	return input_jsonb(fcinfo, DirectFunctionCall1(jsonb_in, PG_GETARG_DATUM(0)));
}

Datum
compressed_jsonb_out(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(jsonb_out, cached_jsonb(fcinfo, 0));
}

Datum
compressed_jsonb_recv(PG_FUNCTION_ARGS)
{
	return input_jsonb(fcinfo, DirectFunctionCall1(jsonb_recv, PG_GETARG_DATUM(0)));
}

Datum
compressed_jsonb_send(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(jsonb_send, cached_jsonb(fcinfo, 0));
}

Datum
compressed_jsonb_from_jsonb(PG_FUNCTION_ARGS)
{
	struct varlena *raw = PG_GETARG_VARLENA_PP(0);

	PG_RETURN_POINTER(value_compress(VARDATA_ANY(raw), VARSIZE_ANY_EXHDR(raw),
									 PG_GETARG_INT32(1), false));
}

/* The copy is the caller's; the cache serves the next cast of the same value. */
static Datum
copied_jsonb(FunctionCallInfo fcinfo, int argument)
{
	struct varlena *raw = cached_value(PG_GETARG_DATUM(argument));
	struct varlena *copy = palloc(VARSIZE(raw));

	memcpy(copy, raw, VARSIZE(raw));
	return PointerGetDatum(copy);
}

Datum
compressed_jsonb_to_jsonb(PG_FUNCTION_ARGS)
{
	return copied_jsonb(fcinfo, 0);
}

/* What makes JSON of any type (to_jsonb, row_to_json, json_agg, ...) looks for a cast to json. */
Datum
compressed_jsonb_to_json(PG_FUNCTION_ARGS)
{
	Datum		string = DirectFunctionCall1(jsonb_out, cached_jsonb(fcinfo, 0));

	PG_RETURN_TEXT_P(cstring_to_text(DatumGetCString(string)));
}

/* Of an empty document and another one, the server's function returns the other one itself. */
Datum
compressed_jsonb_concat(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall2(jsonb_concat, copied_jsonb(fcinfo, 0), copied_jsonb(fcinfo, 1));
}

/*
 * document['key'] reads as of jsonb: the subscripts are of the document's cast.
 * An assignment would give a jsonb back.
 */
static void
transform_subscripts(SubscriptingRef *reference, List *subscripts, ParseState *pstate,
					 bool is_slice, bool is_assignment)
{
	const SubscriptRoutines *routines = (const SubscriptRoutines *)
		DatumGetPointer(DirectFunctionCall1(jsonb_subscript_handler, (Datum) 0));
	Node	   *document = (Node *) reference->refexpr;

	if (is_assignment)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("elements of type %s cannot be assigned to",
						format_type_be(reference->refcontainertype)),
				 errhint("Use jsonb_set().")));
	reference->refexpr = (Expr *) coerce_to_target_type(pstate, document, exprType(document), JSONBOID,
														-1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	reference->refcontainertype = JSONBOID;
	reference->reftypmod = -1;
	routines->transform(reference, subscripts, pstate, is_slice, is_assignment);
}

/* The executor asks the handler of what is subscripted then, jsonb. */
Datum
compressed_jsonb_subscript_handler(PG_FUNCTION_ARGS)
{
	static const SubscriptRoutines routines = {.transform = transform_subscripts};

	PG_RETURN_POINTER(&routines);
}

/* Their results are new; they refer to the document while they run. */
FUNCTION_ON_CACHED(compressed_jsonb_object_field, jsonb_object_field)
FUNCTION_ON_CACHED(compressed_jsonb_object_field_text, jsonb_object_field_text)
FUNCTION_ON_CACHED(compressed_jsonb_array_element, jsonb_array_element)
FUNCTION_ON_CACHED(compressed_jsonb_array_element_text, jsonb_array_element_text)
FUNCTION_ON_CACHED(compressed_jsonb_extract_path_text, jsonb_extract_path_text)
FUNCTION_ON_CACHED(compressed_jsonb_contains, jsonb_contains)
FUNCTION_ON_CACHED(compressed_jsonb_contained, jsonb_contained)
FUNCTION_ON_CACHED(compressed_jsonb_exists, jsonb_exists)
FUNCTION_ON_CACHED(compressed_jsonb_exists_any, jsonb_exists_any)
FUNCTION_ON_CACHED(compressed_jsonb_exists_all, jsonb_exists_all)
FUNCTION_ON_CACHED(compressed_jsonb_path_exists, jsonb_path_exists_opr)
FUNCTION_ON_CACHED(compressed_jsonb_path_match, jsonb_path_match_opr)
FUNCTION_ON_CACHED(compressed_jsonb_typeof, jsonb_typeof)
FUNCTION_ON_CACHED(compressed_jsonb_to_bool, jsonb_bool)
FUNCTION_ON_CACHED(compressed_jsonb_to_numeric, jsonb_numeric)
FUNCTION_ON_CACHED(compressed_jsonb_to_int2, jsonb_int2)
FUNCTION_ON_CACHED(compressed_jsonb_to_int4, jsonb_int4)
FUNCTION_ON_CACHED(compressed_jsonb_to_int8, jsonb_int8)
FUNCTION_ON_CACHED(compressed_jsonb_to_float4, jsonb_float4)
FUNCTION_ON_CACHED(compressed_jsonb_to_float8, jsonb_float8)

/* An empty path gives the document itself. */
Datum
compressed_jsonb_extract_path(PG_FUNCTION_ARGS)
{
	Datum		result = call_on_cached(fcinfo, jsonb_extract_path);

	return !fcinfo->isnull && result == cached_jsonb(fcinfo, 0) ? copied_jsonb(fcinfo, 0) : result;
}

/* Comparisons: of values, as numbers that are written differently are equal. */

static int
compare_documents(Datum left, Datum right)
{
	return DatumGetInt32(DirectFunctionCall2(jsonb_cmp, left, right));
}

static int
jsonb_compare(FunctionCallInfo fcinfo)
{
	return compare_documents(cached_jsonb(fcinfo, 0), cached_jsonb(fcinfo, 1));
}

static int
jsonb_compare_plain(FunctionCallInfo fcinfo)
{
	return compare_documents(cached_jsonb(fcinfo, 0), PG_GETARG_DATUM(1));
}

static int
plain_compare_jsonb(FunctionCallInfo fcinfo)
{
	return compare_documents(PG_GETARG_DATUM(0), cached_jsonb(fcinfo, 1));
}

static bool
jsonb_equal(FunctionCallInfo fcinfo)
{
	return compressed_equals_compressed(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) ||
		jsonb_compare(fcinfo) == 0;
}

static bool
jsonb_equal_plain(FunctionCallInfo fcinfo)
{
	return jsonb_compare_plain(fcinfo) == 0;
}

static bool
plain_equal_jsonb(FunctionCallInfo fcinfo)
{
	return plain_compare_jsonb(fcinfo) == 0;
}

COMPARISON_FUNCTIONS(compressed_jsonb, jsonb_compare, jsonb_equal)
COMPARISON_FUNCTIONS(compressed_jsonb_jsonb, jsonb_compare_plain, jsonb_equal_plain)
COMPARISON_FUNCTIONS(jsonb_compressed_jsonb, plain_compare_jsonb, plain_equal_jsonb)

COMPARISON_FUNCTION(compressed_jsonb_hash, , Datum, call_on_cached(fcinfo, jsonb_hash))
COMPARISON_FUNCTION(compressed_jsonb_hash_extended, , Datum, call_on_cached(fcinfo, jsonb_hash_extended))

/*
 * GIN: the entries of the document, by the server's functions.  They refer to
 * the document until the row is inserted, hence a copy.
 */
Datum
gin_extract_compressed_jsonb(PG_FUNCTION_ARGS)
{
	fcinfo->args[0].value = compressed_jsonb_to_jsonb(fcinfo);
	return gin_extract_jsonb(fcinfo);
}

Datum
gin_extract_compressed_jsonb_path(PG_FUNCTION_ARGS)
{
	fcinfo->args[0].value = compressed_jsonb_to_jsonb(fcinfo);
	return gin_extract_jsonb_path(fcinfo);
}

/*-------------------------------------------------------------------------
 *
 * bytea.c
 *	  compressed_bytea: input, output, casts, functions, comparisons.
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "input.h"
#include "pg_compat.h"
#include "utils/builtins.h"
#include "value_cache.h"

PENUMBRA_SQL_FUNCTION(compressed_bytea_in);
PENUMBRA_SQL_FUNCTION(compressed_bytea_out);
PENUMBRA_SQL_FUNCTION(compressed_bytea_recv);
PENUMBRA_SQL_FUNCTION(compressed_bytea_send);
PENUMBRA_SQL_FUNCTION(compressed_bytea_from_bytea);
PENUMBRA_SQL_FUNCTION(compressed_bytea_to_bytea);
PENUMBRA_SQL_FUNCTION(compressed_bytea_substring);
PENUMBRA_SQL_FUNCTION(compressed_bytea_concat);

static Datum
input_bytea(FunctionCallInfo fcinfo, Datum datum)
{
	bytea	   *raw = DatumGetByteaP(datum);

	return input_value(fcinfo, VARDATA(raw), VARSIZE(raw) - VARHDRSZ, false);
}

Datum
compressed_bytea_in(PG_FUNCTION_ARGS)
{
	return input_bytea(fcinfo, DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
}

Datum
compressed_bytea_out(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(byteaout, PointerGetDatum(value_decompress(PG_GETARG_DATUM(0))));
}

Datum
compressed_bytea_recv(PG_FUNCTION_ARGS)
{
	return input_bytea(fcinfo, DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0)));
}

Datum
compressed_bytea_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(value_decompress(PG_GETARG_DATUM(0)));
}

Datum
compressed_bytea_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *raw = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_POINTER(value_compress(VARDATA_ANY(raw), VARSIZE_ANY_EXHDR(raw),
									 PG_GETARG_INT32(1), false));
}

Datum
compressed_bytea_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(value_decompress(PG_GETARG_DATUM(0)));
}

Datum
compressed_bytea_substring(PG_FUNCTION_ARGS)
{
	uint32		begin;
	uint32		end;
	OpenValue	value;
	bytea	   *slice;

	substring_bounds(fcinfo, &begin, &end);
	value_open_header(PG_GETARG_DATUM(0), &value);
	begin = Min(begin, value.header.raw_bytes);
	end = Min(end, value.header.raw_bytes);
	slice = palloc(VARHDRSZ + end - begin);
	value_read_slice(&value, begin, end - begin, VARDATA(slice));
	SET_VARSIZE(slice, VARHDRSZ + end - begin);
	PG_RETURN_BYTEA_P(slice);
}

Datum
compressed_bytea_concat(PG_FUNCTION_ARGS)
{
	struct varlena *left = cached_value(PG_GETARG_DATUM(0));
	struct varlena *right = cached_value(PG_GETARG_DATUM(1));

	return DirectFunctionCall2(byteacat, PointerGetDatum(left), PointerGetDatum(right));
}

/*-------------------------------------------------------------------------
 *
 * text.c
 *	  compressed_text: input, output, casts, and functions that need not
 *	  decompress all of a value.
 *
 *-------------------------------------------------------------------------
 */
#include "compare.h"

#include "input.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "pg_compat.h"
#include "utils/builtins.h"
#include "value_cache.h"

PENUMBRA_SQL_FUNCTION(compressed_text_in);
PENUMBRA_SQL_FUNCTION(compressed_text_out);
PENUMBRA_SQL_FUNCTION(compressed_text_recv);
PENUMBRA_SQL_FUNCTION(compressed_text_send);
PENUMBRA_SQL_FUNCTION(compressed_text_from_text);
PENUMBRA_SQL_FUNCTION(compressed_text_to_text);
PENUMBRA_SQL_FUNCTION(compressed_text_length);
PENUMBRA_SQL_FUNCTION(compressed_text_substring);
PENUMBRA_SQL_FUNCTION(compressed_text_left);
PENUMBRA_SQL_FUNCTION(compressed_text_starts_with);
PENUMBRA_SQL_FUNCTION(compressed_text_concat);
PENUMBRA_SQL_FUNCTION(compressed_text_concat_text);
PENUMBRA_SQL_FUNCTION(text_concat_compressed_text);

Datum
compressed_text_in(PG_FUNCTION_ARGS)
{
	char	   *string = PG_GETARG_CSTRING(0);

	return input_value(fcinfo, string, strlen(string), true);
}

Datum
compressed_text_out(PG_FUNCTION_ARGS)
{
	OpenValue	value;
	char	   *string;

	value_open(PG_GETARG_DATUM(0), &value);
	string = palloc((Size) value.header.raw_bytes + 1);
	value_read(&value, string);
	string[value.header.raw_bytes] = '\0';
	value_close(&value);
	PG_RETURN_CSTRING(string);
}

Datum
compressed_text_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	int			bytes;
	char	   *string = pq_getmsgtext(buffer, buffer->len - buffer->cursor, &bytes);

	return input_value(fcinfo, string, bytes, true);
}

Datum
compressed_text_send(PG_FUNCTION_ARGS)
{
	struct varlena *raw = value_decompress(PG_GETARG_DATUM(0));
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendtext(&buffer, VARDATA(raw), VARSIZE(raw) - VARHDRSZ);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

Datum
compressed_text_from_text(PG_FUNCTION_ARGS)
{
	text	   *raw = PG_GETARG_TEXT_PP(0);

	PG_RETURN_POINTER(value_compress(VARDATA_ANY(raw), VARSIZE_ANY_EXHDR(raw),
									 PG_GETARG_INT32(1), true));
}

Datum
compressed_text_to_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(value_decompress(PG_GETARG_DATUM(0)));
}

Datum
compressed_text_length(PG_FUNCTION_ARGS)
{
	OpenValue	value;

	value_open_header(PG_GETARG_DATUM(0), &value);
	PG_RETURN_INT32(value.header.raw_bytes - value.header.continuation_bytes);
}

/* The first characters, at least so many of them; whole ones. */
static text *
read_prefix(const OpenValue *value, uint32 characters)
{
	Size		limit = value->header.raw_bytes;
	text	   *prefix;

	if (characters < limit / pg_database_encoding_max_length())
		limit = (Size) characters * pg_database_encoding_max_length();
	prefix = palloc(VARHDRSZ + limit);
	value_read_slice(value, 0, limit, VARDATA(prefix));
	if (limit < value->header.raw_bytes)
		limit = pg_mbcliplen(VARDATA(prefix), limit, limit);
	SET_VARSIZE(prefix, VARHDRSZ + limit);
	return prefix;
}

static text *
read_bytes(const OpenValue *value, uint32 begin, uint32 end)
{
	text	   *slice;

	begin = Min(begin, value->header.raw_bytes);
	end = Min(Max(begin, end), value->header.raw_bytes);
	slice = palloc(VARHDRSZ + end - begin);
	value_read_slice(value, begin, end - begin, VARDATA(slice));
	SET_VARSIZE(slice, VARHDRSZ + end - begin);
	return slice;
}

/*
 * substring(value, start [, length]), as of text.  Characters of one byte are
 * where their numbers say; else what stands before them has to be read.
 */
Datum
compressed_text_substring(PG_FUNCTION_ARGS)
{
	uint32		begin;
	uint32		end;
	OpenValue	value;
	text	   *prefix;

	substring_bounds(fcinfo, &begin, &end);
	value_open_header(PG_GETARG_DATUM(0), &value);
	if (value.header.continuation_bytes == 0)
		PG_RETURN_TEXT_P(read_bytes(&value, begin, end));
	prefix = read_prefix(&value, end);
	PG_RETURN_DATUM(DirectFunctionCall3(text_substr, PointerGetDatum(prefix),
										Int32GetDatum(begin + 1), Int32GetDatum(end - begin)));
}

Datum
compressed_text_left(PG_FUNCTION_ARGS)
{
	int32		characters = PG_GETARG_INT32(1);
	OpenValue	value;
	text	   *prefix;

	value_open_header(PG_GETARG_DATUM(0), &value);
	if (characters < 0)
	{
		int64		all = value.header.raw_bytes - value.header.continuation_bytes;

		characters = Max(all + characters, 0);
	}
	if (value.header.continuation_bytes == 0)
		PG_RETURN_TEXT_P(read_bytes(&value, 0, characters));
	prefix = read_prefix(&value, characters);
	PG_RETURN_DATUM(DirectFunctionCall2(text_left, PointerGetDatum(prefix),
										Int32GetDatum(characters)));
}

/* starts_with(value, text) compares bytes, where the collation lets it. */
Datum
compressed_text_starts_with(PG_FUNCTION_ARGS)
{
	text	   *wanted = PG_GETARG_TEXT_PP(1);
	Size		bytes = VARSIZE_ANY_EXHDR(wanted);
	OpenValue	value;
	char	   *prefix;

	if (!is_deterministic(PG_GET_COLLATION()))
		return call_on_cached(fcinfo, text_starts_with);
	value_open_header(PG_GETARG_DATUM(0), &value);
	if (bytes > value.header.raw_bytes)
		PG_RETURN_BOOL(false);
	prefix = palloc(bytes);
	value_read_slice(&value, 0, bytes, prefix);
	PG_RETURN_BOOL(memcmp(prefix, VARDATA_ANY(wanted), bytes) == 0);
}

Datum
compressed_text_concat(PG_FUNCTION_ARGS)
{
	struct varlena *left = cached_value(PG_GETARG_DATUM(0));
	struct varlena *right = cached_value(PG_GETARG_DATUM(1));

	return DirectFunctionCall2(textcat, PointerGetDatum(left), PointerGetDatum(right));
}

Datum
compressed_text_concat_text(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall2(textcat, PointerGetDatum(cached_value(PG_GETARG_DATUM(0))),
							   PG_GETARG_DATUM(1));
}

Datum
text_concat_compressed_text(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall2(textcat, PG_GETARG_DATUM(0),
							   PointerGetDatum(cached_value(PG_GETARG_DATUM(1))));
}

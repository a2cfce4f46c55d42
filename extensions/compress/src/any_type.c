/*-------------------------------------------------------------------------
 *
 * any_type.c
 *	  What the three types share: length in bytes, bounds of substrings, and
 *	  the cast of a type to itself with another type modifier.
 *
 *	  That cast makes literals and expressions that are stored in a column obey the
 *	  column's modifier.  A column that is read is left as it is: its values
 *	  are readable everywhere, so ALTER TABLE ... TYPE compressed_text(zlib)
 *	  rewrites nothing and INSERT ... SELECT copies values.
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "pg_compat.h"
#include "waiting.h"

PENUMBRA_SQL_FUNCTION(compressed_octet_length);
PENUMBRA_SQL_FUNCTION(compressed_text_coerce);
PENUMBRA_SQL_FUNCTION(compressed_bytes_coerce);
PENUMBRA_SQL_FUNCTION(compression_coerce_support);

Datum
compressed_octet_length(PG_FUNCTION_ARGS)
{
	OpenValue	value;

	value_open_header(PG_GETARG_DATUM(0), &value);
	PG_RETURN_INT32(value.header.raw_bytes);
}

void
substring_bounds(FunctionCallInfo fcinfo, uint32 *begin, uint32 *end)
{
	int32		start = PG_GETARG_INT32(1);
	int32		beyond = PG_INT32_MAX;

	if (PG_NARGS() == 3)
	{
		int32		length = PG_GETARG_INT32(2);

		if (length < 0)
			ereport(ERROR,
					(errcode(ERRCODE_SUBSTRING_ERROR),
					 errmsg("negative substring length not allowed")));
		if (pg_add_s32_overflow(start, length, &beyond))
			beyond = PG_INT32_MAX;
	}
	*begin = Max(start, 1) - 1;
	*end = Max(*begin, Max(beyond, 1) - 1);
}

static bool
is_on_target(Datum datum, int32 typmod)
{
	CompressionTarget target = typmod_target(typmod);
	OpenValue	value;
	bool		matches;

	value_open_header(datum, &value);
	matches = value_has_target(&value.header, &target);
	value_close(&value);
	return matches;
}

static Datum
coerce(FunctionCallInfo fcinfo, bool is_text)
{
	Datum		datum = PG_GETARG_DATUM(0);
	int32		typmod = PG_GETARG_INT32(1);
	const char *raw;
	Size		bytes;

	if (typmod < 0)
		PG_RETURN_DATUM(datum);
	if (value_waits(datum, &raw, &bytes))
		PG_RETURN_POINTER(value_compress(raw, bytes, typmod, is_text));
	if (is_on_target(datum, typmod))
		PG_RETURN_DATUM(datum);
	PG_RETURN_DATUM(value_recompress(datum, typmod, is_text));
}

Datum
compressed_text_coerce(PG_FUNCTION_ARGS)
{
	return coerce(fcinfo, true);
}

Datum
compressed_bytes_coerce(PG_FUNCTION_ARGS)
{
	return coerce(fcinfo, false);
}

Datum
compression_coerce_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;

	if (IsA(request, SupportRequestSimplify))
	{
		FuncExpr   *call = ((SupportRequestSimplify *) request)->fcall;
		Node	   *source = linitial(call->args);
		Node	   *typmod = lsecond(call->args);

		if (IsA(source, Var) && IsA(typmod, Const) && !((Const *) typmod)->constisnull)
			result = applyRelabelType(source, exprType(source),
									  DatumGetInt32(((Const *) typmod)->constvalue),
									  exprCollation(source), COERCE_IMPLICIT_CAST, -1, false);
	}
	PG_RETURN_POINTER(result);
}

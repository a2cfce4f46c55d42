/*-------------------------------------------------------------------------
 *
 * recompress.c
 *	  A value as a column's type modifier wants it, for procedure recompress().
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "pg_compat.h"

PENUMBRA_SQL_FUNCTION(recompressed_text);
PENUMBRA_SQL_FUNCTION(recompressed_bytes);

/* NULL: the value can stay. */
static Datum
recompressed(FunctionCallInfo fcinfo, bool is_text)
{
	Datum		datum = PG_GETARG_DATUM(0);
	int32		typmod = PG_GETARG_INT32(1);
	bool		force = PG_GETARG_BOOL(2);
	CompressionTarget target = typmod_target(typmod);
	OpenValue	value;
	OpenValue	made;
	Datum		result;

	value_open_header(datum, &value);
	if (!force && value_has_target(&value.header, &target))
		PG_RETURN_NULL();
	result = value_recompress(datum, typmod, is_text);
	value_open(result, &made);
	/* the wanted method gains nothing */
	if (value.header.flags & made.header.flags & VALUE_IS_RAW)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result);
}

Datum
recompressed_text(PG_FUNCTION_ARGS)
{
	return recompressed(fcinfo, true);
}

Datum
recompressed_bytes(PG_FUNCTION_ARGS)
{
	return recompressed(fcinfo, false);
}

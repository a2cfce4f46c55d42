/*-------------------------------------------------------------------------
 *
 * recompress.c
 *	  A value as a column's type modifier wants it, for procedure recompress().
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "dictionary.h"
#include "pg_compat.h"

PENUMBRA_SQL_FUNCTION(recompressed_text);
PENUMBRA_SQL_FUNCTION(recompressed_bytes);

/* Method and dictionary of the value are the wanted ones.  It does not know its level. */
static bool
is_as_wanted(const ValueHeader *header, const CompressionTarget *target)
{
	uint32		dictionary = 0;

	if (header->flags & VALUE_IS_RAW)
		return target->method_id == METHOD_NONE;
	if (header->method_id != target->method_id)
		return false;
	if (target->dictionary_number != 0)
		dictionary = dictionary_id_by_number(target->dictionary_number);
	return header->dictionary_id == dictionary;
}

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
	if (!force && is_as_wanted(&value.header, &target))
		PG_RETURN_NULL();
	result = value_recompress(datum, typmod, is_text);
	value_open(result, &made);
	/* the wanted method gains nothing, or its dictionary is missing */
	if ((value.header.flags & made.header.flags & VALUE_IS_RAW) ||
		(!force && value.header.method_id == made.header.method_id &&
		 value.header.dictionary_id == made.header.dictionary_id))
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

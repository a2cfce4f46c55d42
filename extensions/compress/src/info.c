/*-------------------------------------------------------------------------
 *
 * info.c
 *	  compression_info(): what the header of a value says.
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "utils/builtins.h"

PENUMBRA_SQL_FUNCTION(compression_info);

Datum
compression_info(PG_FUNCTION_ARGS)
{
	OpenValue	value;
	char		name[NAMEDATALEN];
	const CompressionRoutine *routine;
	Datum		values[7];
	bool		nulls[7] = {false};

	value_open_header(PG_GETARG_DATUM(0), &value);
	method_name(value.header.method_id, name);
	values[0] = Int32GetDatum(VALUE_VERSION);
	values[1] = CStringGetTextDatum(name);
	/* a method without levels, or one that is not available and has its default level */
	routine = method_available_routine(value.header.method_id);
	nulls[2] = value.header.flags & VALUE_IS_RAW || !routine_has_levels(routine);
	if (!nulls[2])
		values[2] = Int32GetDatum(value_level(&value.header, routine));
	values[3] = Int64GetDatum(value.header.dictionary_id);
	nulls[3] = value.header.dictionary_id == 0;
	values[4] = Int32GetDatum(value.header.raw_bytes);
	values[5] = Int32GetDatum(value.stored_bytes);
	values[6] = Int32GetDatum(value.header.blocks);
	return make_row(fcinfo, values, nulls);
}

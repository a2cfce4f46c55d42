/*-------------------------------------------------------------------------
 *
 * translate_zone.c
 *	  Time zones that are arguments of functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"

#include "query/pipeline/host_call.h"
#include "query/pipeline/time_zone.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_zone.h"

/* Of a zone that planning does not know the rows may be unsupported, as of one that is unknown. */
PenumbraExpr
translate_zone(Translation *translation, Node *zone)
{
	bool		is_interval = exprType(zone) == INTERVALOID;
	bool		is_null = false;
	Datum		datum = (Datum) 0;
	bytea	   *value = time_zone_unknown();

	if (IsA(zone, Const))
	{
		datum = ((Const *) zone)->constvalue;
		is_null = ((Const *) zone)->constisnull;
	}
	else if (!translation_is_runtime(zone))
		return is_interval ? translation_refuse(translation, "zone that is an interval of the row")
			: host_call_zone(translation, zone);
	else if (translate_expr(translation, zone) < 0)
		return -1;
	else if (translation->runtime_values != NULL)
	{
		const RuntimeValue *known = &translation->runtime_values[translation_runtime_index(translation, zone)];

		if (known->has_failed)
			return translate_failure(translation, PENUMBRA_TEXT);
		datum = known->value;
		is_null = known->isnull;
	}
	if (!is_null && (IsA(zone, Const) || translation->runtime_values != NULL))
		value = is_interval ? time_zone_of_interval(DatumGetIntervalP(datum)) : time_zone_named(DatumGetTextPP(datum));
	if (!is_null && IsA(zone, Const) && VARSIZE_ANY_EXHDR(value) == 0)
		return translation_refuse(translation, "time zone that has no table");
	return translate_datum(translation, TEXTOID, PointerGetDatum(value), is_null);
}

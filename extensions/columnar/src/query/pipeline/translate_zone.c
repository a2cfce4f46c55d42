/*-------------------------------------------------------------------------
 *
 * translate_zone.c
 *	  Time zones that are arguments of functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "pg_compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "query/pipeline/host_call.h"
#include "query/pipeline/pipeline.h"
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

static Expr *
text_const(const char *text)
{
	return (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false);
}

/* The zone, or where that is no name a text that is none either. */
static Node *
name_of_zone(Node *zone)
{
	Expr	   *is_name = make_opclause(OID_TEXT_REGEXEQ_OP, BOOLOID, false, (Expr *) zone, text_const("^[A-Za-z]"),
										InvalidOid, DEFAULT_COLLATION_OID);

	set_opfuncid((OpExpr *) is_name);
	return pipeline_case(TEXTOID, DEFAULT_COLLATION_OID,
						 list_make2(pipeline_when(is_name, zone),
									pipeline_when(pipeline_null_test(zone, IS_NOT_NULL), text_const("?"))),
						 makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID));
}

/*
 * make_timestamptz() in a zone: the local time there, AT TIME ZONE.  To that '+2' is two hours west of Greenwich, and
 * to make_timestamptz() two hours east, so the zone has to be a name.
 */
PenumbraExpr
translate_made_in_zone(Translation *translation, const FuncExpr *func)
{
	Node	   *zone = llast(func->args);
	FuncExpr   *local;

	if (!IsA(zone, Const))
		zone = name_of_zone(zone);
	else if (((Const *) zone)->constisnull ||
			 !isalpha((unsigned char) *text_to_cstring(DatumGetTextPP(((Const *) zone)->constvalue))))
		return translation_refuse(translation, "zone of make_timestamptz() that is no name");
	local = makeFuncExpr(F_MAKE_TIMESTAMP, TIMESTAMPOID, list_copy_head(func->args, list_length(func->args) - 1),
						 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	return translate_function(translation, F_TIMEZONE_TEXT_TIMESTAMP, TIMESTAMPTZOID, func->inputcollid,
							  list_make2(zone, local));
}

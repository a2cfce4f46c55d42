/*-------------------------------------------------------------------------
 *
 * translate_constant.c
 *	  Constants of the engine from Datums.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"

PenumbraExpr
translate_constant(Translation *translation, PenumbraType type, Datum datum, bool isnull)
{
	PenumbraValue value = {0};
	struct varlena *payload;

	value.is_null = isnull;
	if (!isnull)
		switch (type)
		{
			case PENUMBRA_BOOL:
				value.integer = DatumGetBool(datum);
				break;
			case PENUMBRA_INT2:
				value.integer = DatumGetInt16(datum);
				break;
			case PENUMBRA_INT4:
			case PENUMBRA_DATE:
				value.integer = DatumGetInt32(datum);
				break;
			case PENUMBRA_INT8:
			case PENUMBRA_TIMESTAMP:
			case PENUMBRA_TIMESTAMPTZ:
				value.integer = DatumGetInt64(datum);
				break;
			case PENUMBRA_FLOAT4:
				value.real = DatumGetFloat4(datum);
				break;
			case PENUMBRA_FLOAT8:
				value.real = DatumGetFloat8(datum);
				break;
			case PENUMBRA_INTERVAL:
				memcpy(&value.interval, DatumGetIntervalP(datum), sizeof(Interval));
				break;
			case PENUMBRA_UUID:
				value.bytes = DatumGetUUIDP(datum);
				value.bytes_length = UUID_LEN;
				break;
			case PENUMBRA_NUMERIC:
			case PENUMBRA_TEXT:
			case PENUMBRA_BPCHAR:
				payload = PG_DETOAST_DATUM_PACKED(datum);
				value.bytes = VARDATA_ANY(payload);
				value.bytes_length = VARSIZE_ANY_EXHDR(payload);
				break;
			case PENUMBRA_ARRAY:	/* no constant is one */
				break;
		}
	return translation_take_expr(translation, penumbra_plan_constant(translation->plan, type, &value));
}

PenumbraExpr
translate_stand_in(Translation *translation, PenumbraType type)
{
	static const uint8 zero_uuid[UUID_LEN];
	static const int16 zero_numeric = (int16) 0x8000;	/* short form, no digits */
	PenumbraValue value = {0};

	if (type == PENUMBRA_UUID)
	{
		value.bytes = zero_uuid;
		value.bytes_length = UUID_LEN;
	}
	else if (type == PENUMBRA_NUMERIC)
	{
		value.bytes = &zero_numeric;
		value.bytes_length = sizeof(zero_numeric);
	}
	else
		value.bytes = "";
	return translation_take_expr(translation, penumbra_plan_constant(translation->plan, type, &value));
}

PenumbraExpr
translate_datum(Translation *translation, Oid type_oid, Datum datum, bool isnull)
{
	PenumbraType type;

	if (!translate_type(type_oid, &type))
		return translation_refuse(translation, psprintf("type %s", format_type_be(type_oid)));
	return translate_constant(translation, type, datum, isnull);
}

/* The elements of an array as one argument. */
PenumbraExpr
translate_list(Translation *translation, Oid type_oid, const Datum *values, const bool *nulls, int count)
{
	PenumbraType type;
	PenumbraColumnInput input = {(const uint64_t *) values, NULL, (const uint8_t *) nulls};
	uint64_t   *payloads = NULL;
	uint32_t   *lengths = NULL;
	PenumbraExpr list;

	if (!translate_type(type_oid, &type))
		return translation_refuse(translation, psprintf("type %s", format_type_be(type_oid)));
	if (type == PENUMBRA_NUMERIC || type == PENUMBRA_TEXT || type == PENUMBRA_BPCHAR)
	{
		payloads = palloc_extended(sizeof(*payloads) * count, MCXT_ALLOC_HUGE);
		lengths = palloc_extended(sizeof(*lengths) * count, MCXT_ALLOC_HUGE);
		for (int i = 0; i < count; i++)
		{
			struct varlena *payload;

			CHECK_FOR_INTERRUPTS();
			if (nulls[i])
				continue;
			payload = PG_DETOAST_DATUM_PACKED(values[i]);
			payloads[i] = (uint64_t) VARDATA_ANY(payload);
			lengths[i] = VARSIZE_ANY_EXHDR(payload);
		}
		input.values = payloads;
		input.lengths = lengths;
	}
	list = translation_take_expr(translation, penumbra_plan_list(translation->plan, type, &input, count));
	if (payloads != NULL)
	{
		pfree(payloads);
		pfree(lengths);
	}
	return list;
}

PenumbraExpr
translate_int4(Translation *translation, int32 integer)
{
	return translate_constant(translation, PENUMBRA_INT4, Int32GetDatum(integer), false);
}

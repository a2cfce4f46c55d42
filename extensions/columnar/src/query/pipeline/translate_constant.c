/*-------------------------------------------------------------------------
 *
 * translate_constant.c
 *	  Constants of the engine from Datums.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "cache/value_image.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translation.h"

/* An image, which is not NULL. */
static void
take_image(PenumbraType type, uint64 image, uint32 length, PenumbraValue *value)
{
	switch (type)
	{
		case PENUMBRA_BOOL:
			value->integer = DatumGetBool(image);
			break;
		case PENUMBRA_INT2:
			value->integer = DatumGetInt16(image);
			break;
		case PENUMBRA_INT4:
		case PENUMBRA_DATE:
			value->integer = DatumGetInt32(image);
			break;
		case PENUMBRA_INT8:
		case PENUMBRA_TIMESTAMP:
		case PENUMBRA_TIMESTAMPTZ:
			value->integer = DatumGetInt64(image);
			break;
		case PENUMBRA_FLOAT4:
			value->real = DatumGetFloat4(image);
			break;
		case PENUMBRA_FLOAT8:
			value->real = DatumGetFloat8(image);
			break;
		case PENUMBRA_INTERVAL:
			memcpy(&value->interval, DatumGetIntervalP(image), sizeof(Interval));
			break;
		case PENUMBRA_UUID:
			value->bytes = DatumGetUUIDP(image);
			value->bytes_length = UUID_LEN;
			break;
		case PENUMBRA_NUMERIC:
		case PENUMBRA_TEXT:
		case PENUMBRA_BPCHAR:
			value->bytes = (const void *) (uintptr_t) image;
			value->bytes_length = length;
			break;
		case PENUMBRA_ARRAY:	/* no constant is one */
			break;
	}
}

PenumbraExpr
translate_datum(Translation *translation, Oid type_oid, Datum datum, bool isnull)
{
	const ValueImage *image = value_image_of(type_oid);
	PenumbraValue value = {.is_null = isnull};

	if (image == NULL)
		return translation_refuse(translation, psprintf("type %s", format_type_be(type_oid)));
	if (!isnull)
	{
		uint32		length = 0;
		uint64		made = value_image_make(image, datum, &length);

		take_image(image->type, made, length, &value);
	}
	return translation_take_expr(translation, penumbra_plan_constant(translation->plan, image->type, &value));
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

/* The elements of an array as one argument. */
PenumbraExpr
translate_list(Translation *translation, Oid type_oid, const Datum *values, const bool *nulls, int count)
{
	const ValueImage *image = value_image_of(type_oid);
	PenumbraColumnInput input = {(const uint64_t *) values, NULL, (const uint8_t *) nulls};
	uint64_t   *payloads = NULL;
	uint32_t   *lengths = NULL;
	PenumbraExpr list;

	if (image == NULL)
		return translation_refuse(translation, psprintf("type %s", format_type_be(type_oid)));
	if (value_image_is_other(image) || image->type == PENUMBRA_NUMERIC || image->type == PENUMBRA_TEXT ||
		image->type == PENUMBRA_BPCHAR)
	{
		payloads = palloc_extended(sizeof(*payloads) * count, MCXT_ALLOC_HUGE);
		lengths = palloc_extended(sizeof(*lengths) * count, MCXT_ALLOC_HUGE);
		for (int i = 0; i < count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!nulls[i])
				payloads[i] = value_image_make(image, values[i], &lengths[i]);
		}
		input.values = payloads;
		input.lengths = lengths;
	}
	list = translation_take_expr(translation, penumbra_plan_list(translation->plan, image->type, &input, count));
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
	return translate_datum(translation, INT4OID, Int32GetDatum(integer), false);
}

/* The cast of a text that the engine leaves to PostgreSQL. */
PenumbraExpr
translate_unsupported(Translation *translation, PenumbraType type)
{
	PenumbraExpr text = translate_datum(translation, TEXTOID, PointerGetDatum(cstring_to_text("none")), false);

	return translate_call(translation, PENUMBRA_FN_CAST, type, &text, 1);
}

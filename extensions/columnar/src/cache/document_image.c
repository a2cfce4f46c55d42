/*-------------------------------------------------------------------------
 *
 * document_image.c
 *	  Documents as bytes that are in the order of the values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/numeric.h"

#include "cache/document_image.h"
#include "pg_compat.h"

/* A document is what JsonbIteratorNext() gives of it: PostgreSQL compares that part by part, kinds in this order. */
enum
{
	JSON_NULL,
	JSON_STRING,
	JSON_NUMBER,
	JSON_BOOLEAN,
	JSON_ARRAY,
	JSON_OBJECT
};

static void
write_json_string(ImageWriter *writer, const JsonbValue *value)
{
	appendBinaryStringInfo(&writer->bytes, value->val.string.val, value->val.string.len);
	/* none has a zero byte */
	appendStringInfoChar(&writer->bytes, '\0');
}

static void
write_json_value(ImageWriter *writer, const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			appendStringInfoChar(&writer->bytes, JSON_NULL);
			break;
		case jbvString:
			appendStringInfoChar(&writer->bytes, JSON_STRING);
			write_json_string(writer, value);
			break;
		case jbvNumeric:
			appendStringInfoChar(&writer->bytes, JSON_NUMBER);
			write_numeric(writer, NumericGetDatum(value->val.numeric));
			break;
		case jbvBool:
			appendStringInfoChar(&writer->bytes, JSON_BOOLEAN);
			appendStringInfoChar(&writer->bytes, value->val.boolean ? 1 : 0);
			break;
		default:
			elog(ERROR, "unexpected jsonb type %d", (int) value->type);
	}
}

/* Of arrays the number of elements comes first, then whether it is a scalar that stands alone: the lesser one. */
void
document_image_write(Jsonb *document, ImageWriter *writer)
{
	JsonbIterator *iterator = JsonbIteratorInit(&document->root);
	JsonbIteratorToken token;
	JsonbValue	part;

	while ((token = JsonbIteratorNext(&iterator, &part, false)) != WJB_DONE)
	{
		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				appendStringInfoChar(&writer->bytes, JSON_ARRAY);
				write_uint32(writer, part.val.array.nElems);
				appendStringInfoChar(&writer->bytes, part.val.array.rawScalar ? 0 : 1);
				break;
			case WJB_BEGIN_OBJECT:
				appendStringInfoChar(&writer->bytes, JSON_OBJECT);
				write_uint32(writer, part.val.object.nPairs);
				break;
			case WJB_KEY:
				write_json_string(writer, &part);
				break;
			case WJB_ELEM:
			case WJB_VALUE:
				write_json_value(writer, &part);
				break;
			default:
				break;
		}
	}
}

static void
read_json_string(ImageReader *reader, JsonbValue *value)
{
	value->type = jbvString;
	value->val.string.val = (char *) unconstify(uint8 *, reader->next);
	value->val.string.len = strlen(value->val.string.val);
	reader->next += value->val.string.len + 1;
}

static void
read_json_scalar(ImageReader *reader, int kind, JsonbValue *value)
{
	switch (kind)
	{
		case JSON_NULL:
			value->type = jbvNull;
			break;
		case JSON_STRING:
			read_json_string(reader, value);
			break;
		case JSON_NUMBER:
			value->type = jbvNumeric;
			value->val.numeric = DatumGetNumeric(read_numeric(reader));
			break;
		default:
			value->type = jbvBool;
			value->val.boolean = *reader->next++ != 0;
			break;
	}
}

/* A container that is not complete. */
typedef struct OpenContainer
{
	bool		is_object;
	uint32		left;
	struct OpenContainer *around;
} OpenContainer;

static OpenContainer *
open_container(ImageReader *reader, int kind, OpenContainer *around, CompatJsonbBuilder *builder)
{
	OpenContainer *container = palloc(sizeof(OpenContainer));

	container->is_object = kind == JSON_OBJECT;
	container->left = read_uint32(reader);
	container->around = around;
	if (container->is_object)
		compat_jsonb_push(builder, WJB_BEGIN_OBJECT, NULL);
	else
	{
		JsonbValue	array = {.type = jbvArray};

		array.val.array.rawScalar = *reader->next++ == 0;
		array.val.array.nElems = container->left;
		/* of a scalar that stands alone the array has to say so */
		compat_jsonb_push(builder, WJB_BEGIN_ARRAY, array.val.array.rawScalar ? &array : NULL);
	}
	return container;
}

Jsonb *
document_image_read(ImageReader *reader)
{
	CompatJsonbBuilder builder = {0};
	OpenContainer *container = open_container(reader, *reader->next++, NULL, &builder);

	while (container != NULL)
	{
		JsonbValue	value;
		int			kind;

		if (container->left == 0)
		{
			compat_jsonb_push(&builder, container->is_object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
			container = container->around;
			continue;
		}
		container->left--;
		if (container->is_object)
		{
			read_json_string(reader, &value);
			compat_jsonb_push(&builder, WJB_KEY, &value);
		}
		kind = *reader->next++;
		if (kind == JSON_ARRAY || kind == JSON_OBJECT)
		{
			container = open_container(reader, kind, container, &builder);
			continue;
		}
		read_json_scalar(reader, kind, &value);
		compat_jsonb_push(&builder, container->is_object ? WJB_VALUE : WJB_ELEM, &value);
	}
	return JsonbValueToJsonb(builder.result);
}

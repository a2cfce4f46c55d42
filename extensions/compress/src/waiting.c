/*-------------------------------------------------------------------------
 *
 * waiting.c
 *	  See waiting.h.
 *
 *-------------------------------------------------------------------------
 */
#include "waiting.h"

#include "compress.h"
#include "utils/expandeddatum.h"

/*
 * Only read-only pointers to it are given out, hence nobody frees or moves it:
 * it needs no memory context of its own.
 */
typedef struct WaitingValue
{
	ExpandedObjectHeader header;
	bool		is_text;
	bool		flattens_raw;	/* a cast will compress it */
	struct varlena *flat;		/* NULL: nobody asked for it yet */
	Size		bytes;
	char		raw[FLEXIBLE_ARRAY_MEMBER];
} WaitingValue;

static Size
waiting_flat_size(ExpandedObjectHeader *header)
{
	WaitingValue *value = (WaitingValue *) header;

	if (value->flat == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(header->eoh_context);

		value->flat = value_compress(value->raw, value->bytes,
									 value->flattens_raw ? raw_typmod() : -1, value->is_text);
		MemoryContextSwitchTo(caller);
	}
	return VARSIZE(value->flat);
}

static void
waiting_flatten_into(ExpandedObjectHeader *header, void *result, Size allocated_bytes)
{
	WaitingValue *value = (WaitingValue *) header;

	Assert(value->flat != NULL && VARSIZE(value->flat) == allocated_bytes);
	memcpy(result, value->flat, allocated_bytes);
}

static const ExpandedObjectMethods waiting_methods = {waiting_flat_size, waiting_flatten_into};

Datum
make_waiting_value(const char *raw, Size bytes, bool is_text)
{
	WaitingValue *value = palloc(offsetof(WaitingValue, raw) + bytes);

	EOH_init_header(&value->header, &waiting_methods, CurrentMemoryContext);
	value->is_text = is_text;
	value->flattens_raw = false;
	value->flat = NULL;
	value->bytes = bytes;
	memcpy(value->raw, raw, bytes);
	return EOHPGetRODatum(&value->header);
}

/* NULL: the datum is something else */
static WaitingValue *
waiting_value(Datum datum)
{
	WaitingValue *value;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	value = (WaitingValue *) DatumGetEOHP(datum);
	return value->header.eoh_methods == &waiting_methods ? value : NULL;
}

bool
value_waits(Datum datum, const char **raw, Size *bytes)
{
	WaitingValue *value = waiting_value(datum);

	if (value == NULL)
		return false;
	*raw = value->raw;
	*bytes = value->bytes;
	return true;
}

struct varlena *
waiting_value_stored_raw(Datum datum)
{
	WaitingValue *value = waiting_value(datum);

	Assert(value != NULL);
	return value_compress(value->raw, value->bytes, raw_typmod(), value->is_text);
}

bool
waiting_value_flatten_as(Datum datum, bool raw)
{
	WaitingValue *value = waiting_value(datum);

	if (value == NULL)
		return false;
	value->flattens_raw = raw;
	value->flat = NULL;
	return true;
}

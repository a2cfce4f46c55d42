/*-------------------------------------------------------------------------
 *
 * value_cache.c
 *	  See value_cache.h.
 *
 *	  A value is found by its compressed bytes, compared in full: a hash could
 *	  lie, and different values mostly differ in the first bytes.  One that is
 *	  out of line is found by its TOAST pointer, which saves reading it: within
 *	  one transaction, command and snapshot, as the number of a removed value
 *	  may be given to another one.
 *
 *	  All that is kept has at most work_mem.  What has more than half of that is
 *	  decompressed each time, as two values must be there at once.
 *
 *-------------------------------------------------------------------------
 */
#include "value_cache.h"

#include "access/detoast.h"
#include "access/xact.h"
#include "compressed.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "utils/snapmgr.h"

#define VALUES_MAX 4
/* A buffer that became larger than this is given back when its slot is used again. */
#define BUFFER_KEPT_BYTES (64 * 1024)

typedef struct KeptBytes
{
	char	   *data;
	Size		bytes;
	Size		capacity;		/* what counts is "bytes": 64 kB more do not matter */
} KeptBytes;

typedef struct CachedValue
{
	KeptBytes		key;			/* no bytes: free */
	KeptBytes		raw;
	uint64		last_use;
} CachedValue;

/* The key of a value out of line; made with memset(), as it is compared with memcmp(). */
typedef struct ToastKey
{
	struct varatt_external pointer;
	LocalTransactionId local_xid;
	CommandId	command;
	TransactionId xmin;
	TransactionId xmax;
	uint64		completed_transactions;
} ToastKey;

static CachedValue values[VALUES_MAX];
static uint64 uses = 0;

static void
buffer_resize(KeptBytes *buffer, Size bytes)
{
	if (bytes > buffer->capacity || buffer->capacity > BUFFER_KEPT_BYTES)
	{
		if (buffer->data != NULL)
			pfree(buffer->data);
		buffer->data = NULL;
		buffer->capacity = 0;
		buffer->data = MemoryContextAlloc(TopMemoryContext, bytes);
		buffer->capacity = bytes;
	}
	buffer->bytes = bytes;
}

static Size
memory_limit(void)
{
	return (Size) work_mem * 1024;
}

static CachedValue *
find_value(const void *key, Size bytes)
{
	for (int i = 0; i < VALUES_MAX; i++)
		if (values[i].key.bytes == bytes && memcmp(values[i].key.data, key, bytes) == 0)
			return &values[i];
	return NULL;
}

static void
buffer_free(KeptBytes *buffer)
{
	if (buffer->data != NULL)
		pfree(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

static CachedValue *
oldest_value(void)
{
	CachedValue *oldest = &values[0];

	for (int i = 1; i < VALUES_MAX; i++)
		if (values[i].last_use < oldest->last_use)
			oldest = &values[i];
	return oldest;
}

/* The slot for a new value, after others have made room.  The latest one stays: both have at most a half. */
static CachedValue *
make_room(Size bytes)
{
	CachedValue *slot = oldest_value();
	CachedValue *oldest;
	Size		kept;

	/* not found while it is not whole */
	slot->key.bytes = 0;
	do
	{
		kept = bytes;
		oldest = NULL;
		for (int i = 0; i < VALUES_MAX; i++)
		{
			CachedValue *value = &values[i];

			if (value == slot || value->raw.data == NULL)
				continue;
			kept += value->key.bytes + value->raw.bytes;
			if (oldest == NULL || value->last_use < oldest->last_use)
				oldest = value;
		}
		if (kept > memory_limit() && oldest != NULL)
		{
			buffer_free(&oldest->key);
			buffer_free(&oldest->raw);
		}
	} while (kept > memory_limit() && oldest != NULL);
	return slot;
}

/* Returns false if the value is not of that kind. */
static bool
make_toast_key(Datum datum, ToastKey *key)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)) || snapshot == NULL)
		return false;
	memset(key, 0, sizeof(*key));
	VARATT_EXTERNAL_GET_POINTER(key->pointer, DatumGetPointer(datum));
	key->local_xid = compat_local_xid();
	key->command = snapshot->curcid;
	key->xmin = snapshot->xmin;
	key->xmax = snapshot->xmax;
	key->completed_transactions = snapshot->snapXactCompletionCount;
	return true;
}

/*
 * The key of a value in TOAST is its pointer, so it need not be fetched; the key of
 * others is their compressed bytes. A value that needs more than half of the memory
 * is not kept, but made in the caller's memory context.
 */
struct varlena *
cached_value(Datum datum)
{
	ToastKey	toast_key;
	bool		is_toast = make_toast_key(datum, &toast_key);
	CachedValue *cached = is_toast ? find_value(&toast_key, sizeof(toast_key)) : NULL;
	const void *key;
	Size		key_bytes;
	Size		raw_bytes;
	OpenValue	value;

	if (cached != NULL)
	{
		cached->last_use = ++uses;
		return (struct varlena *) cached->raw.data;
	}
	value_open(datum, &value);
	key = is_toast ? (const void *) &toast_key : value.bytes;
	key_bytes = is_toast ? sizeof(toast_key) : value.available;
	raw_bytes = VARHDRSZ + (Size) value.header.raw_bytes;
	if (key_bytes + raw_bytes > memory_limit() / 2)
	{
		struct varlena *raw = palloc(raw_bytes);

		value_read(&value, VARDATA(raw));
		SET_VARSIZE(raw, raw_bytes);
		value_close(&value);
		return raw;
	}
	cached = is_toast ? NULL : find_value(key, key_bytes);
	if (cached == NULL)
	{
		cached = make_room(key_bytes + raw_bytes);
		buffer_resize(&cached->raw, raw_bytes);
		value_read(&value, VARDATA(cached->raw.data));
		SET_VARSIZE(cached->raw.data, raw_bytes);
		buffer_resize(&cached->key, key_bytes);
		memcpy(cached->key.data, key, key_bytes);
	}
	value_close(&value);
	cached->last_use = ++uses;
	return (struct varlena *) cached->raw.data;
}

/* The caller's arguments are left as they are: a constant is put there once for all its calls. */
Datum
call_on_cached(FunctionCallInfo fcinfo, PGFunction server_function)
{
	LOCAL_FCINFO(call, 2);
	Datum		result;

	Assert(PG_NARGS() <= 2);
	InitFunctionCallInfoData(*call, fcinfo->flinfo, PG_NARGS(), PG_GET_COLLATION(), NULL, NULL);
	memcpy(call->args, fcinfo->args, PG_NARGS() * sizeof(NullableDatum));
	call->args[0].value = PointerGetDatum(cached_value(PG_GETARG_DATUM(0)));
	result = server_function(call);
	fcinfo->isnull = call->isnull;
	return result;
}

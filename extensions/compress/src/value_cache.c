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
 *	  What is longer than VALUE_MAX_CACHED_BYTES is decompressed each time.
 *
 *-------------------------------------------------------------------------
 */
#include "value_cache.h"

#include "access/detoast.h"
#include "access/xact.h"
#include "compressed.h"
#include "pg_compat.h"
#include "utils/snapmgr.h"

#define VALUES_MAX 4
#define VALUE_MAX_CACHED_BYTES (4 * 1024 * 1024)
/* A buffer that became larger than this is given back when its slot is used again. */
#define BUFFER_KEPT_BYTES (64 * 1024)

typedef struct KeptBytes
{
	char	   *data;
	Size		bytes;
	Size		capacity;
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

static CachedValue *
find_value(const void *key, Size bytes)
{
	for (int i = 0; i < VALUES_MAX; i++)
		if (values[i].key.bytes == bytes && memcmp(values[i].key.data, key, bytes) == 0)
			return &values[i];
	return NULL;
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

struct varlena *
cached_value(Datum datum)
{
	ToastKey	toast_key;
	bool		is_toast = make_toast_key(datum, &toast_key);
	CachedValue *cached = is_toast ? find_value(&toast_key, sizeof(toast_key)) : NULL;
	const void *key;
	Size		key_bytes;
	OpenValue	value;

	if (cached != NULL)
	{
		cached->last_use = ++uses;
		return (struct varlena *) cached->raw.data;
	}
	value_open(datum, &value);
	if (value.header.raw_bytes > VALUE_MAX_CACHED_BYTES)
	{
		value_close(&value);
		return value_decompress(datum);
	}
	key = is_toast ? (const void *) &toast_key : value.bytes;
	key_bytes = is_toast ? sizeof(toast_key) : value.available;
	cached = is_toast ? NULL : find_value(key, key_bytes);
	if (cached == NULL)
	{
		cached = oldest_value();
		/* not found while it is not whole */
		cached->key.bytes = 0;
		buffer_resize(&cached->raw, VARHDRSZ + value.header.raw_bytes);
		value_read(&value, VARDATA(cached->raw.data));
		SET_VARSIZE(cached->raw.data, VARHDRSZ + value.header.raw_bytes);
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

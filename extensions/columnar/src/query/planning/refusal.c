/*-------------------------------------------------------------------------
 *
 * refusal.c
 *	  Counts why queries, or parts of them, are left to PostgreSQL.
 *
 * A fixed table of reasons in shared memory under one lock.  Reasons that
 * find it full are counted together.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "query/planning/refusal.h"
#include "result_rows.h"

#define REASON_BYTES 112
#define REASON_SLOTS 256

typedef struct RefusalSlot
{
	char		reason[REASON_BYTES];	/* empty: free */
	uint64		count;
	TimestampTz last_at;
} RefusalSlot;

typedef struct RefusalTable
{
	slock_t		lock;			/* held for a look-up and a few stores */
	RefusalSlot overflow;
	RefusalSlot slots[REASON_SLOTS];
} RefusalTable;

static RefusalTable *table = NULL;

Size
refusal_shmem_bytes(void)
{
	return MAXALIGN(sizeof(RefusalTable));
}

void
refusal_shmem_startup(void)
{
	bool		is_found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	table = ShmemInitStruct("penumbra refusals", refusal_shmem_bytes(), &is_found);
	if (!is_found)
	{
		memset(table, 0, refusal_shmem_bytes());
		SpinLockInit(&table->lock);
		strlcpy(table->overflow.reason, "other", REASON_BYTES);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
refusal_count(const char *reason)
{
	char		key[REASON_BYTES] = {0};
	TimestampTz now;
	uint32		start;
	RefusalSlot *slot;

	if (table == NULL)
		return;
	strlcpy(key, reason, REASON_BYTES);
	start = hash_bytes((const unsigned char *) key, strlen(key)) % REASON_SLOTS;
	now = GetCurrentStatementStartTimestamp();
	SpinLockAcquire(&table->lock);
	/* Under a spinlock: a bounded number of slots, none of which is ever freed, so a free one ends the search. */
	slot = &table->overflow;
	for (uint32 i = 0; i < 16; i++)
	{
		RefusalSlot *candidate = &table->slots[(start + i) % REASON_SLOTS];

		if (candidate->reason[0] == '\0')
			memcpy(candidate->reason, key, REASON_BYTES);
		else if (strcmp(candidate->reason, key) != 0)
			continue;
		slot = candidate;
		break;
	}
	slot->count++;
	slot->last_at = now;
	SpinLockRelease(&table->lock);
}

PENUMBRA_SQL_FUNCTION(penumbra_sql_get_refusals);

Datum
penumbra_sql_get_refusals(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	RefusalTable *copy;

	InitMaterializedSRF(fcinfo, 0);
	if (table == NULL)
		return (Datum) 0;
	/* Copied, since nothing may allocate or fail under a spinlock. */
	copy = palloc(sizeof(RefusalTable));
	SpinLockAcquire(&table->lock);
	memcpy(copy, table, sizeof(RefusalTable));
	SpinLockRelease(&table->lock);
	for (int i = -1; i < REASON_SLOTS; i++)
	{
		const RefusalSlot *slot = i < 0 ? &copy->overflow : &copy->slots[i];
		Datum		values[3];
		bool		nulls[3] = {false};

		if (slot->count == 0)
			continue;
		values[0] = CStringGetTextDatum(slot->reason);
		values[1] = Int64GetDatum((int64) slot->count);
		values[2] = TimestampTzGetDatum(slot->last_at);
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

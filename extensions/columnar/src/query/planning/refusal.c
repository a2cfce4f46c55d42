/*-------------------------------------------------------------------------
 *
 * refusal.c
 *	  Why something is left to PostgreSQL: of a plan, and how often it ran so.
 *
 * A plan that was made once runs often, so it carries its refusals: by their
 * number in this process, and their hash.  A plan that was made elsewhere and
 * stored, as some extensions do, has other numbers and shows none.
 *
 * What is counted are executions, by reason: a fixed table in shared memory,
 * in which a reason keeps its place.  A place is taken under a spinlock, counts
 * are atomic.  Reasons that find the table full are counted together.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "cache/functions.h"
#include "query/planning/refusal.h"
#include "result_rows.h"

#define REASON_BYTES 112
#define REASON_SLOTS 256

/* With its subject. */
#define TEXT_BYTES (2 * REASON_BYTES)
/* Of one process: subjects are names of tables, which may come and go. */
#define REFUSALS_MAX 4096

typedef struct RefusalSlot
{
	char		reason[REASON_BYTES];	/* empty: free */
	pg_atomic_uint64 count;
	pg_atomic_uint64 last_at;	/* TimestampTz */
} RefusalSlot;

typedef struct RefusalTable
{
	slock_t		lock;			/* held for a look-up and one store */
	RefusalSlot overflow;
	RefusalSlot slots[REASON_SLOTS];
} RefusalTable;

struct Refusal
{
	char		text[TEXT_BYTES];	/* hash key */
	int			reason_length;	/* of it */
	int			number;
	uint64		hash;			/* of the text */
	RefusalSlot *slot;			/* NULL: it is not counted */
};

static RefusalTable *table = NULL;

static HTAB *refusals = NULL;
static const Refusal *numbered[REFUSALS_MAX];
static int	refusal_total = 0;

Size
refusal_shmem_bytes(void)
{
	return MAXALIGN(sizeof(RefusalTable));
}

static void
initialize(RefusalSlot *slot, const char *reason)
{
	strlcpy(slot->reason, reason, REASON_BYTES);
	pg_atomic_init_u64(&slot->count, 0);
	pg_atomic_init_u64(&slot->last_at, 0);
}

void
refusal_shmem_startup(void)
{
	bool		is_found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	table = ShmemInitStruct("penumbra refusals", refusal_shmem_bytes(), &is_found);
	if (!is_found)
	{
		SpinLockInit(&table->lock);
		initialize(&table->overflow, "other");
		for (int i = 0; i < REASON_SLOTS; i++)
			initialize(&table->slots[i], "");
	}
	LWLockRelease(AddinShmemInitLock);
}

/* ---------------------------------------------------------------- refusals of this process */

/* Where the reason is counted, from now on. */
static RefusalSlot *
find_slot(const char *reason)
{
	char		key[REASON_BYTES] = {0};
	uint32		start;
	RefusalSlot *found;

	if (table == NULL || strcmp(reason, REFUSAL_BY_COST) == 0)
		return NULL;
	memcpy(key, reason, pg_mbcliplen(reason, strlen(reason), REASON_BYTES - 1));
	start = hash_bytes((const unsigned char *) key, strlen(key)) % REASON_SLOTS;
	found = &table->overflow;
	SpinLockAcquire(&table->lock);
	/* Under a spinlock: a bounded number of slots, none of which is ever freed, so a free one ends the search. */
	for (uint32 i = 0; i < 16 && found == &table->overflow; i++)
	{
		RefusalSlot *slot = &table->slots[(start + i) % REASON_SLOTS];

		if (slot->reason[0] == '\0')
			memcpy(slot->reason, key, REASON_BYTES);
		if (strcmp(slot->reason, key) == 0)
			found = slot;
	}
	SpinLockRelease(&table->lock);
	return found;
}

const Refusal *
refusal_find(const char *reason, const char *subject)
{
	char	   *text = subject == NULL ? pstrdup(reason) : psprintf("%s: %s", reason, subject);
	Refusal    *refusal;

	if (refusals == NULL)
	{
		HASHCTL		control = {.keysize = TEXT_BYTES,.entrysize = sizeof(Refusal),.hcxt = TopMemoryContext};

		refusals = hash_create("Penumbra refusals", 64, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	}
	text[pg_mbcliplen(text, strlen(text), TEXT_BYTES - 1)] = '\0';
	refusal = hash_search(refusals, text, HASH_FIND, NULL);
	if (refusal != NULL)
		return refusal;
	if (refusal_total >= REFUSALS_MAX)
		return numbered[REFUSALS_MAX - 1];
	if (refusal_total == REFUSALS_MAX - 1)
		reason = text = "other";
	refusal = hash_search(refusals, text, HASH_ENTER, NULL);
	refusal->reason_length = Min(strlen(reason), strlen(text));
	refusal->number = refusal_total;
	refusal->hash = hash_bytes_extended((const unsigned char *) text, strlen(text), 0);
	refusal->slot = find_slot(reason);
	numbered[refusal_total++] = refusal;
	return refusal;
}

const char *
refusal_text(const Refusal *refusal)
{
	return refusal->text;
}

const char *
refusal_reason(const Refusal *refusal)
{
	return pnstrdup(refusal->text, refusal->reason_length);
}

uint64
refusal_hash(const Refusal *refusal)
{
	return refusal->hash;
}

void
refusal_count(const Refusal *refusal)
{
	if (refusal->slot == NULL)
		return;
	pg_atomic_fetch_add_u64(&refusal->slot->count, 1);
	pg_atomic_write_u64(&refusal->slot->last_at, (uint64) GetCurrentStatementStartTimestamp());
}

/* ---------------------------------------------------------------- of plans */

void
refusal_add_to_plan(PlannedStmt *stmt, const Refusal *refusal)
{
	PlanInvalItem *note = makeNode(PlanInvalItem);

	note->cacheId = -1 - refusal->number;
	note->hashValue = (uint32) refusal->hash;
	compat_plan_add_note(stmt, note);
}

static const Refusal *
walk_plan(const PlannedStmt *stmt, bool counts)
{
	const Refusal *last = NULL;
	ListCell   *lc;

	foreach(lc, COMPAT_PLAN_NOTES(stmt))
	{
		const PlanInvalItem *note = compat_plan_note(lfirst(lc));
		int			number = note == NULL ? refusal_total : -1 - note->cacheId;

		if (number >= refusal_total || (uint32) numbered[number]->hash != note->hashValue)
			continue;
		last = numbered[number];
		if (counts)
			refusal_count(last);
	}
	return last;
}

const Refusal *
refusal_of_plan(const PlannedStmt *stmt)
{
	return walk_plan(stmt, false);
}

const Refusal *
refusal_count_plan(const PlannedStmt *stmt)
{
	return walk_plan(stmt, true);
}

/* ---------------------------------------------------------------- the view */

Datum
refusal_text_datum(const char *text)
{
	char	   *shown = pstrdup(text);

	if (!pg_verifymbstr(shown, strlen(shown), true))
	{
		for (char *c = shown; *c != '\0'; c++)
		{
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
		}
	}
	return CStringGetTextDatum(shown);
}

void
refusal_reset_counts(void)
{
	for (int i = -1; i < REASON_SLOTS; i++)
		pg_atomic_write_u64(i < 0 ? &table->overflow.count : &table->slots[i].count, 0);
}

PENUMBRA_SQL_FUNCTION(penumbra_sql_get_refusals);

Datum
penumbra_sql_get_refusals(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);

	for (int i = -1; i < REASON_SLOTS; i++)
	{
		RefusalSlot *slot = i < 0 ? &table->overflow : &table->slots[i];
		uint64		count = pg_atomic_read_u64(&slot->count);
		Datum		values[3];
		bool		nulls[3] = {false};

		/* what was counted has its reason, which does not change any more */
		if (count == 0)
			continue;
		pg_read_barrier();
		values[0] = refusal_text_datum(slot->reason);
		values[1] = Int64GetDatum((int64) count);
		values[2] = TimestampTzGetDatum((TimestampTz) pg_atomic_read_u64(&slot->last_at));
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

/*-------------------------------------------------------------------------
 *
 * wanted.c
 *	  Columns that queries would have read from the cache.
 *
 * A small open-addressed table of (database, relation, column) with counts.
 * A wish for which there was no memory rests, and goes on counting when it comes
 * again.  Its slot may go to what is wanted now.
 *
 * Lock: the wanted lock, taken conditionally by queries, which would rather
 * forget a request than wait.  The listener's latch is read without it: the
 * launcher lives as long as the server, and a PGPROC's latch always is a
 * latch, so at worst the wrong process wakes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "storage/latch.h"
#include "utils/memutils.h"

#include "cache/directory.h"
#include "cache/wanted.h"

#define WANTED_SLOTS	4096
#define WANTED_PROBES	8

typedef enum WishState
{
	WISH_RESTING,				/* or free */
	WISH_TAKEN,					/* by a worker, that may have died */
	WISH_WAITING,
} WishState;

typedef struct WantedColumn
{
	Oid			database;		/* InvalidOid: free */
	Oid			relid;
	ColumnKey	column;
	WishState	state;
	uint32		count;
	MemoryShortage shortage;	/* when it was tried last */
} WantedColumn;

typedef struct WantedControl
{
	struct Latch *volatile listener;
	uint32		waiting;		/* WISH_WAITING slots */
	bool		list_is_read;	/* the launcher's */
	WantedColumn slots[WANTED_SLOTS];
} WantedControl;

static WantedControl *control = NULL;

#define wanted_lock (directory_shared_lock(1))

Size
wanted_shmem_bytes(void)
{
	return sizeof(WantedControl);
}

void
wanted_shmem_startup(void *shmem)
{
	control = shmem;
	memset(control, 0, sizeof(*control));
}

void
wanted_set_listener(struct Latch *latch)
{
	control->listener = latch;
}

void
wanted_wake_listener(void)
{
	struct Latch *latch = control != NULL ? control->listener : NULL;

	if (latch != NULL)
		SetLatch(latch);
}

/*
 * The table has a fixed size. A column is looked for in WANTED_PROBES places. A new
 * one takes an empty place, else one whose wish rests; if there is neither, it is
 * forgotten.
 */
static void
note_column(Oid database, Oid relid, ColumnKey column, uint32 count)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32(database), murmurhash32(relid)),
									column_key_hash(column));
	WantedColumn *place = NULL;
	bool		is_found = false;

	for (uint32 i = 0; i < WANTED_PROBES && !is_found; i++)
	{
		WantedColumn *slot = &control->slots[(hash + i) % WANTED_SLOTS];

		is_found = slot->database == database && slot->relid == relid && column_keys_are_equal(slot->column, column);
		if (is_found || (slot->state == WISH_RESTING && (place == NULL || !OidIsValid(slot->database))))
			place = slot;
	}
	if (place == NULL)
		return;
	if (!is_found)
		*place = (WantedColumn) {.database = database,.relid = relid,.column = column};
	place->count = Min(place->count + Min(count, WISHES_MAX), WISHES_MAX);
	control->waiting += place->state != WISH_WAITING;
	place->state = WISH_WAITING;
}

void
wanted_note(Oid database, Oid relid, const ColumnKey *columns, int ncolumns)
{
	bool		was_empty;

	if (!LWLockConditionalAcquire(wanted_lock, LW_EXCLUSIVE))
		return;
	was_empty = control->waiting == 0;
	for (int i = 0; i < ncolumns; i++)
		note_column(database, relid, column_key_of_number(column_key_number(columns[i])), 1);
	LWLockRelease(wanted_lock);
	if (was_empty)
		wanted_wake_listener();
}

void
wanted_note_column(Oid database, Oid relid, ColumnKey column, uint32 count)
{
	LWLockAcquire(wanted_lock, LW_EXCLUSIVE);
	note_column(database, relid, column, count);
	LWLockRelease(wanted_lock);
}

void
wanted_append_lines(StringInfo lines)
{
	WantedColumn *slots = palloc(sizeof(control->slots));

	LWLockAcquire(wanted_lock, LW_SHARED);
	memcpy(slots, control->slots, sizeof(control->slots));
	LWLockRelease(wanted_lock);
	for (int i = 0; i < WANTED_SLOTS; i++)
	{
		if (slots[i].state != WISH_RESTING)
			appendStringInfo(lines, WANTED_LINE, slots[i].database, slots[i].relid,
							 column_key_number(slots[i].column), slots[i].count);
	}
	pfree(slots);
}

bool
wanted_list_is_read(void)
{
	return control->list_is_read;
}

void
wanted_set_list_read(void)
{
	control->list_is_read = true;
}

static int
compare_columns(const void *a, const void *b)
{
	const WantedColumn *left = a;
	const WantedColumn *right = b;

	if (left->relid != right->relid)
		return left->relid < right->relid ? -1 : 1;
	return column_keys_compare(left->column, right->column);
}

/* A taken wish keeps its place and its count, and waits again if it is noted meanwhile. wanted_end() ends it. */
int
wanted_take(Oid database, WantedRelation **relations)
{
	WantedColumn *columns = palloc(sizeof(WantedColumn) * WANTED_SLOTS);
	int			column_count = 0;
	int			count = 0;

	LWLockAcquire(wanted_lock, LW_EXCLUSIVE);
	for (int i = 0; i < WANTED_SLOTS; i++)
	{
		WantedColumn *slot = &control->slots[i];

		if (slot->database != database || slot->state == WISH_RESTING)
			continue;
		columns[column_count++] = *slot;
		control->waiting -= slot->state == WISH_WAITING;
		slot->state = WISH_TAKEN;
	}
	LWLockRelease(wanted_lock);
	qsort(columns, column_count, sizeof(WantedColumn), compare_columns);
	*relations = palloc(sizeof(WantedRelation) * Max(column_count, 1));
	for (int i = 0; i < column_count; i++)
	{
		WantedRelation *relation;

		if (count == 0 || (*relations)[count - 1].relid != columns[i].relid)
		{
			relation = &(*relations)[count++];
			relation->relid = columns[i].relid;
			relation->count = 0;
			relation->ncolumns = 0;
			relation->columns = palloc(sizeof(ColumnKey) * column_count);
			relation->shortage = columns[i].shortage;
		}
		relation = &(*relations)[count - 1];
		relation->count = Max(relation->count, columns[i].count);
		relation->columns[relation->ncolumns++] = columns[i].column;
	}
	pfree(columns);
	return count;
}

void
wanted_end(Oid database, Oid relid, const MemoryShortage *shortage)
{
	LWLockAcquire(wanted_lock, LW_EXCLUSIVE);
	for (int i = 0; i < WANTED_SLOTS; i++)
	{
		WantedColumn *slot = &control->slots[i];

		if (slot->database != database || (OidIsValid(relid) && slot->relid != relid))
			continue;
		slot->shortage = *shortage;
		if (slot->state == WISH_WAITING)
			continue;
		slot->state = WISH_RESTING;
		if (shortage->bytes == 0)
			slot->database = InvalidOid;
	}
	LWLockRelease(wanted_lock);
}

void
wanted_release(Oid database)
{
	LWLockAcquire(wanted_lock, LW_EXCLUSIVE);
	for (int i = 0; i < WANTED_SLOTS; i++)
	{
		WantedColumn *slot = &control->slots[i];

		if (slot->database != database || slot->state != WISH_TAKEN)
			continue;
		slot->state = WISH_WAITING;
		control->waiting++;
	}
	LWLockRelease(wanted_lock);
}

void
wanted_forget_database(Oid database)
{
	LWLockAcquire(wanted_lock, LW_EXCLUSIVE);
	for (int i = 0; i < WANTED_SLOTS; i++)
	{
		WantedColumn *slot = &control->slots[i];

		if (slot->database != database)
			continue;
		control->waiting -= slot->state == WISH_WAITING;
		*slot = (WantedColumn) {0};
	}
	LWLockRelease(wanted_lock);
}

void
wanted_age(void)
{
	LWLockAcquire(wanted_lock, LW_EXCLUSIVE);
	for (int i = 0; i < WANTED_SLOTS; i++)
		control->slots[i].count /= 2;
	LWLockRelease(wanted_lock);
}

uint32
wanted_count(void)
{
	uint32		count = 0;

	LWLockAcquire(wanted_lock, LW_SHARED);
	for (int i = 0; i < WANTED_SLOTS; i++)
		count += control->slots[i].state != WISH_RESTING;
	LWLockRelease(wanted_lock);
	return count;
}

int
wanted_list_databases(Oid *databases, int limit)
{
	int			count = 0;

	LWLockAcquire(wanted_lock, LW_SHARED);
	for (int i = 0; control->waiting > 0 && i < WANTED_SLOTS && count < limit; i++)
	{
		Oid			database = control->slots[i].database;
		bool		seen = control->slots[i].state != WISH_WAITING;

		for (int d = 0; d < count && !seen; d++)
			seen = databases[d] == database;
		if (!seen)
			databases[count++] = database;
	}
	LWLockRelease(wanted_lock);
	return count;
}

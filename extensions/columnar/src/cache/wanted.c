/*-------------------------------------------------------------------------
 *
 * wanted.c
 *	  Columns that queries would have read from the cache.
 *
 * A small open-addressed table of (database, relation, column) with counts.
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

typedef struct WantedColumn
{
	Oid			database;		/* InvalidOid: free */
	Oid			relid;
	AttrNumber	attnum;
	uint32		count;
} WantedColumn;

typedef struct WantedControl
{
	struct Latch *volatile listener;
	uint32		used;
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

static void
note_column(Oid database, Oid relid, AttrNumber attnum)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32(database), murmurhash32(relid)),
									murmurhash32((uint32) attnum));

	for (uint32 i = 0; i < WANTED_PROBES; i++)
	{
		WantedColumn *slot = &control->slots[(hash + i) % WANTED_SLOTS];

		if (!OidIsValid(slot->database))
		{
			slot->database = database;
			slot->relid = relid;
			slot->attnum = attnum;
			slot->count = 1;
			control->used++;
			return;
		}
		if (slot->database == database && slot->relid == relid && slot->attnum == attnum)
		{
			slot->count++;
			return;
		}
	}
}

void
wanted_note(Oid database, Oid relid, const AttrNumber *attnums, int natts)
{
	bool		was_empty;

	if (!LWLockConditionalAcquire(wanted_lock, LW_EXCLUSIVE))
		return;
	was_empty = control->used == 0;
	for (int i = 0; i < natts; i++)
		note_column(database, relid, attnums[i]);
	LWLockRelease(wanted_lock);
	if (was_empty)
		wanted_wake_listener();
}

static int
compare_columns(const void *a, const void *b)
{
	const WantedColumn *left = a;
	const WantedColumn *right = b;

	if (left->relid != right->relid)
		return left->relid < right->relid ? -1 : 1;
	return left->attnum - right->attnum;
}

static int
compare_relations(const void *a, const void *b)
{
	uint32		left = ((const WantedRelation *) a)->count;
	uint32		right = ((const WantedRelation *) b)->count;

	return left > right ? -1 : left < right;
}

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

		if (slot->database != database)
			continue;
		columns[column_count++] = *slot;
		/* a gap shortens later probes; a column found twice is only counted in two places */
		slot->database = InvalidOid;
		control->used--;
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
			relation->natts = 0;
			relation->attnums = palloc(sizeof(AttrNumber) * column_count);
		}
		relation = &(*relations)[count - 1];
		relation->count = Max(relation->count, columns[i].count);
		if (relation->natts == 0 || relation->attnums[relation->natts - 1] != columns[i].attnum)
			relation->attnums[relation->natts++] = columns[i].attnum;
	}
	pfree(columns);
	qsort(*relations, count, sizeof(WantedRelation), compare_relations);
	return count;
}

int
wanted_list_databases(Oid *databases, int limit)
{
	int			count = 0;

	LWLockAcquire(wanted_lock, LW_SHARED);
	for (int i = 0; control->used > 0 && i < WANTED_SLOTS && count < limit; i++)
	{
		Oid			database = control->slots[i].database;
		bool		seen = !OidIsValid(database);

		for (int d = 0; d < count && !seen; d++)
			seen = databases[d] == database;
		if (!seen)
			databases[count++] = database;
	}
	LWLockRelease(wanted_lock);
	return count;
}

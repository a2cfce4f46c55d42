/*-------------------------------------------------------------------------
 *
 * progress.c
 *	  Who loads what, and how far.
 *
 * Lock: the progress lock for claiming, freeing and listing slots.  A slot's
 * counters are written by its owner alone, without it; readers may see
 * numbers that are a moment old.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "cache/progress.h"

typedef struct ProgressControl
{
	ConditionVariable slot_freed;
	LoadTotals	totals;
	LoadProgress slots[PROGRESS_SLOTS];
} ProgressControl;

static ProgressControl *control = NULL;
static LoadProgress *my_slot = NULL;

#define progress_lock (directory_shared_lock(2))

Size
progress_shmem_bytes(void)
{
	return sizeof(ProgressControl);
}

void
progress_shmem_startup(void *shmem)
{
	control = shmem;
	memset(control, 0, sizeof(*control));
	control->totals.reset_at = GetCurrentTimestamp();
	ConditionVariableInit(&control->slot_freed);
}

static void
free_slot_at_exit(int code, Datum argument)
{
	progress_end();
}

/* Under the lock: the free slot to use, unless somebody loads the relation. */
static LoadProgress *
find_slot(const CacheKey *key)
{
	LoadProgress *free_slot = NULL;

	for (int i = 0; i < PROGRESS_SLOTS; i++)
	{
		LoadProgress *slot = &control->slots[i];

		if (slot->pid == 0)
			free_slot = slot;
		else if (memcmp(&slot->key, key, sizeof(CacheKey)) == 0)
			return NULL;
	}
	return free_slot;
}

LoadProgress *
progress_begin(const CacheKey *key, Oid relid, bool by_worker, bool wait)
{
	static bool exit_registered = false;
	LoadProgress *slot;

	if (!exit_registered)
	{
		before_shmem_exit(free_slot_at_exit, (Datum) 0);
		exit_registered = true;
	}
	for (;;)
	{
		LWLockAcquire(progress_lock, LW_EXCLUSIVE);
		slot = find_slot(key);
		if (slot != NULL)
		{
			memset(slot, 0, sizeof(*slot));
			slot->pid = MyProcPid;
			slot->key = *key;
			slot->relid = relid;
			slot->by_worker = by_worker;
			slot->started = GetCurrentTimestamp();
			control->totals.loads++;
			my_slot = slot;
		}
		LWLockRelease(progress_lock);
		if (slot != NULL || !wait)
			break;
		/* the timeout makes a missed wakeup harmless */
		ConditionVariableTimedSleep(&control->slot_freed, 100, WaitEventExtensionNew("PenumbraLoadSlot"));
	}
	ConditionVariableCancelSleep();
	return slot;
}

void
progress_end(void)
{
	/* A process that exits comes here twice, and somebody else may have the slot by then. */
	if (my_slot == NULL)
		return;
	LWLockAcquire(progress_lock, LW_EXCLUSIVE);
	control->totals.chunks_loaded += my_slot->chunks_loaded;
	control->totals.heap_bytes += my_slot->heap_bytes;
	control->totals.cached_bytes += my_slot->cached_bytes;
	my_slot->pid = 0;
	my_slot = NULL;
	LWLockRelease(progress_lock);
	ConditionVariableBroadcast(&control->slot_freed);
}

int
progress_list(LoadProgress *slots)
{
	int			count = 0;

	LWLockAcquire(progress_lock, LW_SHARED);
	for (int i = 0; i < PROGRESS_SLOTS; i++)
	{
		if (control->slots[i].pid != 0)
			slots[count++] = control->slots[i];
	}
	LWLockRelease(progress_lock);
	return count;
}

void
progress_note_vacuum(void)
{
	LWLockAcquire(progress_lock, LW_EXCLUSIVE);
	control->totals.vacuums++;
	LWLockRelease(progress_lock);
}

void
progress_note_error(void)
{
	LWLockAcquire(progress_lock, LW_EXCLUSIVE);
	control->totals.errors++;
	LWLockRelease(progress_lock);
}

void
progress_get_totals(LoadTotals *totals)
{
	LWLockAcquire(progress_lock, LW_SHARED);
	*totals = control->totals;
	LWLockRelease(progress_lock);
}

void
progress_reset_totals(void)
{
	LWLockAcquire(progress_lock, LW_EXCLUSIVE);
	control->totals = (LoadTotals) {.reset_at = GetCurrentTimestamp()};
	LWLockRelease(progress_lock);
}

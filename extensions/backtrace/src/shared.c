/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  Shared memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/ipc.h"
#include "storage/shmem.h"

#include "settings.h"
#include "shared.h"

#define TRANCHE "penumbra_backtrace"

BacktraceShared *backtrace_shared = NULL;

static shmem_request_hook_type previous_shmem_request_hook = NULL;
static shmem_startup_hook_type previous_shmem_startup_hook = NULL;

static Size
shared_bytes(void)
{
	return add_size(offsetof(BacktraceShared, entries),
					mul_size(backtrace_max_stacks, sizeof(StackEntry)));
}

static void
shared_request(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(shared_bytes());
	RequestNamedLWLockTranche(TRANCHE, 1);
}

/* Memory that is not touched is not taken: of an entry only what its stack needs. */
static void
shared_startup(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	backtrace_shared = ShmemInitStruct("penumbra_backtrace", shared_bytes(), &found);
	if (!found)
	{
		backtrace_shared->lock = &GetNamedLWLockTranche(TRANCHE)->lock;
		backtrace_shared->worker_latch = NULL;
		pg_atomic_init_u32(&backtrace_shared->reports_started, 0);
		backtrace_shared->entry_count = backtrace_max_stacks;
		for (int i = 0; i < LIVE_SLOTS; i++)
			pg_atomic_init_u32(&backtrace_shared->live[i].state, 0);
		for (int i = 0; i < backtrace_max_stacks; i++)
			backtrace_shared->entries[i].count = 0;
	}
	LWLockRelease(AddinShmemInitLock);
}

void
shared_install_hooks(void)
{
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = shared_request;
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = shared_startup;
}

void
shared_require(void)
{
	if (backtrace_shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("penumbra_backtrace was not loaded at server start"),
				 errhint("Add penumbra_backtrace to \"shared_preload_libraries\" and restart the server.")));
}

/* A stale pointer is that of another process's latch, whom a needless wake-up does no harm. */
void
shared_wake_worker(void)
{
	Latch	   *latch = backtrace_shared->worker_latch;

	if (latch != NULL)
		SetLatch(latch);
}

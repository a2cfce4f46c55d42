/*-------------------------------------------------------------------------
 *
 * parallel_scan.c
 *	  Parallel scans: one process at a time goes on to the next page.
 *
 * The target of the next page is shared.  Whoever wants a page takes it, so
 * that the others wait, reads the page, and puts down the target after it.
 * All processes compute the same intervals from the same keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "pg_compat.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "scan.h"

typedef enum ParallelState
{
	PARALLEL_NOT_STARTED,
	PARALLEL_TARGET_IS_FREE,
	PARALLEL_TARGET_IS_TAKEN,
	PARALLEL_DONE
} ParallelState;

typedef struct KeytreeParallelScan
{
	slock_t		mutex;			/* protects the fields up to the condition variable */
	ParallelState state;
	KeytreeTarget target;
	ConditionVariable changed;
} KeytreeParallelScan;

Size
keytree_estimate_parallel_scan(COMPAT_ESTIMATE_PARALLEL_SCAN_PARAMETERS)
{
	return sizeof(KeytreeParallelScan);
}

void
keytree_init_parallel_scan(void *place)
{
	KeytreeParallelScan *shared = place;

	SpinLockInit(&shared->mutex);
	shared->state = PARALLEL_NOT_STARTED;
	ConditionVariableInit(&shared->changed);
}

static KeytreeParallelScan *
shared_state(IndexScanDesc scan)
{
	return (KeytreeParallelScan *) compat_parallel_scan_of_am(scan);
}

void
keytree_parallel_rescan(IndexScanDesc scan)
{
	KeytreeParallelScan *shared = shared_state(scan);

	/* no other process scans now */
	SpinLockAcquire(&shared->mutex);
	shared->state = PARALLEL_NOT_STARTED;
	SpinLockRelease(&shared->mutex);
}

/*
 * Takes the target, which one process has at a time, until it says what comes next;
 * the others sleep meanwhile. False means that the scan is done.
 */
bool
keytree_parallel_take(IndexScanDesc scan, KeytreeTarget *target, bool *is_first)
{
	KeytreeParallelScan *shared = shared_state(scan);
	ParallelState state;

	for (;;)
	{
		SpinLockAcquire(&shared->mutex);
		state = shared->state;
		if (state == PARALLEL_NOT_STARTED || state == PARALLEL_TARGET_IS_FREE)
		{
			shared->state = PARALLEL_TARGET_IS_TAKEN;
			*target = shared->target;
		}
		SpinLockRelease(&shared->mutex);
		if (state != PARALLEL_TARGET_IS_TAKEN)
			break;
		ConditionVariableSleep(&shared->changed, WAIT_EVENT_BTREE_PAGE);
	}
	ConditionVariableCancelSleep();
	*is_first = state == PARALLEL_NOT_STARTED;
	return state != PARALLEL_DONE;
}

void
keytree_parallel_put(IndexScanDesc scan, const KeytreeTarget *target)
{
	KeytreeParallelScan *shared = shared_state(scan);

	SpinLockAcquire(&shared->mutex);
	shared->state = target != NULL ? PARALLEL_TARGET_IS_FREE : PARALLEL_DONE;
	if (target != NULL)
		shared->target = *target;
	SpinLockRelease(&shared->mutex);
	if (target != NULL)
		ConditionVariableSignal(&shared->changed);
	else
		ConditionVariableBroadcast(&shared->changed);
}

/*-------------------------------------------------------------------------
 *
 * shared.h
 *	  Shared memory: counted stacks of errors, slots of live backtraces, the
 *	  worker.
 *
 * shared->lock guards the stacks.  It may be taken wherever an error may be
 * reported, with any other lock held; so who holds it takes no other lock,
 * allocates nothing and raises no error.  Slots have a state of their own
 * (live.c) and need no lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_SHARED_H
#define BACKTRACE_SHARED_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/lwlock.h"

#include "stack.h"

#define LIVE_SLOTS			8

/* A different stack of an error. */
typedef struct StackEntry
{
	int64		count;			/* 0: free */
	int			sqlerrcode;
	uint64		hash;			/* of places in modules, so that it is the same in all processes */
	TimestampTz first_at;
	TimestampTz last_at;
	int			first_pid;
	BackendType first_type;
	bool		pending;		/* for the worker: to be symbolised and logged */
	char		text[STACK_TEXT_BYTES]; /* raw while pending */
} StackEntry;

typedef struct LiveSlot
{
	pg_atomic_uint32 state;
	int			requester_pid;
	int			target_pid;
	char		text[STACK_TEXT_BYTES];
} LiveSlot;

typedef struct BacktraceShared
{
	LWLock	   *lock;
	Latch	   *worker_latch;	/* NULL: it does not run */
	pg_atomic_uint32 reports_started;	/* by processes that crashed since this memory is there */
	LiveSlot	live[LIVE_SLOTS];
	int			entry_count;
	StackEntry	entries[FLEXIBLE_ARRAY_MEMBER];
} BacktraceShared;

/* NULL: not in shared_preload_libraries. */
extern BacktraceShared *backtrace_shared;

extern void shared_install_hooks(void);
extern void shared_require(void);
extern void shared_wake_worker(void);

#endif							/* BACKTRACE_SHARED_H */

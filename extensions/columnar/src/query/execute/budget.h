/*-------------------------------------------------------------------------
 *
 * budget.h
 *	  What executions of all sessions may use together.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_BUDGET_H
#define PENUMBRA_BUDGET_H

#include "postgres.h"

#include "penumbra/engine.h"

/* penumbra.query_memory. */
extern void budget_define_settings(void);

/* Shared memory, only when preloaded; under AddinShmemInitLock. */
extern Size budget_shmem_bytes(void);
extern void budget_shmem_startup(void *shmem);

extern void budget_set_options(PenumbraExecOptions *options);

/*
 * What this process may keep of what executions freed: all together no more than
 * penumbra.query_memory.  To take memory again costs page faults, 0.2 s per GB,
 * which is much beside an execution that held less than the most; that is also
 * what the C library by itself leaves at the top of an arena.
 */
#define BUDGET_KEPT_BYTES_MAX ((Size) 64 << 20)
extern Size budget_kept_bytes(void);

#endif							/* PENUMBRA_BUDGET_H */

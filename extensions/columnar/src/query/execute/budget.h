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

/* Sets the limits of memory and threads, and where the execution counts what it uses of them. */
extern void budget_set_options(PenumbraExecOptions *options);

/*
 * What this process may keep of what executions freed, in the engine's blocks and
 * as much again in the C library: all processes together no more than
 * penumbra.query_memory.  To take memory again costs page faults, 0.2 to 1 s per GB.
 */
#define BUDGET_KEPT_BYTES_MAX ((Size) 256 << 20)
extern Size budget_kept_bytes(void);

#endif							/* PENUMBRA_BUDGET_H */

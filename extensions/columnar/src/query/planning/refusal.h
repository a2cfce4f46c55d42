/*-------------------------------------------------------------------------
 *
 * refusal.h
 *	  How often what was left to PostgreSQL, and why.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REFUSAL_H
#define PENUMBRA_REFUSAL_H

#include "postgres.h"

/* Shared memory of the refusal counters; only when preloaded. */
extern Size refusal_shmem_bytes(void);
extern void refusal_shmem_startup(void);

extern void refusal_count(const char *reason);

#endif							/* PENUMBRA_REFUSAL_H */

/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  Who loads what, and how far: one slot per running load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PROGRESS_H
#define PENUMBRA_PROGRESS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "cache/directory.h"

#define PROGRESS_SLOTS	64

typedef struct LoadProgress
{
	int			pid;			/* 0: free slot */
	CacheKey	key;
	Oid			relid;
	bool		by_worker;
	TimestampTz started;
	uint32		columns;
	uint32		chunks_total;
	uint32		first_chunk;
	uint32		chunks_done;
	uint32		chunks_loaded;	/* of these, had to be */
	uint64		heap_bytes;		/* read */
	uint64		cached_bytes;	/* written */
} LoadProgress;

/* For penumbra.activity. */
typedef struct LoadTotals
{
	TimestampTz reset_at;		/* all counters of views count since then */
	uint64		loads;
	uint64		chunks_loaded;
	uint64		heap_bytes;
	uint64		cached_bytes;
	uint64		vacuums;
	uint64		errors;
} LoadTotals;

extern Size progress_shmem_bytes(void);
extern void progress_shmem_startup(void *shmem);

/*
 * Claims a slot for loading the relation, after waiting (if `wait`) for
 * whoever loads it now.  NULL: somebody does, or every slot is taken.  The
 * slot is given back by progress_end(), or at the latest at process exit.
 */
extern LoadProgress *progress_begin(const CacheKey *key, Oid relid, bool by_worker, bool wait);
/* Nothing to do when there is none. */
extern void progress_end(void);

/* Copies the used slots; at most PROGRESS_SLOTS. */
extern int	progress_list(LoadProgress *slots);

extern void progress_note_vacuum(void);
extern void progress_note_error(void);
extern void progress_get_totals(LoadTotals *totals);
extern void progress_reset_totals(void);

#endif							/* PENUMBRA_PROGRESS_H */

/*-------------------------------------------------------------------------
 *
 * loader.h
 *	  Loads and refreshes chunks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LOADER_H
#define PENUMBRA_LOADER_H

#include "postgres.h"

#include "cache/directory.h"

typedef struct LoadOptions
{
	const ColumnKey *columns;	/* columns to have */
	int			ncolumns;
	/*
	 * A chunk is built anew when more than this share of its pages cannot be
	 * served from it; and, when the pages are being written now, not before
	 * scans have lost as much by that as building costs, or it has been used
	 * for a while (`patient`).
	 */
	double		stale_share;
	bool		patient;
	bool		patches;		/* first tries to give chunks patches, where scans have lost as much as that costs */
	bool		by_worker;
	uint32		wishes;			/* columns that a chunk lacks evict what was used less; 0: whatever is used least */
	MemoryShortage shortage;	/* an earlier load's: if it was of the same columns, nothing is read for less */
	bool		wait;			/* for another load of the same relation */
	uint32		first_chunk;	/* where to begin */
	uint32		chunk_limit;	/* stop after loading so many; 0: none */
	uint64		protected_serial;	/* 0: this load's own; see directory_allocate() */
} LoadOptions;

/* Chunks of a transaction, so that nobody waits long for its lock or its snapshot: about 256 MB of heap. */
#define CHUNKS_PER_TRANSACTION	32

typedef enum LoadOutcome
{
	LOAD_DONE,
	LOAD_MORE,					/* chunk_limit reached, or a worker's settings changed: go on at next_chunk */
	LOAD_FULL,					/* no memory left that could be evicted */
	LOAD_BUSY,					/* somebody else loads the relation */
} LoadOutcome;

typedef struct LoadResult
{
	LoadOutcome outcome;
	uint32		chunks_total;
	uint32		chunks_loaded;
	uint32		next_chunk;
	uint64		heap_bytes;		/* read */
	uint64		cached_bytes;	/* written */
	MemoryShortage shortage;	/* of LOAD_FULL */
	LeftPages	left;			/* of the chunks that were built */
} LoadResult;

/*
 * The caller holds AccessShareLock, an active snapshot (detoasting), and has
 * checked that relation and columns can be cached.  Publishes chunk by chunk:
 * after an error what was published stays.
 */
extern void loader_load(Relation rel, const LoadOptions *options, LoadResult *result);

#endif							/* PENUMBRA_LOADER_H */

/*-------------------------------------------------------------------------
 *
 * disk_cache.h
 *	  The disk cache on disk: segments outlive eviction, and the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_CACHE_H
#define PENUMBRA_DISK_CACHE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "storage/latch.h"
#include "storage/spin.h"

#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/disk/disk_manifest.h"

typedef enum DiskState
{
	DISK_OFF,
	DISK_OPENING,				/* what was saved is being read */
	DISK_OPEN,
	DISK_REFUSED,				/* the server's log says why */
	DISK_STOPPED,				/* in DiskStats alone: the worker is not there, and is started again if it can be */
} DiskState;

typedef struct DiskStats
{
	DiskState	state;
	bool		is_pending;		/* something was loaded that is not saved */
	uint64		budget_bytes;
	uint64		file_bytes;		/* of the files there are */
	uint64		saved_chunks;	/* in the manifest, which the next start reads */
	uint64		saved_segments;
	uint64		saved_bytes;
	uint64		restored_chunks;
	uint64		restored_segments;
	uint64		restored_bytes;
	uint64		segments_read;
	uint64		bytes_read;
	TimestampTz reader_since;	/* 0: nothing is read back */
	uint64		reader_bytes;
	uint64		reader_bytes_left;
	uint64		read_errors;
	uint64		damaged;		/* read, but not what was written */
	uint64		bytes_written;
	uint64		write_errors;
} DiskStats;

extern void disk_cache_define_settings(void);
extern bool disk_cache_is_enabled(void);
/*
 * What was saved is still to be found, by a worker that is there or expected.
 * Without one, for want of a process, a wait would not end.  False in recovery,
 * where nothing is looked for.
 */
extern bool disk_cache_is_opening(void);
/* From now on, for some seconds, the worker is expected. */
extern void disk_cache_expect_worker(void);
extern Size disk_cache_shmem_bytes(void);
extern void disk_cache_shmem_startup(void *shmem);
extern void disk_cache_register_worker(void);

/* Something was loaded that is to be saved. */
extern void disk_cache_wake(void);
/* Waits until all that was loaded is saved, so that it may be evicted; false: not all is, or no worker is there. */
extern bool disk_cache_await_saved(void);

/*
 * Sees to it that a segment of a chunk, which the caller has pinned with it, is
 * in memory; false: there is no room, or it cannot be read, and is forgotten.
 */
extern bool disk_cache_fetch(CachedChunk *chunk, ColumnKey column);
/*
 * The same for a scan, of all its columns and in two steps, between which other
 * chunks can be read.  It evicts only what is used less: segments may be in the
 * buffer instead, until that is used for another chunk.
 */
extern void disk_cache_begin_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns, ChunkBuffer *buffer);
/* False: a segment could not be read. */
extern bool disk_cache_end_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns,
								 ChunkBuffer *buffer, const void **segments);

/* Frees the region's memory in this process's buffers, when it exits; nothing reads from them any more. */
extern void disk_cache_release_buffers(void);

/* Whether a pinned segment's copy on disk, if there is one, is what it should be; else it is forgotten. */
extern bool disk_cache_check_copy(CachedChunk *chunk, ColumnKey column);

extern void disk_cache_get_stats(DiskStats *stats);
/* Counts what is read, written and fails from zero on. */
extern void disk_cache_reset_counts(void);

/* ---- for the processes of the disk cache */

/* After so long the postmaster starts one again that an error or a signal ended. */
#define DISK_RESTART_SECONDS	5

/* In shared memory; all but start, lock and what it protects is atomic. */
typedef struct DiskControl
{
	pg_atomic_uint32 state;		/* DiskState */
	DiskStart	start;
	slock_t		lock;			/* of the next two; a leaf */
	Latch	   *latch;			/* the worker's; NULL: none serves */
	TimestampTz expected;		/* when it was expected last */
	pg_atomic_uint64 loads;		/* since the start; this is one, too */
	pg_atomic_uint64 saved_loads;	/* of them, those before the worker looked last */
	pg_atomic_uint32 hurries;	/* somebody waits for that */
	pg_atomic_uint32 has_warned;	/* of a read that failed */
	pg_atomic_uint64 file_bytes;
	pg_atomic_uint64 saved_chunks;
	pg_atomic_uint64 saved_segments;
	pg_atomic_uint64 saved_bytes;
	pg_atomic_uint64 restored_chunks;
	pg_atomic_uint64 restored_segments;
	pg_atomic_uint64 restored_bytes;
	pg_atomic_uint64 segments_read;
	pg_atomic_uint64 bytes_read;
	pg_atomic_uint64 reader_since;	/* a TimestampTz; 0: disk_reader.c does not run */
	pg_atomic_uint64 reader_bytes;	/* of bytes_read, its own */
	pg_atomic_uint64 reader_bytes_left; /* of the columns that it has not done */
	pg_atomic_uint64 read_errors;
	pg_atomic_uint64 damaged;
	pg_atomic_uint64 bytes_written;
	pg_atomic_uint64 write_errors;
} DiskControl;

extern DiskControl *disk_control;

extern uint64 disk_cache_budget_bytes(void);
/* Whether segments that are written from now on may be packed (disk_pack.h). */
extern bool disk_cache_packs(void);
extern bool disk_cache_has_loads(void);

#endif							/* PENUMBRA_DISK_CACHE_H */

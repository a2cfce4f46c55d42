/*-------------------------------------------------------------------------
 *
 * directory.h
 *	  What is cached: relations, their chunks, the chunks' column segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DIRECTORY_H
#define PENUMBRA_DIRECTORY_H

#include "postgres.h"

#include "storage/lwlock.h"
#include "utils/relcache.h"

#include "cache/chunk.h"
#include "cache/remembered_filter.h"

#define DIRECTORY_TRANCHE		"penumbra"
#define DIRECTORY_LOCK_COUNT	3	/* directory, wanted columns, progress */

/* A copy of what is known of a relation. */
typedef struct RelationSummary
{
	CacheKey	key;
	Oid			relid;
	uint32		chunks;
	uint64		pages;			/* in chunks */
	uint64		cached_pages;
	uint64		changed_pages;
	uint64		unproven_pages;
	uint64		lsn_pages;		/* proven by reading them: VACUUM would help */
	uint64		lost_pages;
	TimestampTz stale_since;	/* 0: nothing is lost */
	uint64		unsettled_pages;
	TransactionId unsettled_xid;	/* the youngest next_xid of chunks with such pages, or dead ones */
	bool		lacks_memory;	/* at the last load */
	MemoryShortage shortage;	/* of the last refresh */
	uint64		rows;
	uint64		bytes;			/* segments and chunk headers, in memory */
	uint64		disk_bytes;		/* segments on disk */
	uint64		scans;
	uint64		pages_from_cache;
	uint64		pages_from_heap;
	uint64		heap_pages;		/* the same, as if it was never counted anew: what the worker goes by */
	uint64		refreshed_heap_pages;	/* of these, read before the last refresh */
	uint64		misses;
	uint64		evictions;
} RelationSummary;

typedef struct ColumnSummary
{
	ColumnKey	column;
	uint32		chunks;
	uint64		pages;
	uint64		rows;
	uint64		bytes;			/* in memory */
	uint64		disk_bytes;
	uint64		plain_bytes;	/* of what is in memory */
	uint64		hits;
	uint32		uses;			/* hits lately, or USES_OF_PINNED */
	char		encodings[128]; /* "for1 12, dictionary 3" */
} ColumnSummary;

extern Size directory_shmem_bytes(void);
extern void directory_shmem_startup(void);	/* under AddinShmemInitLock */
extern LWLock *directory_shared_lock(int index);

extern void directory_key_of(Relation rel, CacheKey *key);
extern bool directory_is_empty(void);

/* Whether the cached column still is the relation's column of that key. */
extern bool directory_segment_matches(const CachedSegment *segment, TupleDesc desc);
/* Of a pinned patch; false: it lacks a column. */
extern bool patch_find_segments(const CachedChunk *patch, TupleDesc desc, const ColumnKey *columns, int ncolumns,
								const void **segments);

/*
 * Pins every chunk that has all the columns (ncolumns may be 0), in order, and
 * those columns' segments.  Returns the number; *chunks is palloc'd.  With a
 * sample > 0 only so many of them, or up to twice as many, evenly apart.
 * Segments that are only on disk count if `on_disk`; see disk_cache.h.
 */
extern int	directory_pin_chunks(Relation rel, const ColumnKey *columns, int ncolumns, uint32 sample,
								 bool on_disk, CachedChunk ***chunks);
/*
 * Pins one chunk.  With columns (room for all places of the relation's) also every
 * segment that matches the relation, in memory or on disk, listing them; else
 * only the header: its segments can be evicted.
 */
extern CachedChunk *directory_pin_chunk(Relation rel, uint32 number, ColumnKey *columns, int *ncolumns);
/*
 * Pins the patches of pinned chunks; NULL where there is none.  They are
 * unpinned by directory_unpin_chunk() without columns.
 */
extern void directory_pin_patches(CachedChunk *const *chunks, int count, CachedChunk **patches);
extern void directory_unpin_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns);

/*
 * Gives a chunk, built in region memory and filled with region memory's
 * segments, to the directory, in place of an older version.  False: the
 * directory has no room for it; the caller keeps the memory.
 */
extern bool directory_publish_chunk(Oid relid, CachedChunk *chunk);
/* Adds columns to a chunk the caller has pinned.  False: it was replaced or has one of them meanwhile. */
extern bool directory_publish_segments(CachedChunk *chunk, const CachedSegment *segments, int count);

/*
 * Gives a pinned chunk another patch.  False: it was replaced or has no column
 * in memory meanwhile; the caller keeps the patch.
 */
extern bool directory_publish_patch(CachedChunk *chunk, CachedChunk *patch);

/* Pins what is remembered of the filter by pinned segments, of which some may be NULL; NULL: nothing. */
extern void directory_pin_filters(CachedSegment *const *segments, int count, const FilterKey *key,
								  RememberedFilter **filters);
/* Gives a pinned segment a filter.  False: it has no room, or is gone meanwhile; the caller keeps the filter. */
extern bool directory_publish_filter(CachedSegment *segment, RememberedFilter *filter, const FilterKey *key);

/* Frees a chunk that was never published, with its segments. */
extern void directory_free_chunk(CachedChunk *chunk);

/* penumbra.database_memory, of this session; SIZE_MAX: none. */
extern void directory_define_settings(void);
extern Size directory_quota_bytes(void);

/*
 * Region memory, evicting the least used unpinned segments when there is not
 * enough, or this database's where its quota is used up.  Segments with a
 * serial from `protected_serial` on stay, unless they are on disk, too; and with
 * wishes > 0, which are of a chunk's column or more, those of columns that were
 * used too often for that.  NULL when nothing more can be evicted.
 */
extern void *directory_allocate(Size bytes, uint64 protected_serial, uint32 wishes);
/* Whether a load of so many wishes would find what another one lacked. */
extern bool directory_has_room(const MemoryShortage *shortage, uint32 wishes);
/*
 * Region memory for a pinned segment that is read from disk, evicting at most
 * segments that are on disk, too, and are used less.  NULL: the others are
 * worth as much where they are.
 */
extern void *directory_allocate_for(CachedChunk *chunk, ColumnKey column);
/* Evicts what memory holds beyond the budget, but for what is pinned; false: there is some left. */
extern bool directory_shrink(void);
/* What this process has evicted so far. */
extern uint64 directory_evicted_bytes(void);
extern uint64 directory_next_serial(void);

extern uint64 directory_drop_relation(const CacheKey *key);	/* returns the chunks dropped */
/* All files of a relation (InvalidOid: of every relation of the database) but `keep`, which may be NULL. */
extern void directory_drop_relation_oid(Oid database, Oid relid, const CacheKey *keep);
extern void directory_drop_database(Oid database);

/* ---- for the disk cache */

/*
 * The next chunk of a file from `number` on, or NULL, pinned with all its
 * segments, of which `segments` (room for MaxHeapAttributeNumber) gets copies.
 */
extern CachedChunk *directory_pin_next_chunk(const CacheKey *key, uint32 number,
											 CachedSegment *segments, int *count);
/* The next chunk of a file from `number` on of which the column is on disk alone, or NULL, pinned with its segment. */
extern CachedChunk *directory_pin_next_cold(const CacheKey *key, uint32 number, ColumnKey column);
/* Says of a pinned chunk's segments where their copies on disk are; they are other segments by now: nothing. */
extern void directory_set_extents(CachedChunk *chunk, const CachedSegment *segments, int count);
/*
 * Gives a chunk whose segments are on disk to the directory, unless it has one
 * in its place, or too many headers of such chunks already.
 */
extern bool directory_restore_chunk(Oid relid, CachedChunk *chunk);
/* Whether a pinned segment is in memory; *extent: where on disk. */
extern bool directory_find_extent(CachedChunk *chunk, ColumnKey column, DiskExtent *extent);
/* Gives a pinned segment the memory into which it was read from there; false: somebody else did. */
extern bool directory_put_segment(CachedChunk *chunk, ColumnKey column, void *page);
/*
 * Forgets a copy on disk of a pinned chunk's segment, which is not cached any
 * more if it is only there; false: somebody else did.
 */
extern bool directory_drop_extent(CachedChunk *chunk, ColumnKey column, const DiskExtent *extent);
/* The same for all copies of a relation's segments and headers that are in the file. */
extern void directory_drop_extents(const CacheKey *key, uint32 file);

/* For planning: totals of the columns, without looking at chunks. */
extern bool directory_estimate(const CacheKey *key, const ColumnKey *columns, int ncolumns,
							   uint64 *pages, uint64 *unproven_pages, uint64 *lsn_pages,
							   uint64 *rows, uint64 *bytes, uint64 *cold_bytes);
extern void directory_note_scan(const CacheKey *key, const ColumnKey *columns, int ncolumns,
								uint64 pages_from_cache, uint64 pages_from_heap, uint64 misses);
/* Segments of the size class that had to make room. */
extern uint64 eviction_count(int class);
/* Counts scans, misses and evictions from zero on. */
extern void directory_reset_counts(void);
/* The columns count as used at least so often. */
extern void directory_raise_uses(const CacheKey *key, const ColumnKey *columns, int ncolumns, uint32 uses);
/* How many times its uses count when others want its memory; PRIORITY_PINNED: it keeps that. */
extern void directory_set_priority(const CacheKey *key, uint32 priority);
/* Halves how often all columns were used. */
extern void directory_age_uses(void);
/* What was found of a pinned chunk. */
extern void directory_note_proof(CachedChunk *chunk, uint32 unproven_pages, uint32 lsn_pages);

/* Whether the load that ended ran out of memory. */
extern void directory_note_load(const CacheKey *key, bool lacks_memory);
/* What the refresh that ended lacked, and up to how many heap pages it knows of. */
extern void directory_note_refresh(const CacheKey *key, const MemoryShortage *shortage, uint64 heap_pages);

/* True, at most once per pause, for whoever is to vacuum the relation. */
extern bool directory_claim_vacuum(const CacheKey *key, int pause_ms);

/* Copies for views and the worker, palloc'd; database InvalidOid: all; relid: that relation's of the database alone. */
extern int	directory_list_relations(Oid database, Oid relid, RelationSummary **relations);
extern int	directory_list_columns(const CacheKey *key, ColumnSummary **columns);

#endif							/* PENUMBRA_DIRECTORY_H */

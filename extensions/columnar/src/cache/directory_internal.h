/*-------------------------------------------------------------------------
 *
 * directory_internal.h
 *	  What the files of the directory share: its relations, under its lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DIRECTORY_INTERNAL_H
#define PENUMBRA_DIRECTORY_INTERNAL_H

#include "postgres.h"

#include "utils/hsearch.h"

#include "cache/chunk.h"

/* Totals over a relation's chunks. */
typedef struct ColumnTotals
{
	uint32		chunks;
	uint64		pages;			/* of the chunks, cached */
	uint64		rows;
	uint64		bytes;			/* in memory */
	uint64		disk_bytes;
	uint64		cold_bytes;		/* of these, not in memory */
	pg_atomic_uint64 hits;
	pg_atomic_uint64 uses;		/* hits lately, up to WISHES_MAX; a lost update costs nothing */
} ColumnTotals;

typedef struct CachedRelation
{
	CacheKey	key;			/* hash key */
	Oid			relid;
	struct CachedRelation *next_in_chain;	/* directory_relations.c's */
	uint32		chunk_limit;	/* length of chunks[] */
	uint32		chunk_count;	/* not NULL */
	uint32		column_limit;	/* length of columns[] */
	CachedChunk **chunks;		/* region memory */
	ColumnTotals *columns;		/* region memory, by the place of the column's key */
	pg_atomic_uint64 scans;
	pg_atomic_uint64 pages_from_cache;
	pg_atomic_uint64 pages_from_heap;
	uint64		heap_pages_before;	/* those before they were counted anew; changed under the exclusive lock */
	pg_atomic_uint64 misses;	/* chunks that scans wanted, of which a segment was not in memory */
	uint64		evictions;		/* of segments; changed under the exclusive lock */
	/* sums of the chunks' numbers; below 0 for moments */
	pg_atomic_uint64 unproven_pages;
	pg_atomic_uint64 lsn_pages;
	pg_atomic_uint64 vacuumed_at;	/* TimestampTz */
	pg_atomic_uint32 lacks_memory;	/* the last load ended for that */
	pg_atomic_uint32 priority;	/* of its place in memory; 0, before it is known: 1 */
	/* of the last refresh; changed by one worker, under the exclusive lock: */
	MemoryShortage shortage;
	uint64		refreshed_heap_pages;	/* of heap_pages_before and pages_from_heap, known then */
} CachedRelation;

#define directory_lock (directory_shared_lock(0))

/* Under the lock: NULL: no chunk has room for such a column. */
static inline ColumnTotals *
relation_totals(const CachedRelation *relation, ColumnKey column)
{
	uint32		place = column_key_place(column);

	return place < relation->column_limit ? &relation->columns[place] : NULL;
}

/* Second chances: of what was loaded or read, at most. */
#define USAGE_START				1
#define USAGE_MAX				5

/* In memory or on disk. */
static inline bool
segment_is_cached(const CachedSegment *segment)
{
	return segment->segment != NULL || segment->extent.file != 0;
}

/* Under the lock: the relation, or NULL; how many there are. */
extern CachedRelation *directory_find_relation(const CacheKey *key);
extern uint32 directory_relation_count(void);

/*
 * Under the lock: all relations, those of a database, or a relation's files, of
 * which it has another after it was rewritten (relid InvalidOid: of all relations).
 * A scan that does not go on to NULL has to be ended.
 */
typedef struct RelationScan
{
	Oid			database;
	Oid			relid;
	CachedRelation *next;
	HASH_SEQ_STATUS all;
} RelationScan;

extern void directory_begin_relations(RelationScan *scan, Oid database, Oid relid);
extern CachedRelation *directory_next_relation(RelationScan *scan);
extern void directory_end_relations(RelationScan *scan);

/* Under the lock: whether the chunk is in the directory, and was not replaced; the relation may be NULL. */
extern bool directory_is_linked(const CachedRelation *relation, const CachedChunk *chunk);

/* Region memory to be freed when the lock is released; page NULL: none. */
typedef struct Garbage
{
	void	   *page;
	Size		bytes;
} Garbage;

extern void directory_collect_garbage(const Garbage *garbage, int count);

/* ---- under the exclusive lock */

/* Takes a segment's memory, and its filters', which is the caller's then. */
extern void directory_forget_memory(CachedRelation *relation, CachedSegment *segment);
/* Takes a chunk out of the directory; the caller drops the directory's reference after unlocking. */
extern void directory_unlink_chunk(CachedRelation *relation, CachedChunk *chunk);
/*
 * The relation, which may be new; NULL: there is no room for more.  One that gets
 * no chunk is removed before the lock is released.
 */
extern CachedRelation *directory_enter_relation(const CacheKey *key, Oid relid);
/* Removes a relation without chunks, whose two arrays are the caller's then. */
extern void directory_remove_relation(CachedRelation *relation, Garbage *garbage);

/* A chunk enters the directory, and leaves it, with no segment in memory. */
extern void eviction_add_header(CachedChunk *chunk);
extern void eviction_remove_header(CachedChunk *chunk);
/* Whether the header may take memory when no segment does. */
extern bool eviction_header_may_stay(const CachedChunk *chunk);
/* A segment, which has memory, becomes the clock's last; or is taken out. */
extern void eviction_add_segment(CachedSegment *segment);
extern void eviction_remove_segment(CachedSegment *segment);

/* ---- at the server's start */

extern Size relations_shmem_bytes(void);
extern void relations_shmem_startup(void);
extern Size eviction_shmem_bytes(void);
extern void eviction_shmem_startup(void);
/* Under the exclusive lock. */
extern void eviction_reset_counts(void);

#endif							/* PENUMBRA_DIRECTORY_INTERNAL_H */

/*-------------------------------------------------------------------------
 *
 * directory.h
 *	  What is cached: relations, their chunks, the chunks' column segments.
 *
 * A chunk is CHUNK_PAGES heap pages; its version is immutable but for the
 * columns that are added or evicted, the pages and rows that are found dead and
 * the visibility-map stamp that is renewed.  A chunk found through the directory
 * is pinned together with the wanted segments; pinned memory stays as it is
 * until it is unpinned, whatever happens to the directory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DIRECTORY_H
#define PENUMBRA_DIRECTORY_H

#include "postgres.h"

#include "access/attnum.h"
#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "access/visibilitymapdefs.h"
#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "lib/ilist.h"
#include "port/atomics.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "storage/lwlock.h"
#include "utils/relcache.h"

#include "cache/tier_file.h"
#include "penumbra/engine.h"

#define DIRECTORY_TRANCHE		"penumbra"
#define DIRECTORY_LOCK_COUNT	3	/* directory, wanted columns, progress */

/* Heap pages whose bits are on one page of the visibility map. */
#define VM_PAGE_BYTES			(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define VM_PAGE_BLOCKS			(VM_PAGE_BYTES * BITS_PER_BYTE / BITS_PER_HEAPBLOCK)

/* A 32nd of that (1021 pages, 8 MB), so that a chunk needs one page of the map and one stamp. */
#define CHUNKS_PER_VM_PAGE		32
#define CHUNK_PAGES				(VM_PAGE_BLOCKS / CHUNKS_PER_VM_PAGE)
#define CHUNK_WORDS				((CHUNK_PAGES + 63) / 64)

StaticAssertDecl(VM_PAGE_BLOCKS % CHUNKS_PER_VM_PAGE == 0, "a chunk would straddle two pages of the map");

typedef struct CacheKey
{
	Oid			tablespace;
	Oid			database;
	Oid			filenumber;
} CacheKey;

struct CachedChunk;

/* One column of a chunk. */
typedef struct CachedSegment
{
	void	   *segment;		/* NULL: not in memory */
	Size		bytes;
	TierExtent	extent;			/* its copy on disk; neither: not cached */
	uint64		serial;			/* never used twice */
	Oid			type_oid;
	int32		typmod;
	Oid			collation;
	AttrNumber	attnum;
	uint8		usage;			/* second chances left; races are harmless */
	pg_atomic_uint32 pins;
	struct CachedChunk *chunk;
	dlist_node	clock_node;
} CachedSegment;

/*
 * The oldest and youngest inserter of a page's rows that some snapshot may not
 * have seen when the page was loaded; invalid where there was none.
 */
typedef struct PageInserters
{
	TransactionId oldest;
	TransactionId youngest;
} PageInserters;

typedef struct CachedChunk
{
	CacheKey	key;
	uint32		number;			/* pages from number * CHUNK_PAGES */
	Size		bytes;			/* of this struct */
	pg_atomic_uint32 references;	/* the directory's one, and pins */
	pg_atomic_uint64 vm_stamp;	/* LSN of the VM page under which set bits prove pages; 0: none */
	pg_atomic_uint32 dead_pages;
	pg_atomic_uint32 decisions; /* how often a page's rows were found decided; 0: no row is dead */
	/* of cached_pages, when the chunk was built or proven last: see directory_note_proof() */
	pg_atomic_uint32 unproven_pages;
	pg_atomic_uint32 lsn_pages;	/* proven by reading the heap page's LSN */
	pg_atomic_uint32 lost_pages;	/* read from the heap in its place, by all scans since the load */
	pg_atomic_uint64 stale_since;	/* TimestampTz of the first of these; 0: none */
	uint32		pages;			/* looked at by the load: < CHUNK_PAGES at the relation's end */
	uint32		cached_pages;	/* of these, loaded */
	uint32		unsettled_pages;	/* of the others, with rows that some snapshots see and some do not */
	TransactionId next_xid;		/* when the load began: who is older may have unsettled them */
	uint32		rows;
	uint32		column_count;	/* length of columns[] */
	uint32		segment_count;	/* columns cached */
	uint32		resident_count; /* of these, in memory */
	TimestampTz loaded_at;
	/* P3: a full transaction ID; whoever could insert since the load is not older; 0: unknown */
	uint64		oldest_running;
	PageInserters inserters;	/* of all pages; invalid: there is no CHUNK_INSERTERS */
	bool		is_restored;	/* from disk: loaded before the server's start */
	bool		has_reused_xids;	/* T8: numbers from there on may have been given twice */
	/* for the tier's worker alone: where the header was saved, and what of it was true then */
	TierExtent	header_extent;
	uint64		header_mark;
	/* pages that are cached and not dead */
	pg_atomic_uint64 live[CHUNK_WORDS];
	/* LSN of each cached page at load, or when its rows were found decided last */
	pg_atomic_uint64 page_lsn[CHUNK_PAGES];
	/* buffer in which the page was seen last, or 0: a hint, checked by whoever uses it */
	pg_atomic_uint32 recent_buffer[CHUNK_PAGES];
	/* rows of page i: [first_row[i], first_row[i + 1]) */
	uint32		first_row[CHUNK_PAGES + 1];
	/* bytes of page i in CHUNK_OFFSET_BITS: [offset_bytes[i], offset_bytes[i + 1]); none: rows were at 1, 2, ... */
	uint16		offset_bytes[CHUNK_PAGES + 1];
	CachedSegment columns[FLEXIBLE_ARRAY_MEMBER];	/* by attribute number - 1 */
} CachedChunk;

#define CHUNK_BYTES(natts) \
	(offsetof(CachedChunk, columns) + (natts) * sizeof(CachedSegment))

/* Behind the columns: bits by offset - 1, where a page's rows were at load. */
#define CHUNK_OFFSET_BITS(chunk) ((const uint8 *) (chunk) + CHUNK_BYTES((chunk)->column_count))
#define CHUNK_OFFSET_BYTES_MAX \
	(CHUNK_PAGES * ((MaxHeapTuplesPerPage + BITS_PER_BYTE - 1) / BITS_PER_BYTE))

/* Behind these: bits by row, set when no snapshot sees the row any more; never taken back. */
#define CHUNK_DEAD_ROWS_OFFSET(chunk) \
	MAXALIGN(CHUNK_BYTES((chunk)->column_count) + (chunk)->offset_bytes[CHUNK_PAGES])
#define CHUNK_DEAD_ROWS(chunk) \
	((pg_atomic_uint64 *) ((char *) (chunk) + CHUNK_DEAD_ROWS_OFFSET(chunk)))
#define CHUNK_DEAD_ROWS_WORDS(chunk) (((chunk)->rows + 63) / 64)

/* Behind these, where there are any: the young inserters of each page. */
#define CHUNK_INSERTERS_OFFSET(chunk) \
	(CHUNK_DEAD_ROWS_OFFSET(chunk) + CHUNK_DEAD_ROWS_WORDS(chunk) * sizeof(uint64))
#define CHUNK_INSERTERS(chunk) ((PageInserters *) ((char *) (chunk) + CHUNK_INSERTERS_OFFSET(chunk)))
#define chunk_has_inserters(chunk) TransactionIdIsValid((chunk)->inserters.youngest)

StaticAssertDecl(CHUNK_OFFSET_BYTES_MAX <= PG_UINT16_MAX, "offset_bytes is too narrow");

#define chunk_page_is_live(chunk, page) \
	((pg_atomic_read_u64(&(chunk)->live[(page) / 64]) & (UINT64CONST(1) << ((page) % 64))) != 0)

/* A copy of what is known of a relation. */
typedef struct RelationSummary
{
	CacheKey	key;
	Oid			relid;
	uint32		chunks;
	uint64		pages;			/* in chunks */
	uint64		cached_pages;
	uint64		dead_pages;
	uint64		unproven_pages;
	uint64		lost_pages;
	TimestampTz stale_since;	/* 0: nothing is lost */
	uint64		unsettled_pages;
	TransactionId unsettled_xid;	/* the youngest next_xid of chunks with such pages, or dead ones */
	bool		lacks_memory;	/* at the last load */
	uint64		rows;
	uint64		bytes;			/* segments and chunk headers, in memory */
	uint64		disk_bytes;		/* segments on disk */
	uint64		scans;
	uint64		pages_from_cache;
	uint64		pages_from_heap;
} RelationSummary;

typedef struct ColumnSummary
{
	AttrNumber	attnum;
	uint32		chunks;
	uint64		pages;
	uint64		rows;
	uint64		bytes;			/* in memory */
	uint64		disk_bytes;
	uint64		plain_bytes;	/* of what is in memory */
	uint64		hits;
	char		encodings[128]; /* "for1 12, dictionary 3" */
} ColumnSummary;

extern Size directory_shmem_bytes(void);
extern void directory_shmem_startup(void);	/* under AddinShmemInitLock */
extern LWLock *directory_shared_lock(int index);

extern void directory_key_of(Relation rel, CacheKey *key);
extern bool directory_is_empty(void);

/* Whether the cached column still is what the relation's attribute says. */
extern bool directory_segment_matches(const CachedSegment *segment, TupleDesc desc);

/*
 * Pins every chunk that has all the columns (natts may be 0), in order, and
 * those columns' segments.  Returns the number; *chunks is palloc'd.  With a
 * sample > 0 only so many of them, or up to twice as many, evenly apart.
 * Segments that are only on disk count if `on_disk`; see tier.h.
 */
extern int	directory_pin_chunks(Relation rel, const AttrNumber *attnums, int natts, uint32 sample,
								 bool on_disk, CachedChunk ***chunks);
/*
 * Pins one chunk.  With attnums (room for all of the relation's) also every
 * segment that matches the relation, in memory or on disk, listing them; else
 * only the header: its segments can be evicted.
 */
extern CachedChunk *directory_pin_chunk(Relation rel, uint32 number, AttrNumber *attnums, int *natts);
extern void directory_unpin_chunk(CachedChunk *chunk, const AttrNumber *attnums, int natts);

/*
 * Gives a chunk, built in region memory and filled with region memory's
 * segments, to the directory, in place of an older version.  False: the
 * directory has no room for it; the caller keeps the memory.
 */
extern bool directory_publish_chunk(Oid relid, CachedChunk *chunk);
/* Adds columns to a chunk the caller has pinned.  False: it was replaced or has one of them meanwhile. */
extern bool directory_publish_segments(CachedChunk *chunk, const CachedSegment *segments, int count);

/* Frees a chunk that was never published, with its segments. */
extern void directory_free_chunk(CachedChunk *chunk);

/*
 * Region memory, evicting the least used unpinned segments when there is not
 * enough.  Segments with a serial from `protected_serial` on stay, unless they
 * are on disk, too.  NULL when nothing more can be evicted.
 */
extern void *directory_allocate(Size bytes, uint64 protected_serial);
/*
 * Region memory for a pinned segment that is read from disk, evicting at most
 * segments that are on disk, too, and are used less.  NULL: the others are
 * worth as much where they are.
 */
extern void *directory_allocate_for(CachedChunk *chunk, AttrNumber attnum);
extern uint64 directory_next_serial(void);

extern uint64 directory_drop_relation(const CacheKey *key);	/* returns the chunks dropped */
/* All files of a relation (InvalidOid: of every relation of the database) but `keep`, which may be NULL. */
extern void directory_drop_relation_oid(Oid database, Oid relid, const CacheKey *keep);
extern void directory_drop_database(Oid database);

/* ---- for the tier */

/*
 * The next chunk of a file from `number` on, or NULL, pinned with all its
 * segments, of which `segments` (room for MaxHeapAttributeNumber) gets copies.
 */
extern CachedChunk *directory_pin_next_chunk(const CacheKey *key, uint32 number,
											 CachedSegment *segments, int *count);
/* Says of a pinned chunk's segments where their copies on disk are; they are other segments by now: nothing. */
extern void directory_set_extents(CachedChunk *chunk, const CachedSegment *segments, int count);
/*
 * Gives a chunk whose segments are on disk to the directory, unless it has one
 * in its place, or too many headers of such chunks already.
 */
extern bool directory_restore_chunk(Oid relid, CachedChunk *chunk);
/* Whether a pinned segment is in memory; *extent: where on disk. */
extern bool directory_find_extent(CachedChunk *chunk, AttrNumber attnum, TierExtent *extent);
/* Gives a pinned segment the memory into which it was read from there; false: somebody else did. */
extern bool directory_put_segment(CachedChunk *chunk, AttrNumber attnum, void *page);
/*
 * Forgets a copy on disk of a pinned chunk's segment, which is not cached any
 * more if it is only there; false: somebody else did.
 */
extern bool directory_drop_extent(CachedChunk *chunk, AttrNumber attnum, const TierExtent *extent);
/* The same for all copies of a relation's segments and headers that are in the file. */
extern void directory_drop_extents(const CacheKey *key, uint32 file);

/* For planning: totals of the columns, without looking at chunks. */
extern bool directory_estimate(const CacheKey *key, const AttrNumber *attnums, int natts,
							   uint64 *pages, uint64 *unproven_pages, uint64 *lsn_pages,
							   uint64 *rows, uint64 *bytes, uint64 *cold_bytes);
extern void directory_note_scan(const CacheKey *key, const AttrNumber *attnums, int natts,
								uint64 pages_from_cache, uint64 pages_from_heap);
/* What was found of a pinned chunk. */
extern void directory_note_proof(CachedChunk *chunk, uint32 unproven_pages, uint32 lsn_pages);

/* Whether the load that ended ran out of memory. */
extern void directory_note_load(const CacheKey *key, bool lacks_memory);

/* True, at most once per pause, for whoever is to vacuum the relation. */
extern bool directory_claim_vacuum(const CacheKey *key, int pause_ms);

/* Copies for views and the worker, palloc'd; database InvalidOid: all. */
extern int	directory_list_relations(Oid database, RelationSummary **relations);
extern int	directory_list_columns(const CacheKey *key, ColumnSummary **columns);

#endif							/* PENUMBRA_DIRECTORY_H */

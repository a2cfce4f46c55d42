/*-------------------------------------------------------------------------
 *
 * chunk.h
 *	  Chunks of cached columns, as they lie in memory.
 *
 * A chunk is CHUNK_PAGES heap pages; its version is immutable but for the
 * columns that are added or evicted, the pages and rows that are found dead and
 * the visibility-map stamp that is renewed.  A chunk found through the directory
 * is pinned together with the wanted segments; pinned memory stays as it is
 * until it is unpinned, whatever happens to the directory.
 *
 * A chunk's patch is a small chunk of its own, whose rows are those that were
 * written to the chunk's pages since and that every snapshot sees (rules W9 to
 * W15 in README.md): its live bits, LSNs and stamp say of which pages.  It is one
 * allocation with its segments, never changed but as chunks are, and replaced
 * as a whole.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CHUNK_H
#define PENUMBRA_CHUNK_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/visibilitymapdefs.h"
#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "lib/ilist.h"
#include "port/atomics.h"
#include "storage/block.h"
#include "storage/bufpage.h"

#include "cache/column_key.h"
#include "cache/disk/disk_file.h"
#include "penumbra/engine.h"

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

/* What a load lacked memory for; all 0: nothing. */
typedef struct MemoryShortage
{
	Size		bytes;			/* a segment, or header */
	Size		chunk_bytes;	/* the chunk up to there */
	uint64		columns;		/* a hash of those that were to be loaded */
} MemoryShortage;

/* One column of a chunk. */
typedef struct CachedSegment
{
	void	   *segment;		/* NULL: not in memory */
	Size		bytes;
	DiskExtent	extent;			/* its copy on disk; neither: not cached */
	PenumbraZoneMap zone_map;	/* the segment's own, wherever that is; the same for all of the chunk's version */
	uint64		serial;			/* never used twice */
	ColumnFacts facts;			/* when its rows were read */
	ColumnKey	column;
	uint8		usage;			/* second chances left; races are harmless */
	/* what is before it describes the segment; it goes on when the slot gets another one */
	pg_atomic_uint32 pins;
	struct CachedChunk *chunk;
	dlist_node	clock_node;
	struct RememberedFilter *filters;	/* of the segment, which is in memory; under the directory lock */
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
	pg_atomic_uint32 changed_pages;
	pg_atomic_uint32 decisions; /* how often a page's rows were found decided; 0: no row is dead */
	/* of cached_pages, when the chunk was built or proven last: see directory_note_proof() */
	pg_atomic_uint32 unproven_pages;
	pg_atomic_uint32 lsn_pages;	/* proven by reading the heap page's LSN */
	pg_atomic_uint32 lost_pages;	/* read from the heap in its place, by all scans since the load */
	pg_atomic_uint64 stale_since;	/* TimestampTz of the first of these; 0: none */
	uint32		pages;			/* looked at by the load: < CHUNK_PAGES at the relation's end */
	uint32		cached_pages;	/* of these, loaded */
	uint32		unsettled_pages;	/* of the others, with rows that some snapshots see and some do not; in recovery
								 * those that the map does not have */
	TransactionId next_xid;		/* when the load began: who is older may have unsettled them */
	uint32		rows;
	uint32		column_count;	/* length of columns[] */
	uint32		segment_count;	/* columns cached */
	uint32		resident_count; /* of these, in memory */
	TimestampTz loaded_at;
	/* P3: a full transaction ID; whoever could insert since the load is not older; 0: unknown */
	uint64		oldest_running;
	PageInserters inserters;	/* of all pages; invalid: there is no CHUNK_INSERTERS */
	struct CachedChunk *patch;	/* which has one of the directory's references; NULL: none */
	uint32		patch_mark;		/* lost_pages when a patch was tried last */
	bool		patch_was_vain; /* it served no more pages */
	uint64		patch_serial;	/* of a patch, as of a segment; 0: it is none.  Its segments are in its own memory */
	bool		is_restored;	/* from disk: loaded before the server's start */
	bool		has_reused_xids;	/* T8: numbers from there on may have been given twice */
	/* for the disk cache's worker alone: where the header was saved, and what of it was true then */
	DiskExtent	header_extent;
	uint64		header_mark;
	/* pages that are cached and not dead */
	pg_atomic_uint64 live[CHUNK_WORDS];
	/*
	 * LSN of each cached page at load, or when its rows were found decided last, and of pages that were left for
	 * their size; 0: it had none
	 */
	pg_atomic_uint64 page_lsn[CHUNK_PAGES];
	/* buffer in which the page was seen last, or 0: a hint, checked by whoever uses it */
	pg_atomic_uint32 recent_buffer[CHUNK_PAGES];
	/* rows of page i: [first_row[i], first_row[i + 1]) */
	uint32		first_row[CHUNK_PAGES + 1];
	/* bytes of page i in CHUNK_OFFSET_BITS: [offset_bytes[i], offset_bytes[i + 1]); none: rows were at 1, 2, ... */
	uint16		offset_bytes[CHUNK_PAGES + 1];
	CachedSegment columns[FLEXIBLE_ARRAY_MEMBER];	/* by the places of their keys: chunk_slot() */
} CachedChunk;

/* NULL: the chunk has no room for the column, which the relation got later. */
static inline CachedSegment *
chunk_slot(const CachedChunk *chunk, ColumnKey column)
{
	uint32		place = column_key_place(column);

	return place < chunk->column_count ? unconstify(CachedSegment *, &chunk->columns[place]) : NULL;
}

/* Those of a pinned chunk stay its own, wherever its segments go. */
static inline void
chunk_copy_zone_maps(const CachedChunk *chunk, const ColumnKey *columns, int ncolumns, PenumbraZoneMap *zone_maps)
{
	for (int i = 0; i < ncolumns; i++)
		zone_maps[i] = chunk_slot(chunk, columns[i])->zone_map;
}

#define CHUNK_BYTES(column_count) \
	(offsetof(CachedChunk, columns) + (column_count) * sizeof(CachedSegment))

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

/* What a chunk takes with columns, offsets' bits and rows. */
#define CHUNK_BYTES_WITH_ROWS(column_count, offset_bit_bytes, rows) \
	(MAXALIGN(CHUNK_BYTES(column_count) + (offset_bit_bytes)) + ((rows) + 63) / 64 * sizeof(uint64))

/* Behind these, where there are any: the young inserters of each page. */
#define CHUNK_INSERTERS_OFFSET(chunk) \
	CHUNK_BYTES_WITH_ROWS((chunk)->column_count, (chunk)->offset_bytes[CHUNK_PAGES], (chunk)->rows)
#define CHUNK_INSERTERS(chunk) ((PageInserters *) ((char *) (chunk) + CHUNK_INSERTERS_OFFSET(chunk)))
#define chunk_has_inserters(chunk) TransactionIdIsValid((chunk)->inserters.youngest)

StaticAssertDecl(CHUNK_OFFSET_BYTES_MAX <= PG_UINT16_MAX, "offset_bytes is too narrow");

#define chunk_page_is_live(chunk, page) \
	((pg_atomic_read_u64(&(chunk)->live[(page) / 64]) & (UINT64CONST(1) << ((page) % 64))) != 0)

#define chunk_page_has_rows(chunk, page) ((chunk)->first_row[page] != (chunk)->first_row[(page) + 1])

#define chunk_row_is_dead(chunk, row) \
	((pg_atomic_read_u64(&CHUNK_DEAD_ROWS(chunk)[(row) / 64]) & (UINT64CONST(1) << ((row) % 64))) != 0)

/* Pages that were read and left to the heap. */
typedef struct LeftPages
{
	uint64		wide;			/* of large values, or behind as many rows as a chunk may have */
	uint64		unlogged;		/* nothing of them was ever in the WAL */
	uint64		unsettled;		/* their rows are not the same for every snapshot */
} LeftPages;

#endif							/* PENUMBRA_CHUNK_H */

/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  The column cache, seen by the planner and executor side of the adapter.
 *
 * Who may call: any backend, in a transaction, holding at least
 * AccessShareLock on the relation.  Everything a CachedScan hands out is
 * pinned until cache_scan_end(), which also runs by itself when the memory
 * context the scan was begun in is reset or deleted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CACHE_H
#define PENUMBRA_CACHE_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/bitmapset.h"
#include "storage/block.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "cache/column_key.h"
#include "penumbra/engine.h"

/* True when the library was preloaded and the region exists. */
extern bool cache_is_available(void);

/* Whether this database has the extension: queries of others are PostgreSQL's.  Cheap. */
extern bool cache_serves_database(void);

/*
 * Why this relation can never be served from the cache ("temporary table",
 * "unlogged table", "system catalog", ...), or NULL.  Looks at the relation
 * and the current transaction only, not at what is loaded.
 */
extern const char *cache_refusal_of_relation(Relation rel);

/* Whether a column of this type can be cached, and as what. */
extern bool cache_type_of(Oid type_oid, PenumbraType *type);
/* Whether columns of the type are read by expressions that are columns, and as they are where that is not enough. */
extern bool cache_type_has_parts(Oid type_oid);
/* Whether whole values of the type are cached as expressions are, and no attribute is. */
extern bool cache_type_is_composed(Oid type_oid);
/* Whether the relation has the column and it can be cached; as what. */
extern bool cache_type_of_column(ColumnKey column, TupleDesc desc, PenumbraType *type);
/* Whether the user may read the column, or with attnum 0 any column of the table. */
extern bool cache_may_read(Oid user, Oid relid, AttrNumber attnum);

/* A chunk is about so many heap pages; its first page is a multiple of it. */
extern const BlockNumber cache_chunk_pages;

/*
 * Waits until the columns that are on disk are known, which takes a while after
 * the server's start, but not longer than this.
 */
extern void cache_await_start(double milliseconds);

/* What planning needs to know of one relation and a set of its columns. */
typedef struct CacheCoverage
{
	BlockNumber cached_pages;	/* in chunks that hold all of the columns */
	BlockNumber valid_pages;	/* of these, expected to be served from the cache */
	BlockNumber lsn_pages;		/* of these, expected to need a look at the heap page's LSN */
	double		cached_rows;
	uint64		cached_bytes;	/* of the columns' segments in memory */
	uint64		cold_bytes;		/* of those that are on disk only */
} CacheCoverage;

/*
 * Cheap (no page access, one shared lock): called for every base relation of
 * every query.  False when nothing of the relation is cached.
 */
extern bool cache_estimate_coverage(Relation rel, const ColumnKey *columns, int ncolumns,
									CacheCoverage *coverage);

/* Whether it has nearly all of the column, of so many pages. */
static inline bool
cache_has_nearly(Relation rel, ColumnKey column, BlockNumber pages)
{
	CacheCoverage coverage;

	return cache_estimate_coverage(rel, &column, 1, &coverage) && coverage.cached_pages >= pages - pages / 8;
}

/*
 * The share of the chunks, from a sample of them, that zone maps exclude under
 * the first filter of the plan, whose scan columns are columns.
 */
extern double cache_estimate_skipped(Relation rel, const ColumnKey *columns, int ncolumns,
									 const PenumbraPlan *plan, PenumbraOperator scan);

/*
 * Runs the plan, an aggregation into one row of integers above one scan, over
 * the cached chunks as they are, whatever of them is still right: an estimate.
 * sample > 0: over so many of them, or up to twice as many; rows_of_chunk > 0: over so
 * many rows of each, in places that lie evenly.  *rows: that were looked at.  False: the
 * engine failed, or nothing is cached.
 */
extern bool cache_aggregate(Relation rel, const ColumnKey *columns, int ncolumns, uint32 sample, uint32 rows_of_chunk,
							const PenumbraPlan *plan, PenumbraOperator scan, int64 *values, double *rows);

/* Tells the loader that a query would have used these columns, of which those are left that may be cached. */
extern void cache_note_wanted(Oid relid, ColumnKey *columns, int ncolumns);

/* What a chunk that is on disk is read into, from the begin of its read on; made by cache_create_buffer(). */
typedef struct ChunkBuffer ChunkBuffer;

/* What a scan read of its table. */
typedef struct ScannedPages
{
	uint64		from_cache;
	uint64		by_row;			/* of these, written since the load: their rows were proven one by one */
	uint64		from_heap;
	uint64		headers;		/* of cached pages that the visibility map alone did not prove */
} ScannedPages;

/* Adds what was read since `before`. */
static inline void
scanned_pages_add(ScannedPages *sum, const ScannedPages *pages, const ScannedPages *before)
{
	sum->from_cache += pages->from_cache - before->from_cache;
	sum->by_row += pages->by_row - before->by_row;
	sum->from_heap += pages->from_heap - before->from_heap;
	sum->headers += pages->headers - before->headers;
}

/* Chunks with all columns of the scan, pinned, and of each the rows that are right and visible. */
typedef struct CachedScan
{
	int			nchunks;
	PenumbraChunk *chunks;		/* segments in the order of columns, then none or one, for positions */
	BlockNumber nblocks;		/* of the relation */
	int			nheap_ranges;	/* pages that must be read from the heap, ascending */
	struct CachedBlockRange
	{
		BlockNumber begin;		/* [begin, end) */
		BlockNumber end;
	}		   *heap_ranges;
	/* where else: single rows of pages whose other rows are the chunks', ascending; the snapshot sees them */
	uint32		nheap_rows;
	ItemPointerData *heap_rows;
	ScannedPages pages;			/* of all parts */
	uint64		bytes_pinned;
	/* chunks that have to be read first: they are in none of the above until cache_scan_end_read() */
	int			unread_chunks;
	double		unread_rows;
} CachedScan;

struct TableSample;

/*
 * Finds, pins and validates (P1, P2, P3) every chunk of the relation that has
 * all the columns, for `snapshot`, which must be taken before (MVCC; the block
 * count is read here) and stay until the heap's rows are read.  Pages of other
 * chunks, unproven pages and pages past the last chunk are in heap_ranges.
 * Takes the relation predicate lock when the snapshot's transaction is
 * SERIALIZABLE.  gives_order: a chunk's positions are in memory, as
 * heap_row_position() makes those of the heap's rows.  table: in the positions
 * of others, see POSITION_TABLE().  sample: no other row is served, and of
 * pages without one of it none is read; NULL: all are.
 */
extern CachedScan *cache_scan_begin(Relation rel, Snapshot snapshot,
									const ColumnKey *columns, int ncolumns, bool gives_order, int table,
									const struct TableSample *sample);
/*
 * excludes() is asked before a chunk is read, with the zone maps of the scan's
 * columns.  True: no row of it is wanted, so it is not read.  It is proven all
 * the same, because rows may have been written to its pages.
 */
typedef bool (*ExcludesChunk) (void *argument, const PenumbraZoneMap *zone_maps);
extern void cache_scan_set_filter(CachedScan *scan, ExcludesChunk excludes, void *argument);
/*
 * A buffer for chunks, one after the other.  Its memory stays, whatever frees
 * it, until no read goes on.
 */
extern ChunkBuffer *cache_create_buffer(MemoryContext context);
extern void cache_free_buffer(ChunkBuffer *buffer);
/* What its memory takes. */
extern Size cache_buffer_bytes(const ChunkBuffer *buffer);
/*
 * Begins to read the next of the chunks that have to be read and are not
 * excluded; false: there is none.  Heap ranges and rows of those that are come
 * after those there are.  The relation stays open until all that were begun are
 * ended.
 */
extern bool cache_scan_begin_read(CachedScan *scan, ChunkBuffer *buffer);
/* Whether cache_scan_end_read() would wait for the disk. */
extern bool cache_scan_is_reading(ChunkBuffer *buffer);
/*
 * Ends the oldest of these and proves its chunk.  It is no more in scan->chunks
 * than before, and stays until its buffer is used again; its heap ranges and
 * rows come after those there are.  False: nothing of it can be served.
 */
extern bool cache_scan_end_read(CachedScan *scan, ChunkBuffer *buffer, PenumbraChunk *chunk);
/* Back to where no chunk was read. */
extern void cache_scan_rewind(CachedScan *scan);
/*
 * Tells the engine of the chunks on offer what is remembered of the filters of
 * the plan's scan; for one execution, before the chunks are added to it.
 */
extern void cache_scan_recall_filters(CachedScan *scan, const PenumbraPlan *plan, PenumbraOperator operator);
/*
 * Stops an execution and remembers what it learned of such chunks.  Their scans
 * are open.  May raise no error, but for those of small allocations.
 */
extern void cache_keep_learned(PenumbraExec *exec, const PenumbraPlan *plan, PenumbraOperator operator);
/*
 * The same for a part of the pages at a time: nothing is on offer until the
 * first part is proven, and each part replaces the one before, its chunks and
 * ranges included, whether they had to be read or not.  Parts have
 * cache_chunk_pages pages, begin at multiples of that and ascend.  The relation
 * stays open until the last.
 */
extern CachedScan *cache_scan_begin_parts(Relation rel, Snapshot snapshot,
										  const ColumnKey *columns, int ncolumns);
extern void cache_scan_prove_part(CachedScan *scan, BlockNumber begin, BlockNumber end);
/*
 * stop(readers) ends the threads that read the chunks.  It is called before
 * the pins are released, whatever releases them: also an error, also the exit
 * of the process, which does not unwind.  It may be called again, or for
 * nothing, and must raise no error.
 */
extern void cache_scan_set_readers(CachedScan *scan, void (*stop) (void *), void *readers);
/*
 * The row of a position that the engine gave for one of the scan's chunks, or
 * that heap_row_position() made for a row of the heap.
 */
extern void cache_scan_locate_row(CachedScan *scan, int64 position, ItemPointer tid);
extern void cache_scan_end(CachedScan *scan);

#endif							/* PENUMBRA_CACHE_H */

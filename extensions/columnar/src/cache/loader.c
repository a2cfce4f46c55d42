/*-------------------------------------------------------------------------
 *
 * loader.c
 *	  Loads and refreshes chunks.
 *
 * A chunk is loaded like this: read V, the LSN of its visibility-map page,
 * before anything else.  For each heap page, under its share lock: proven
 * all-visible?  (by the map's bit, and the page's own flag on a primary, or
 * by looking at every tuple), then copy the page and record its LSN.  Read V
 * again: if it is the same the chunk starts with V as its stamp, else it
 * starts with none and the first scan proves pages by their LSNs.
 *
 * A page whose bit was seen set had it set since V was first read, because
 * setting it would have moved V; so P1 with stamp V proves it from then on.
 * Pages proven by looking at tuples have a clear bit, and only P2 proves them
 * until vacuum sets it.
 *
 * A column is added to an existing chunk without reading the others again,
 * when every live page still has the LSN it was loaded with.
 *
 * Everything a load holds (engine rows, encoded segments, region memory, pins,
 * its progress slot) hangs on a memory context callback: an error, a cancel
 * or a terminated backend frees it.
 *
 * Where not every snapshot there is sees a page's rows, because one is old, it
 * is loaded all the same when all of its inserters have committed and nobody
 * has deleted: they are noted, and P4 says which snapshots may read it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <xxhash.h>

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "cache/cache.h"
#include "cache/heap_page.h"
#include "cache/loader.h"
#include "pg_compat.h"
#include "cache/progress.h"
#include "cache/region.h"
#include "cache/row_proof.h"
#include "cache/stop_points.h"
#include "cache/tier.h"
#include "cache/validate.h"

/*
 * Longer chunks stop here; their other pages are served from the heap.  What
 * is not toasted comes to this with a hundred columns that are all null.
 */
#define CHUNK_ROWS_BYTES_MAX	((Size) 256 * 1024 * 1024)

#define PREFETCH_PAGES			32

/*
 * A patient load builds a chunk anew that is written to when scans have read so
 * many heap pages in its place per page that it has, which takes as long (a
 * page: 20 to 40 us to load, 5 to 10 to read).  So building never costs more
 * than what it saves did.  Seldom read ones wait for that time.
 */
#define RELOAD_LOST_PAGES		4

/*
 * A patch has at most this part of its chunk's rows, or so many, and bytes.  A
 * patient load tries one when scans have lost half as many heap pages as it
 * would look at, which takes as long (4 us each).
 */
#define PATCH_ROWS_SHARE		16
#define PATCH_ROWS_MIN			128
#define PATCH_BYTES_MAX			((Size) 16 * 1024 * 1024)
#define PATCH_LOST_SHARE		2

/* What the engine wants of segments. */
#define SEGMENT_ALIGNMENT		64
#define PATIENCE_MS				10000

typedef struct Loader
{
	Relation	rel;
	const LoadOptions *options;
	CacheKey	key;
	BlockNumber nblocks;
	BufferAccessStrategy strategy;
	LoadProgress *progress;
	uint64		protected_serial;
	uint32		wishes;			/* for the current chunk: 0 where it has all columns, as what it replaces makes room */
	uint64		columns;		/* a hash of those that are wanted */
	MemoryShortage shortage;
	uint64		wide_pages;		/* not cached because of large values */
	uint64		unlogged_pages; /* nor these, because no proof would hold */
	bool		serves_more;	/* than before the load: chunks or columns that were not there */
	char	   *image;			/* a page, aligned */
	PageInserters *inserters;	/* of each page of the draft */
	VmPage	   *vm_page;

	/* for the columns of the current chunk */
	AttrNumber *attnums;
	int			natts;
	HeapRowReader *reader;
	PenumbraRows *rows;
	CachedChunk *draft;			/* backend memory */
	Size		draft_bytes;

	/* freed by release_loader() */
	void	   *encoded;		/* malloc'ed by the engine */
	CachedChunk *pinned;
	CachedChunk *patch;			/* pinned for a proof */
	CachedSegment *segments;	/* stored in the region, not published */
	int			segment_count;
	MemoryContextCallback callback;
} Loader;

static void
free_segments(Loader *loader)
{
	for (int i = 0; i < loader->segment_count; i++)
		region_free(loader->segments[i].segment, loader->segments[i].bytes);
	loader->segment_count = 0;
}

static void
unpin_current(Loader *loader)
{
	if (loader->pinned != NULL)
		directory_unpin_chunk(loader->pinned, NULL, 0);
	loader->pinned = NULL;
}

static void
release_loader(void *argument)
{
	Loader	   *loader = argument;

	penumbra_rows_destroy(loader->rows);
	loader->rows = NULL;
	free(loader->encoded);
	loader->encoded = NULL;
	free_segments(loader);
	unpin_current(loader);
	if (loader->patch != NULL)
		directory_unpin_chunk(loader->patch, NULL, 0);
	loader->patch = NULL;
	if (loader->progress != NULL)
		progress_end();
	loader->progress = NULL;
}

/* ---------------------------------------------------------------- columns - */

/* Prepares reading these columns, unless the last chunk had the same. */
static void
set_columns(Loader *loader, const AttrNumber *attnums, int natts)
{
	PenumbraType *types;
	TupleDesc	desc = RelationGetDescr(loader->rel);

	if (loader->reader != NULL && loader->natts == natts &&
		memcmp(loader->attnums, attnums, sizeof(AttrNumber) * natts) == 0)
	{
		penumbra_rows_clear(loader->rows);
		return;
	}
	if (loader->reader != NULL)
		heap_row_reader_destroy(loader->reader);
	loader->reader = NULL;
	penumbra_rows_destroy(loader->rows);
	loader->rows = NULL;
	memcpy(loader->attnums, attnums, sizeof(AttrNumber) * natts);
	loader->natts = natts;
	types = palloc(sizeof(PenumbraType) * Max(natts, 1));
	for (int i = 0; i < natts; i++)
	{
		if (!cache_type_of(TupleDescAttr(desc, attnums[i] - 1)->atttypid, &types[i]))
			elog(ERROR, "column %d of relation \"%s\" cannot be cached", attnums[i],
				 RelationGetRelationName(loader->rel));
	}
	loader->rows = penumbra_rows_create(types, natts);
	pfree(types);
	if (loader->rows == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	loader->reader = heap_row_reader_create(loader->rel, attnums, natts);
}

static bool
chunk_has_column(const Loader *loader, const CachedChunk *chunk, AttrNumber attnum)
{
	return chunk != NULL && attnum <= (int) chunk->column_count &&
		directory_segment_matches(&chunk->columns[attnum - 1], RelationGetDescr(loader->rel));
}

static bool
column_is_wanted(const Loader *loader, AttrNumber attnum)
{
	for (int i = 0; i < loader->options->natts; i++)
	{
		if (loader->options->attnums[i] == attnum)
			return true;
	}
	return false;
}

static bool
lacks_columns(const Loader *loader, const CachedChunk *chunk)
{
	for (int i = 0; i < loader->options->natts; i++)
	{
		if (!chunk_has_column(loader, chunk, loader->options->attnums[i]))
			return true;
	}
	return false;
}

/* The wanted columns, with or without those the chunk has, ascending. */
static int
choose_columns(const Loader *loader, const CachedChunk *chunk, bool with_cached, AttrNumber *attnums)
{
	int			natts = RelationGetDescr(loader->rel)->natts;
	int			count = 0;

	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
	{
		bool		cached = chunk_has_column(loader, chunk, attnum);

		if (cached ? with_cached : column_is_wanted(loader, attnum))
			attnums[count++] = attnum;
	}
	return count;
}

/* ---------------------------------------------------------------- pages --- */

static void
add_inserters(PageInserters *all, TransactionId oldest, TransactionId youngest)
{
	if (!TransactionIdIsValid(all->oldest) || TransactionIdPrecedes(oldest, all->oldest))
		all->oldest = oldest;
	if (!TransactionIdIsValid(all->youngest) || TransactionIdPrecedes(all->youngest, youngest))
		all->youngest = youngest;
}

/*
 * Whether every tuple of a share-locked page is visible to every snapshot there
 * is, but for those that do not see its inserter, who has committed.
 */
static bool
tuples_are_live(Relation rel, Buffer buffer, BlockNumber block, TransactionId horizon,
				PageInserters *inserters)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData tuple;
		TransactionId inserter;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_tableOid = RelationGetRelid(rel);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offset);
		/* without the hint the commit may not be on disk yet */
		if (HeapTupleSatisfiesVacuum(&tuple, horizon, buffer) != HEAPTUPLE_LIVE ||
			!HeapTupleHeaderXminCommitted(tuple.t_data))
			return false;
		inserter = HeapTupleHeaderGetXmin(tuple.t_data);
		if (!TransactionIdPrecedes(inserter, horizon))
			add_inserters(inserters, inserter, inserter);
	}
	return true;
}

/*
 * Copies a page to the loader's image, with its LSN, if it may be cached.  The
 * content lock is held for the checks and the copy only.
 *
 * A page without an LSN was written under wal_level = minimal by the
 * transaction that created the relation.  P2 can never prove it, but P1 can
 * when the map page has an LSN: then the bit was set by a later vacuum.
 */
static bool
copy_page(Loader *loader, BlockNumber block, Buffer *vm_buffer, TransactionId horizon,
		  XLogRecPtr stamp, XLogRecPtr *lsn, PageInserters *inserters)
{
	Relation	rel = loader->rel;
	bool		visible = false;
	Buffer		buffer;
	Page		page;

	if (block + PREFETCH_PAGES < loader->nblocks)
		(void) PrefetchBuffer(rel, MAIN_FORKNUM, block + PREFETCH_PAGES);
	buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, loader->strategy);
	compat_prune_page(rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (!PageIsNew(page))
	{
		bool		bit = (visibilitymap_get_status(rel, block, vm_buffer) &
						   VISIBILITYMAP_ALL_VISIBLE) != 0;

		if (bit)
			visible = PageIsAllVisible(page) || RecoveryInProgress();
		else if (TransactionIdIsValid(horizon))
		{
			visible = tuples_are_live(rel, buffer, block, horizon, inserters);
			loader->draft->unsettled_pages += !visible;
		}
		/* after the tuples were looked at: that may have set hints, which may move it */
		*lsn = BufferGetLSNAtomic(buffer);
		if (visible && *lsn == InvalidXLogRecPtr && !(bit && stamp != InvalidXLogRecPtr))
		{
			loader->unlogged_pages++;
			visible = false;
		}
	}
	if (visible)
		memcpy(loader->image, page, BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	loader->progress->heap_bytes += BLCKSZ;
	return visible;
}

/* Remembers at which offsets of the image the rows are. */
static void
note_offsets(Loader *loader, uint32 page, uint32 rows)
{
	CachedChunk *draft = loader->draft;
	Page		image = loader->image;
	OffsetNumber last = PageGetMaxOffsetNumber(image);
	uint32		begin = draft->offset_bytes[page];
	uint8	   *bits = (uint8 *) draft + CHUNK_BYTES(draft->column_count) + begin;

	draft->offset_bytes[page + 1] = begin;
	if (rows == last)
		return;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		if (ItemIdIsNormal(PageGetItemId(image, offset)))
			bits[(offset - 1) / BITS_PER_BYTE] |= 1 << ((offset - 1) % BITS_PER_BYTE);
	}
	draft->offset_bytes[page + 1] += (last + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
}

/* The oldest transaction that could insert from now on, as P3 wants it; on a primary. */
static uint64
oldest_running_now(void)
{
	TransactionId oldest = GetOldestTransactionIdConsideredRunning();
	FullTransactionId next = ReadNextFullTransactionId();

	return U64FromFullTransactionId(next) - (uint32) (XidFromFullTransactionId(next) - oldest);
}

/* Pages that the next scan will prove by P2. */
static uint32
count_pages_not_visible(const Loader *loader, CachedChunk *draft, XLogRecPtr stamp)
{
	uint64		visible[CHUNK_WORDS];
	uint32		count = draft->cached_pages;

	if (stamp == InvalidXLogRecPtr)
		return count;
	vm_page_get_chunk(loader->vm_page, draft->number, visible);
	for (int word = 0; word < CHUNK_WORDS; word++)
		count -= pg_popcount64(visible[word] & pg_atomic_read_u64(&draft->live[word]));
	return count;
}

/* Reads the pages of a new version of a chunk into rows and the draft's header. */
static void
read_pages(Loader *loader, uint32 number)
{
	CachedChunk *draft = loader->draft;
	BlockNumber first_block = number * CHUNK_PAGES;
	TransactionId horizon = InvalidTransactionId;
	Buffer		vm_buffer = InvalidBuffer;
	XLogRecPtr	stamp;
	uint32		limit = Min(CHUNK_PAGES, loader->nblocks - first_block);
	bool		is_long = false;

	if (!RecoveryInProgress())
	{
		horizon = GetOldestNonRemovableTransactionId(loader->rel);
		draft->next_xid = XidFromFullTransactionId(ReadNextFullTransactionId());
		draft->oldest_running = oldest_running_now();
	}
	vm_page_read(loader->rel, first_block, loader->vm_page);
	stamp = loader->vm_page->lsn;
	STOP_POINT("load-after-stamp");
	draft->pages = limit;
	for (uint32 page = 0; page < limit; page++)
	{
		XLogRecPtr	lsn;
		uint32		page_rows;
		PageInserters inserters = {InvalidTransactionId, InvalidTransactionId};

		CHECK_FOR_INTERRUPTS();
		draft->first_row[page] = draft->rows;
		draft->offset_bytes[page + 1] = draft->offset_bytes[page];
		if (!is_long &&
			!copy_page(loader, first_block + page, &vm_buffer, horizon, stamp, &lsn, &inserters))
			continue;
		if (is_long ||
			!heap_row_reader_append_image(loader->reader, loader->image, loader->rows, &page_rows))
		{
			loader->wide_pages++;
			continue;
		}
		draft->rows += page_rows;
		note_offsets(loader, page, page_rows);
		loader->inserters[page] = inserters;
		if (TransactionIdIsValid(inserters.youngest))
			add_inserters(&draft->inserters, inserters.oldest, inserters.youngest);
		pg_atomic_write_u64(&draft->page_lsn[page], lsn);
		pg_atomic_write_u64(&draft->live[page / 64],
							pg_atomic_read_u64(&draft->live[page / 64]) |
							UINT64CONST(1) << (page % 64));
		draft->cached_pages++;
		is_long = penumbra_rows_bytes(loader->rows) > CHUNK_ROWS_BYTES_MAX;
	}
	for (uint32 page = limit; page <= CHUNK_PAGES; page++)
	{
		draft->first_row[page] = draft->rows;
		draft->offset_bytes[page] = draft->offset_bytes[limit];
	}
	if (BufferIsValid(vm_buffer))
		ReleaseBuffer(vm_buffer);
	STOP_POINT("load-before-stamp");
	vm_page_read(loader->rel, first_block, loader->vm_page);
	if (loader->vm_page->lsn != stamp)
		stamp = InvalidXLogRecPtr;
	pg_atomic_write_u64(&draft->vm_stamp, stamp);
	pg_atomic_write_u32(&draft->lsn_pages, count_pages_not_visible(loader, draft, stamp));
}

/* Reads the same rows as the chunk has; false when a page has changed. */
static bool
read_pages_again(Loader *loader, CachedChunk *chunk)
{
	uint32		rows = 0;

	for (uint32 page = 0; page < chunk->pages; page++)
	{
		BlockNumber block = chunk->number * CHUNK_PAGES + page;
		Buffer		buffer;
		XLogRecPtr	lsn;
		uint32		page_rows;
		bool		same;

		CHECK_FOR_INTERRUPTS();
		if (!chunk_page_is_live(chunk, page))
		{
			if (chunk->first_row[page] != chunk->first_row[page + 1])
				return false;
			continue;
		}
		if (block + PREFETCH_PAGES < loader->nblocks)
			(void) PrefetchBuffer(loader->rel, MAIN_FORKNUM, block + PREFETCH_PAGES);
		buffer = ReadBufferExtended(loader->rel, MAIN_FORKNUM, block, RBM_NORMAL, loader->strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		lsn = BufferGetLSNAtomic(buffer);
		same = lsn != InvalidXLogRecPtr && lsn == pg_atomic_read_u64(&chunk->page_lsn[page]);
		/* else rows that nobody sees may be there or gone, or their toasted values */
		pg_read_barrier();
		same &= pg_atomic_read_u32(&chunk->decisions) == 0;
		if (same)
			memcpy(loader->image, BufferGetPage(buffer), BLCKSZ);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(buffer);
		loader->progress->heap_bytes += BLCKSZ;
		if (!same || !heap_row_reader_append_image(loader->reader, loader->image, loader->rows,
												   &page_rows))
			return false;
		rows += page_rows;
		if (rows != chunk->first_row[page + 1] ||
			penumbra_rows_bytes(loader->rows) > CHUNK_ROWS_BYTES_MAX)
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- segments  */

/* Memory for a part of the current chunk; NULL: there is none, which is noted. */
static void *
allocate(Loader *loader, Size bytes)
{
	void	   *page = directory_allocate(bytes, loader->protected_serial, loader->wishes);

	if (page != NULL)
		return page;
	loader->shortage.columns = loader->columns;
	loader->shortage.bytes = bytes;
	loader->shortage.chunk_bytes = region_cost_bytes(bytes);
	for (int i = 0; i < loader->segment_count; i++)
		loader->shortage.chunk_bytes += region_cost_bytes(loader->segments[i].bytes);
	return NULL;
}

/* Encodes a column of rows into the region; false when it is full. */
static bool
store_segment(Loader *loader, int column)
{
	CachedSegment *segment = &loader->segments[loader->segment_count];
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(loader->rel),
										  loader->attnums[column] - 1);
	size_t		bytes;
	PenumbraStatus status = penumbra_segment_encode(loader->rows, column, &loader->encoded, &bytes);
	void	   *page;

	if (status.code != PENUMBRA_OK)
		penumbra_report_status(&status);
	status = penumbra_segment_check(loader->encoded, bytes);
	if (status.code != PENUMBRA_OK)
		penumbra_report_status(&status);
	page = allocate(loader, bytes);
	if (page != NULL)
	{
		memcpy(page, loader->encoded, bytes);
		memset(segment, 0, sizeof(*segment));
		segment->segment = page;
		segment->bytes = bytes;
		segment->serial = directory_next_serial();
		segment->type_oid = att->atttypid;
		segment->typmod = att->atttypmod;
		segment->collation = att->attcollation;
		segment->attnum = loader->attnums[column];
		loader->segment_count++;
		loader->progress->cached_bytes += bytes;
	}
	free(loader->encoded);
	loader->encoded = NULL;
	return page != NULL;
}

static bool
store_segments(Loader *loader)
{
	for (int i = 0; i < loader->natts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!store_segment(loader, i))
		{
			free_segments(loader);
			return false;
		}
	}
	return true;
}

/* Puts the draft with the stored segments into the directory; false when the region is full. */
static bool
publish_draft(Loader *loader)
{
	CachedChunk *draft = loader->draft;
	CachedChunk *chunk;

	draft->bytes = CHUNK_INSERTERS_OFFSET(draft) +
		(chunk_has_inserters(draft) ? CHUNK_PAGES * sizeof(PageInserters) : 0);
	chunk = allocate(loader, draft->bytes);
	if (chunk == NULL)
	{
		free_segments(loader);
		return false;
	}
	memcpy(chunk, draft, CHUNK_DEAD_ROWS_OFFSET(draft));
	for (uint32 word = 0; word < CHUNK_DEAD_ROWS_WORDS(draft); word++)
		pg_atomic_init_u64(&CHUNK_DEAD_ROWS(chunk)[word], 0);
	if (chunk_has_inserters(draft))
		memcpy(CHUNK_INSERTERS(chunk), loader->inserters, CHUNK_PAGES * sizeof(PageInserters));
	for (int i = 0; i < loader->segment_count; i++)
	{
		CachedSegment *segment = &chunk->columns[loader->segments[i].attnum - 1];

		*segment = loader->segments[i];
		segment->chunk = chunk;
		segment->usage = 1;
		pg_atomic_init_u32(&segment->pins, 0);
	}
	chunk->segment_count = loader->segment_count;
	loader->segment_count = 0;
	if (directory_publish_chunk(RelationGetRelid(loader->rel), chunk))
		return true;
	directory_free_chunk(chunk);
	return false;
}

static void
clear_draft(Loader *loader, uint32 number)
{
	CachedChunk *draft = loader->draft;
	uint32		columns = RelationGetDescr(loader->rel)->natts;

	memset(draft, 0, loader->draft_bytes);
	memset(loader->inserters, 0, CHUNK_PAGES * sizeof(PageInserters));
	draft->key = loader->key;
	draft->number = number;
	draft->column_count = columns;
	draft->loaded_at = GetCurrentTimestamp();
	pg_atomic_init_u32(&draft->references, 1);
	pg_atomic_init_u32(&draft->dead_pages, 0);
	pg_atomic_init_u32(&draft->decisions, 0);
	pg_atomic_init_u32(&draft->unproven_pages, 0);
	pg_atomic_init_u32(&draft->lsn_pages, 0);
	pg_atomic_init_u32(&draft->lost_pages, 0);
	pg_atomic_init_u64(&draft->stale_since, 0);
	pg_atomic_init_u64(&draft->vm_stamp, 0);
	for (int i = 0; i < CHUNK_WORDS; i++)
		pg_atomic_init_u64(&draft->live[i], 0);
	for (int i = 0; i < CHUNK_PAGES; i++)
	{
		pg_atomic_init_u64(&draft->page_lsn[i], 0);
		pg_atomic_init_u32(&draft->recent_buffer[i], 0);
	}
}

/* ---------------------------------------------------------------- patches - */

/*
 * Reads the decided new rows of the pages that the chunk does not serve alone
 * into rows, and which pages these are of into the draft.  False: there is none,
 * or they are too many for a patch.
 */
static bool
read_new_rows(Loader *loader, CachedChunk *chunk, const ChunkProof *proof)
{
	CachedChunk *draft = loader->draft;
	TransactionId horizon = GetOldestNonRemovableTransactionId(loader->rel);
	uint32		limit = Min(chunk->pages, loader->nblocks - chunk->number * CHUNK_PAGES);
	uint32		rows_limit = Max(chunk->rows / PATCH_ROWS_SHARE, PATCH_ROWS_MIN);
	PageRows	rows;

	draft->pages = limit;
	for (uint32 page = 0; page < limit; page++)
	{
		uint64		bit = UINT64CONST(1) << (page % 64);
		XLogRecPtr	lsn;

		draft->first_row[page] = draft->rows;
		if ((proof->proven[page / 64] & ~proof->patched[page / 64] & bit) != 0 ||
			chunk->first_row[page] == chunk->first_row[page + 1])
			continue;
		loader->progress->heap_bytes += BLCKSZ;
		if (!row_proof_patch_page(loader->rel, GetActiveSnapshot(), horizon, chunk, page, loader->strategy,
								  &rows, loader->image, &lsn))
			continue;
		if (draft->rows + rows.heap_count > rows_limit ||
			penumbra_rows_bytes(loader->rows) > PATCH_BYTES_MAX)
			return false;
		if (!heap_row_reader_append_narrow(loader->reader, loader->image, rows.heap, rows.heap_count,
										   loader->rows))
			continue;
		draft->rows += rows.heap_count;
		pg_atomic_write_u64(&draft->page_lsn[page], lsn);
		pg_atomic_write_u64(&draft->live[page / 64],
							pg_atomic_read_u64(&draft->live[page / 64]) | bit);
		pg_atomic_write_u32(&draft->recent_buffer[page], pg_atomic_read_u32(&chunk->recent_buffer[page]));
		draft->cached_pages++;
	}
	for (uint32 page = limit; page <= CHUNK_PAGES; page++)
		draft->first_row[page] = draft->rows;
	return draft->cached_pages > 0;
}

/* Appends an encoded column to the segments' bytes, whose addresses are relative until they are in place. */
static void
append_segment(Loader *loader, int column, StringInfo bytes)
{
	AttrNumber	attnum = loader->attnums[column];
	CachedSegment *segment = &loader->draft->columns[attnum - 1];
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(loader->rel), attnum - 1);
	size_t		segment_bytes;
	PenumbraStatus status = penumbra_segment_encode(loader->rows, column, &loader->encoded, &segment_bytes);

	if (status.code != PENUMBRA_OK)
		penumbra_report_status(&status);
	status = penumbra_segment_check(loader->encoded, segment_bytes);
	if (status.code != PENUMBRA_OK)
		penumbra_report_status(&status);
	enlargeStringInfo(bytes, segment_bytes + SEGMENT_ALIGNMENT);
	while (bytes->len % SEGMENT_ALIGNMENT != 0)
		appendStringInfoCharMacro(bytes, 0);
	segment->segment = (void *) (uintptr_t) bytes->len;
	segment->bytes = segment_bytes;
	segment->type_oid = att->atttypid;
	segment->typmod = att->atttypmod;
	segment->collation = att->attcollation;
	segment->attnum = attnum;
	appendBinaryStringInfo(bytes, loader->encoded, segment_bytes);
	free(loader->encoded);
	loader->encoded = NULL;
}

/* Puts the draft with its segments into the directory as the chunk's patch; false: there is no room. */
static bool
publish_patch(Loader *loader, CachedChunk *chunk, const StringInfoData *segments)
{
	CachedChunk *draft = loader->draft;
	Size		segments_at = TYPEALIGN(SEGMENT_ALIGNMENT, CHUNK_BYTES(draft->column_count));
	CachedChunk *patch;

	draft->bytes = segments_at + segments->len;
	draft->patch_serial = directory_next_serial();
	patch = directory_allocate(draft->bytes, loader->protected_serial, 0);
	if (patch == NULL)
		return false;
	memcpy(patch, draft, CHUNK_BYTES(draft->column_count));
	memcpy((char *) patch + segments_at, segments->data, segments->len);
	for (int i = 0; i < loader->natts; i++)
	{
		CachedSegment *segment = &patch->columns[loader->attnums[i] - 1];

		segment->segment = (char *) patch + segments_at + (uintptr_t) segment->segment;
		segment->chunk = patch;
	}
	if (directory_publish_patch(chunk, patch))
		return true;
	directory_free_chunk(patch);
	return false;
}

/*
 * Gives a pinned chunk a patch of all its columns; the one that it may have is
 * replaced, whose rows are read again, or stays where no other can be made.
 */
static bool
patch_chunk(Loader *loader, CachedChunk *chunk, const ChunkProof *proof)
{
	AttrNumber *attnums = palloc(sizeof(AttrNumber) * RelationGetDescr(loader->rel)->natts);
	int			natts = choose_columns(loader, chunk, true, attnums);
	StringInfoData segments;
	bool		done;

	set_columns(loader, attnums, natts);
	pfree(attnums);
	clear_draft(loader, chunk->number);
	if (!read_new_rows(loader, chunk, proof))
		return false;
	initStringInfo(&segments);
	for (int i = 0; i < natts; i++)
	{
		CHECK_FOR_INTERRUPTS();
		append_segment(loader, i, &segments);
	}
	STOP_POINT("patch-before-publish");
	done = publish_patch(loader, chunk, &segments);
	pfree(segments.data);
	return done;
}

/* ---------------------------------------------------------------- chunks -- */

typedef enum ChunkNeed
{
	CHUNK_FINE,
	CHUNK_NEEDS_COLUMNS,
	CHUNK_NEEDS_REBUILD,
} ChunkNeed;

/* Pages that the chunk does not serve although the visibility map has them. */
static uint32
count_visible_unserved(const Loader *loader, const CachedChunk *chunk, const ChunkProof *proof,
					   uint32 limit)
{
	uint64		visible[CHUNK_WORDS];
	uint32		count = 0;

	vm_page_get_chunk(loader->vm_page, chunk->number, visible);
	for (uint32 page = 0; page < limit; page++)
	{
		uint64		bit = UINT64CONST(1) << (page % 64);

		if ((visible[page / 64] & bit) && !(proof->proven[page / 64] & bit))
			count++;
	}
	return count;
}

/*
 * Pages that a load might serve and the chunk does not.  While somebody is as
 * old as the chunk, pages that were written since would only be left out:
 * their rows are neither deleted nor alive for all.  P3 serves them better.
 */
static uint32
count_unserved(const Loader *loader, const CachedChunk *chunk, const ChunkProof *proof, uint32 limit)
{
	uint32		unserved = limit - Min(limit, proof->proven_pages);

	if (loader->options->patient && TransactionIdIsValid(chunk->next_xid) &&
		TransactionIdPrecedesOrEquals(GetOldestNonRemovableTransactionId(loader->rel), chunk->next_xid))
		unserved -= Min(unserved, proof->unproven_pages + chunk->unsettled_pages);
	return unserved;
}

/* Validates the chunk with its patch. */
static void
prove_chunk(Loader *loader, CachedChunk *chunk, ChunkProof *proof)
{
	CachedChunk *patch;

	vm_page_read(loader->rel, chunk->number * CHUNK_PAGES, loader->vm_page);
	chunk_prove(loader->rel, chunk, loader->nblocks, loader->vm_page, loader->strategy, NULL, proof);
	directory_pin_patches(&chunk, 1, &loader->patch);
	patch = loader->patch;
	if (patch == NULL)
		return;
	chunk_prove_patch(loader->rel, patch, loader->nblocks, loader->vm_page, loader->strategy, NULL, proof);
	loader->patch = NULL;
	directory_unpin_chunk(patch, NULL, 0);
}

/*
 * Whether a patch is to be tried for what the proof leaves.  Each attempt is paid
 * by what scans have lost since the last one.
 */
static bool
may_patch(Loader *loader, CachedChunk *chunk, const ChunkProof *proof)
{
	uint32		lost = pg_atomic_read_u32(&chunk->lost_pages) - chunk->patch_mark;

	return loader->options->patches && proof->unproven_pages > 0 && !RecoveryInProgress() &&
		(!loader->options->patient || lost * PATCH_LOST_SHARE >= proof->unproven_pages + proof->patched_pages) &&
		row_proof_is_allowed(loader->rel, GetActiveSnapshot()) &&
		row_proof_holds(loader->rel, chunk, ReadNextFullTransactionId());
}

/* Tries to, and proves the chunk again; true if the patch serves pages that were not served. */
static bool
try_patch(Loader *loader, CachedChunk *chunk, ChunkProof *proof)
{
	uint32		unproven_pages = proof->unproven_pages;
	bool		is_patched = patch_chunk(loader, chunk, proof);

	/* also where there is none: rows may be decided without */
	prove_chunk(loader, chunk, proof);
	if (proof->unproven_pages == 0)
	{
		pg_atomic_write_u32(&chunk->lost_pages, 0);
		pg_atomic_write_u64(&chunk->stale_since, 0);
	}
	chunk->patch_mark = pg_atomic_read_u32(&chunk->lost_pages);
	return is_patched && proof->unproven_pages < unproven_pages;
}

/* Validates the chunk, gives it a patch where that pays, and says what is missing then. */
static ChunkNeed
examine_chunk(Loader *loader, CachedChunk *chunk, bool *is_patched)
{
	uint32		limit = Min(CHUNK_PAGES, loader->nblocks - chunk->number * CHUNK_PAGES);
	uint32		tolerated = (uint32) (loader->options->stale_share * limit);
	bool		lacks = lacks_columns(loader, chunk);
	uint32		unserved;
	bool		is_stale;
	ChunkProof	proof;

	prove_chunk(loader, chunk, &proof);
	*is_patched = !lacks && may_patch(loader, chunk, &proof) && try_patch(loader, chunk, &proof);
	/* the rows of the others can be proven where the chunk was not loaded in recovery */
	chunk_note_proof(chunk, &proof, chunk->oldest_running != 0 ? proof.unproven_pages : 0);
	unserved = count_unserved(loader, chunk, &proof, limit);
	/* what is not decided yet is proven by row, and a new chunk would leave it to the heap */
	if (*is_patched && !loader->options->patient)
		unserved -= Min(unserved, proof.unproven_pages);
	is_stale = unserved > tolerated;
	if (is_stale && loader->options->patient)
		is_stale = count_visible_unserved(loader, chunk, &proof, limit) > tolerated ||
			pg_atomic_read_u32(&chunk->lost_pages) / RELOAD_LOST_PAGES >= limit ||
			TimestampDifferenceExceeds(chunk->loaded_at, GetCurrentTimestamp(), PATIENCE_MS);
	if (is_stale)
		return CHUNK_NEEDS_REBUILD;
	if (!lacks)
		return CHUNK_FINE;
	return proof.unproven_pages == 0 ? CHUNK_NEEDS_COLUMNS : CHUNK_NEEDS_REBUILD;
}

/* Adds the missing columns to loader->pinned; false when the chunk must be rebuilt. */
static bool
add_columns(Loader *loader, bool *is_full)
{
	CachedChunk *chunk = loader->pinned;
	AttrNumber *attnums = palloc(sizeof(AttrNumber) * RelationGetDescr(loader->rel)->natts);
	int			natts = choose_columns(loader, chunk, false, attnums);
	bool		done = false;

	*is_full = false;
	set_columns(loader, attnums, natts);
	pfree(attnums);
	if (read_pages_again(loader, chunk))
	{
		*is_full = !store_segments(loader);
		done = !*is_full &&
			directory_publish_segments(chunk, loader->segments, loader->segment_count);
		if (done)
			loader->segment_count = 0;
		else
			free_segments(loader);
	}
	return done;
}

/* Builds a new version; false when the region is full. */
static bool
rebuild_chunk(Loader *loader, uint32 number)
{
	AttrNumber *attnums = palloc(sizeof(AttrNumber) * RelationGetDescr(loader->rel)->natts);
	int			natts = choose_columns(loader, loader->pinned, true, attnums);
	bool		done = true;

	/* the old version's memory can be evicted, or is freed when the new one replaces it */
	unpin_current(loader);
	if (natts > 0)
	{
		set_columns(loader, attnums, natts);
		clear_draft(loader, number);
		read_pages(loader, number);
		STOP_POINT("load-before-publish");
		done = store_segments(loader) && publish_draft(loader);
	}
	pfree(attnums);
	return done;
}

/* Brings one chunk up to date. */
static bool
load_chunk(Loader *loader, uint32 number, bool *loaded)
{
	ChunkNeed	need = CHUNK_NEEDS_REBUILD;
	bool		is_full = false;
	bool		is_patched = false;
	bool		is_first;

	loader->pinned = directory_pin_chunk(loader->rel, number, NULL, NULL);
	is_first = loader->pinned == NULL;
	if (loader->pinned != NULL)
		need = examine_chunk(loader, loader->pinned, &is_patched);
	loader->wishes = lacks_columns(loader, loader->pinned) ? loader->options->wishes : 0;
	if (need != CHUNK_FINE && loader->wishes > 0)
		is_full = !directory_has_room(&loader->shortage, loader->wishes);
	if (need == CHUNK_NEEDS_COLUMNS && !is_full && !add_columns(loader, &is_full))
		need = CHUNK_NEEDS_REBUILD;
	if (need == CHUNK_NEEDS_REBUILD && !is_full)
		is_full = !rebuild_chunk(loader, number);
	unpin_current(loader);
	*loaded = (need != CHUNK_FINE && !is_full) || is_patched;
	if (!is_full && (is_first || need == CHUNK_NEEDS_COLUMNS))
		loader->serves_more = true;
	return !is_full;
}

static Loader *
create_loader(Relation rel, const LoadOptions *options)
{
	Loader	   *loader = palloc0(sizeof(Loader));
	int			natts = RelationGetDescr(rel)->natts;

	loader->rel = rel;
	loader->options = options;
	loader->columns = XXH3_64bits(options->attnums, sizeof(AttrNumber) * options->natts);
	if (options->shortage.columns == loader->columns)
		loader->shortage = options->shortage;
	directory_key_of(rel, &loader->key);
	loader->nblocks = RelationGetNumberOfBlocks(rel);
	loader->strategy = GetAccessStrategy(BAS_BULKREAD);
	loader->protected_serial = options->protected_serial != 0 ?
		options->protected_serial : directory_next_serial();
	loader->image = palloc(BLCKSZ);
	loader->inserters = palloc(CHUNK_PAGES * sizeof(PageInserters));
	loader->vm_page = palloc(sizeof(VmPage));
	loader->attnums = palloc(sizeof(AttrNumber) * natts);
	loader->segments = palloc(sizeof(CachedSegment) * natts);
	loader->draft_bytes = MAXALIGN(CHUNK_BYTES(natts) + CHUNK_OFFSET_BYTES_MAX);
	loader->draft = palloc(loader->draft_bytes);
	loader->callback.func = release_loader;
	loader->callback.arg = loader;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &loader->callback);
	return loader;
}

static void
load_chunks(Loader *loader, LoadResult *result)
{
	uint32		number;

	result->outcome = LOAD_DONE;
	for (number = loader->options->first_chunk; number < result->chunks_total; number++)
	{
		bool		loaded;

		if (loader->options->chunk_limit > 0 &&
			result->chunks_loaded >= loader->options->chunk_limit)
		{
			result->outcome = LOAD_MORE;
			break;
		}
		/* what is on disk, too, need not stay, be it of this load */
		if (!load_chunk(loader, number, &loaded) &&
			!(tier_await_saved() && load_chunk(loader, number, &loaded)))
		{
			result->outcome = LOAD_FULL;
			result->shortage = loader->shortage;
			break;
		}
		result->chunks_loaded += loaded;
		loader->progress->chunks_done = number + 1;
		loader->progress->chunks_loaded = result->chunks_loaded;
		STOP_POINT("load-after-chunk");
	}
	result->next_chunk = number;
}

void
loader_load(Relation rel, const LoadOptions *options, LoadResult *result)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "penumbra load",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Loader	   *loader = create_loader(rel, options);

	memset(result, 0, sizeof(*result));
	loader->progress = progress_begin(&loader->key, RelationGetRelid(rel), options->by_worker,
									  options->wait);
	if (loader->progress == NULL)
		result->outcome = LOAD_BUSY;
	else
	{
		/* what the relation's former file left, where nobody saw it being rewritten: on a standby */
		directory_drop_relation_oid(loader->key.database, RelationGetRelid(rel), &loader->key);
		result->chunks_total = loader->nblocks / CHUNK_PAGES + (loader->nblocks % CHUNK_PAGES != 0);
		loader->progress->columns = options->natts;
		loader->progress->chunks_total = result->chunks_total;
		loader->progress->chunks_done = loader->progress->first_chunk = options->first_chunk;
		load_chunks(loader, result);
		directory_note_load(&loader->key, result->outcome == LOAD_FULL);
		result->wide_pages = loader->wide_pages;
		result->unlogged_pages = loader->unlogged_pages;
		/* Generic plans were made without; a standby cannot log the message. */
		if (loader->serves_more && !RecoveryInProgress())
			CacheInvalidateRelcache(rel);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	tier_wake();
}

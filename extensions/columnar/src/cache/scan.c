/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scans of the cache.
 *
 * A scan's pins are released by cache_scan_end(), by the reset of the memory
 * context that it was begun in, or before the process leaves shared memory,
 * whichever comes first.  A backend that dies without any of these takes the
 * whole server through crash recovery, and no memory of the cache is in use
 * after it.
 *
 * Who reads the segments from threads names a function that ends them, which
 * is called before the pins go.  A FATAL error does not unwind the executor,
 * and this callback of the exit comes before ShutdownPostgres() aborts the
 * transaction; so without that function the threads would read memory that
 * others fill, and still run when exit() destroys the library's statics.  A
 * scan without pins is therefore listed as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/predicate.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/disk/disk_cache.h"
#include "cache/region.h"
#include "cache/heap_page.h"
#include "cache/row_proof.h"
#include "cache/status.h"
#include "cache/stop_points.h"
#include "cache/validate.h"
#include "cache/table_sample.h"
#include "cache/wanted.h"
#include "cache/worker.h"

typedef struct ScanState
{
	CachedScan	scan;			/* first */
	bool		is_open;
	dlist_node	node;			/* in open_scans while is_open */
	void		(*stop_readers) (void *);	/* or NULL */
	void	   *readers;
	MemoryContextCallback callback;
	Relation	rel;			/* not used by cache_scan_end() */
	CacheKey	key;
	BlockNumber nblocks;
	Snapshot	snapshot;
	FullTransactionId next_xid; /* read when rows had to be proven; invalid: not yet */
	bool		proves_rows;	/* then: P3 may be used */
	TransactionId horizon;		/* then: for what every snapshot sees */
	int			ncolumns;
	ColumnKey  *columns;
	bool		gives_order;	/* positions are heap_row_position() */
	int64		table_bits;		/* in other positions */
	const TableSample *sample;	/* NULL: of all rows */
	int			npinned;
	CachedChunk **pinned;
	CachedChunk **patches;		/* of these, pinned; NULL: none */
	int			nrecalled;
	RememberedFilter **recalled;	/* pinned; NULL: nothing */
	int			next_pinned;	/* those before were proven or passed over */
	VmPage	   *vm_page;		/* read last */
	BufferAccessStrategy strategy;
	MemoryContext context;
	MemoryContext part_context; /* its child: ranges and segments on offer */
	int			heap_ranges_limit;
	int			heap_ranges_closed; /* these are not to be made longer: they may have been read */
	uint32		heap_rows_limit;
	bool		has_proven;		/* a chunk with pages */
	uint64		missed_chunks;	/* wanted, and not all of it in memory */
	/* chunks that have to be read: of a scan that is not in parts */
	CachedChunk **unread;
	int			next_unread;	/* to begin with */
	ExcludesChunk excludes;		/* NULL: nothing is */
	void	   *filter;
	PenumbraZoneMap *zone_maps;	/* for its arguments, by place in columns */
	CachedChunk **begun;		/* of those that are not excluded */
	int			nbegun;
	int			next_begun;		/* to end */
	MemoryContext read_context; /* a child of context: ranges and segments of the chunk read last */
	int			first_heap_ranges;	/* what there was before the first of them */
	uint32		first_heap_rows;
	bool		was_rewound;	/* pages were counted the first time */
	ChunkBuffer *part_buffer;	/* of a scan in parts */
} ScanState;

const BlockNumber cache_chunk_pages = CHUNK_PAGES;

static dlist_head open_scans = DLIST_STATIC_INIT(open_scans);

/* ---------------------------------------------------------------- pins ---- */

static void
unpin_recalled(ScanState *state)
{
	for (int i = 0; i < state->nrecalled; i++)
	{
		if (state->recalled[i] != NULL)
			remembered_filter_unpin(state->recalled[i]);
	}
	state->nrecalled = 0;
}

static void
release_scan(void *argument)
{
	ScanState  *state = argument;

	if (!state->is_open)
		return;
	if (state->stop_readers != NULL)
		state->stop_readers(state->readers);
	state->is_open = false;
	dlist_delete(&state->node);
	unpin_recalled(state);
	for (int i = 0; i < state->npinned; i++)
	{
		if (state->patches != NULL && state->patches[i] != NULL)
			directory_unpin_chunk(state->patches[i], NULL, 0);
		directory_unpin_chunk(state->pinned[i], state->columns, state->ncolumns);
	}
}

static void
release_all_scans(int code, Datum argument)
{
	bool		any = !dlist_is_empty(&open_scans);

	while (!dlist_is_empty(&open_scans))
		release_scan(dlist_container(ScanState, node, dlist_head_node(&open_scans)));
	/* of scans, whose readers have ended */
	disk_cache_release_buffers();
	if (any)
		STOP_POINT("exit-after-unpin");
}

static void
open_scan(ScanState *state, bool is_pinned)
{
	static bool exit_registered = false;

	if (!exit_registered)
	{
		before_shmem_exit(release_all_scans, (Datum) 0);
		exit_registered = true;
	}
	state->callback.func = release_scan;
	state->callback.arg = state;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &state->callback);
	if (is_pinned)
		state->npinned = directory_pin_chunks(state->rel, state->columns, state->ncolumns, 0, true,
											  &state->pinned);
	dlist_push_head(&open_scans, &state->node);
	state->is_open = true;
	/* what is pinned is released by now, whatever happens */
	state->patches = palloc(sizeof(CachedChunk *) * Max(state->npinned, 1));
	directory_pin_patches(state->pinned, state->npinned, state->patches);
}

void
cache_scan_set_readers(CachedScan *scan, void (*stop) (void *), void *readers)
{
	ScanState  *state = (ScanState *) scan;

	state->stop_readers = stop;
	state->readers = readers;
}

void
cache_scan_set_filter(CachedScan *scan, ExcludesChunk excludes, void *argument)
{
	ScanState  *state = (ScanState *) scan;

	state->excludes = excludes;
	state->filter = argument;
}

/* ---------------------------------------------------------------- ranges -- */

/* Adjacent ranges are merged, unless the engine may have read the earlier one already. */
static void
add_heap_pages(ScanState *state, BlockNumber begin, BlockNumber end)
{
	CachedScan *scan = &state->scan;

	if (begin >= end)
		return;
	scan->pages.from_heap += end - begin;
	if (scan->nheap_ranges > state->heap_ranges_closed && scan->heap_ranges[scan->nheap_ranges - 1].end == begin)
	{
		scan->heap_ranges[scan->nheap_ranges - 1].end = end;
		return;
	}
	if (scan->nheap_ranges == state->heap_ranges_limit)
	{
		state->heap_ranges_limit = Max(16, state->heap_ranges_limit * 2);
		scan->heap_ranges = scan->heap_ranges == NULL ?
			MemoryContextAlloc(state->context,
							   sizeof(*scan->heap_ranges) * state->heap_ranges_limit) :
			repalloc(scan->heap_ranges, sizeof(*scan->heap_ranges) * state->heap_ranges_limit);
	}
	scan->heap_ranges[scan->nheap_ranges].begin = begin;
	scan->heap_ranges[scan->nheap_ranges++].end = end;
}

/* Of a sample the pages that have rows of it. */
static void
add_heap_range(ScanState *state, BlockNumber begin, BlockNumber end)
{
	if (state->sample == NULL || !state->sample->is_of_pages)
	{
		add_heap_pages(state, begin, end);
		return;
	}
	for (; begin < end; begin++)
	{
		if (table_sample_has_page(state->sample, begin))
			add_heap_pages(state, begin, begin + 1);
	}
}

/* False: the query's memory has no room for them. */
static bool
add_heap_rows(ScanState *state, BlockNumber block, const PageRows *rows)
{
	CachedScan *scan = &state->scan;
	uint32		count = scan->nheap_rows + rows->heap_count;

	if (count > state->heap_rows_limit)
	{
		uint32		limit = Max(count, Max(256, state->heap_rows_limit * 2));

		if (limit > (uint32) (work_mem * (Size) 1024 / sizeof(ItemPointerData)))
			return false;
		scan->heap_rows = scan->heap_rows == NULL ?
			MemoryContextAlloc(state->context, sizeof(ItemPointerData) * limit) :
			repalloc(scan->heap_rows, sizeof(ItemPointerData) * limit);
		state->heap_rows_limit = limit;
	}
	count = scan->nheap_rows;
	for (uint32 i = 0; i < rows->heap_count; i++)
	{
		ItemPointerSet(&scan->heap_rows[count], block, rows->heap[i]);
		count += state->sample == NULL || table_sample_has_row(state->sample, block, rows->heap[i]);
	}
	scan->nheap_rows = count;
	return true;
}

/* The rows of a chunk that are right and visible. */
typedef struct ChunkRows
{
	PenumbraRowRange *ranges;
	uint32		range_count;
	uint64	   *bits;			/* NULL: all of the ranges */
} ChunkRows;

static void
add_row_range(ChunkRows *rows, uint32 begin, uint32 end)
{
	if (begin == end)
		return;
	/* pages that were not cached have no rows, so neighbours can touch */
	if (rows->range_count > 0 && rows->ranges[rows->range_count - 1].end == begin)
	{
		rows->ranges[rows->range_count - 1].end = end;
		return;
	}
	rows->ranges[rows->range_count].begin = begin;
	rows->ranges[rows->range_count++].end = end;
}

/* Of the chunk's rows those that are not dead for all, as far as is known. */
static void
take_living_rows(CachedChunk *chunk, ChunkRows *rows)
{
	uint32		words = CHUNK_DEAD_ROWS_WORDS(chunk);

	rows->bits = palloc(words * sizeof(uint64));
	for (uint32 word = 0; word < words; word++)
		rows->bits[word] = ~pg_atomic_read_u64(&CHUNK_DEAD_ROWS(chunk)[word]);
}

/* Rules W1, W4 and W5: whether P3 may be used for the chunk. */
static bool
rows_can_be_proven(ScanState *state, const CachedChunk *chunk)
{
	if (!FullTransactionIdIsValid(state->next_xid))
	{
		state->next_xid = ReadNextFullTransactionId();
		state->proves_rows = row_proof_is_allowed(state->rel, state->snapshot);
		state->horizon = GetOldestNonRemovableTransactionId(state->rel);
	}
	return state->proves_rows && row_proof_holds(state->rel, chunk, state->next_xid);
}

/* P3, for a page that P1 and P2 did not prove; false: it is the heap's. */
static bool
add_page_rows(ScanState *state, CachedChunk *chunk, uint32 page, ChunkRows *rows)
{
	uint32		begin = chunk->first_row[page];
	uint32		end = chunk->first_row[page + 1];
	PageRows	page_rows;

	if (begin == end ||
		!row_proof_page(state->rel, state->snapshot, state->horizon, chunk, page, state->strategy,
						&page_rows) ||
		!add_heap_rows(state, chunk->number * CHUNK_PAGES + page, &page_rows))
		return false;
	if (page_rows.cached_count < end - begin)
	{
		if (rows->bits == NULL)
			take_living_rows(chunk, rows);
		for (uint32 row = begin; row < end; row++)
			rows->bits[row / 64] &= ~(UINT64CONST(1) << (row % 64));
		for (uint32 i = 0; i < page_rows.cached_count; i++)
		{
			uint32		row = begin + page_rows.cached[i];

			rows->bits[row / 64] |= UINT64CONST(1) << (row % 64);
		}
	}
	add_row_range(rows, begin, end);
	state->scan.pages.by_row++;
	state->scan.pages.from_cache++;
	return true;
}

/* Turns proven pages and rows into row ranges, the others into heap ranges. */
static void
find_chunk_rows(ScanState *state, CachedChunk *chunk, const ChunkProof *proof, ChunkRows *rows)
{
	BlockNumber first_block = chunk->number * CHUNK_PAGES;
	uint32		limit = Min(CHUNK_PAGES, state->nblocks - first_block);
	uint32		page = 0;
	bool		proves_rows;

	memset(rows, 0, sizeof(*rows));
	rows->ranges = palloc(sizeof(PenumbraRowRange) *
						  (proof->proven_pages == limit ? 1 : CHUNK_PAGES / 2 + 1));
	/* what the proof read of the chunk comes before these */
	pg_read_barrier();
	if (pg_atomic_read_u32(&chunk->decisions) > 0)
		take_living_rows(chunk, rows);
	proves_rows = proof->unproven_pages > 0 && rows_can_be_proven(state, chunk);
	while (page < limit)
	{
		uint32		begin = proof_next_page(proof->proven, page, limit, true);
		uint32		end = proof_next_page(proof->proven, begin, limit, false);

		for (; page < begin; page++)
		{
			uint32		next = proof_next_page(proof->proven, page + 1, limit, false);

			if (proves_rows && next < limit)
				chunk_prefetch_page(chunk, next);
			if (!proves_rows || !add_page_rows(state, chunk, page, rows))
				add_heap_range(state, first_block + page, first_block + page + 1);
		}
		add_row_range(rows, chunk->first_row[begin], chunk->first_row[end]);
		page = end;
	}
}

/*
 * A row's position: its number in the chunk or patch, of which the bits above
 * tell the number, or, of the heap, its page and offset.  The table's number,
 * of several, is above both.
 */
#define POSITION_CHUNK_SHIFT	25
#define POSITION_IS_OF_PATCH	(INT64CONST(1) << 24)

StaticAssertDecl(CHUNK_PAGES * MaxHeapTuplesPerPage <= POSITION_IS_OF_PATCH, "rows of a chunk fill their bits");
StaticAssertDecl(MaxBlockNumber / CHUNK_PAGES < INT64CONST(1) << (POSITION_TABLE_SHIFT - POSITION_CHUNK_SHIFT),
				 "chunks of a table fill their bits");

static int64
first_position(const ScanState *state, const CachedChunk *chunk, bool is_patch)
{
	return state->table_bits | (int64) chunk->number << POSITION_CHUNK_SHIFT | (is_patch ? POSITION_IS_OF_PATCH : 0);
}

static const CachedChunk *
find_pinned(const ScanState *state, int64 position)
{
	uint32		number = (uint32) ((position ^ state->table_bits) >> POSITION_CHUNK_SHIFT);
	int			begin = 0;
	int			end = state->npinned - 1;

	while (begin < end)
	{
		int			middle = begin + (end - begin) / 2;

		if (state->pinned[middle]->number < number)
			begin = middle + 1;
		else
			end = middle;
	}
	Assert(state->pinned[begin]->number == number);
	return position & POSITION_IS_OF_PATCH ? state->patches[begin] : state->pinned[begin];
}

/* Where the page's n-th row was at load, and is while a snapshot sees it. */
static OffsetNumber
find_offset(const CachedChunk *chunk, uint32 page, uint32 n)
{
	const uint8 *bits = CHUNK_OFFSET_BITS(chunk) + chunk->offset_bytes[page];
	OffsetNumber offset = FirstOffsetNumber;

	if (chunk->offset_bytes[page] == chunk->offset_bytes[page + 1])
		return FirstOffsetNumber + n;
	for (;; offset++)
	{
		uint32		bit = offset - FirstOffsetNumber;

		Assert(bit < (uint32) (chunk->offset_bytes[page + 1] - chunk->offset_bytes[page]) * BITS_PER_BYTE);
		if ((bits[bit / BITS_PER_BYTE] & (1 << (bit % BITS_PER_BYTE))) != 0 && n-- == 0)
			return offset;
	}
}

void
cache_scan_locate_row(CachedScan *scan, int64 position, ItemPointer tid)
{
	const ScanState *state = (const ScanState *) scan;
	const CachedChunk *chunk;
	uint32		row = (uint32) position & (POSITION_IS_OF_PATCH - 1);
	uint32		begin = 0;
	uint32		end = CHUNK_PAGES - 1;

	if (position & POSITION_IS_OF_HEAP)
	{
		ItemPointerSet(tid, (BlockNumber) (position >> 16), (OffsetNumber) position);
		return;
	}
	chunk = find_pinned(state, position);
	/* the last page that begins at the row or before: it has rows */
	while (begin < end)
	{
		uint32		middle = begin + (end - begin + 1) / 2;

		if (chunk->first_row[middle] <= row)
			begin = middle;
		else
			end = middle - 1;
	}
	ItemPointerSet(tid, chunk->number * CHUNK_PAGES + begin,
				   find_offset(chunk, begin, row - chunk->first_row[begin]));
}

/* The segments of a pinned chunk, and a NULL for the rows' positions; NULL: not all are in memory. */
static const void **
find_segments(ScanState *state, CachedChunk *chunk)
{
	const void **segments = palloc0(sizeof(void *) * (state->ncolumns + 1));

	for (int i = 0; i < state->ncolumns; i++)
	{
		segments[i] = chunk_slot(chunk, state->columns[i])->segment;
		if (segments[i] == NULL)
			return NULL;
	}
	for (int i = 0; i < state->ncolumns; i++)
	{
		const CachedSegment *segment = chunk_slot(chunk, state->columns[i]);

		state->scan.bytes_pinned += segment->bytes;
		region_populate_once(segment->serial, segment->segment, segment->bytes);
	}
	return segments;
}

/* Of a pinned patch; NULL: it lacks a column, so it proves nothing. */
static const void **
find_patch_segments(ScanState *state, const CachedChunk *patch)
{
	const void **segments = palloc0(sizeof(void *) * (state->ncolumns + 1));

	if (!patch_find_segments(patch, RelationGetDescr(state->rel), state->columns, state->ncolumns, segments))
		return NULL;
	state->scan.bytes_pinned += patch->bytes;
	region_populate_once(patch->patch_serial, patch, patch->bytes);
	return segments;
}

/* Of a patch the rows of the pages that it has proven. */
static void
find_patch_rows(const ScanState *state, const CachedChunk *patch, const ChunkProof *proof,
				const void *const *segments, PenumbraChunk *out)
{
	ChunkRows	rows = {palloc(sizeof(PenumbraRowRange) * (CHUNK_PAGES / 2 + 1))};

	for (uint32 begin = 0, end = 0; end < CHUNK_PAGES;)
	{
		begin = proof_next_page(proof->patched, end, CHUNK_PAGES, true);
		end = proof_next_page(proof->patched, begin, CHUNK_PAGES, false);
		add_row_range(&rows, patch->first_row[begin], patch->first_row[end]);
	}
	out->ranges = rows.ranges;
	out->range_count = rows.range_count;
	out->row_bits = NULL;
	if (state->sample != NULL)
		table_sample_take(state->sample, patch, out);
	out->first_position = first_position(state, patch, true);
	out->rows = patch->rows;
	out->segments = segments;
	out->remembered = NULL;
}

/*
 * A segment of heap_row_position() of all the chunk's rows: their order is that
 * of all rows of the table, whether they are in a chunk, a patch or the heap.
 */
static const void *
encode_heap_positions(const CachedChunk *chunk)
{
	const PenumbraType type = PENUMBRA_INT8;
	uint64	   *values = palloc(sizeof(uint64) * Max(chunk->rows, 1));
	PenumbraColumnInput input = {.values = values};
	PenumbraRows *rows = penumbra_rows_create(&type, 1);
	void	   *segment = NULL;
	size_t		bytes = 0;
	char	   *copy = NULL;
	PenumbraStatus status = {PENUMBRA_OUT_OF_MEMORY};

	for (uint32 page = 0; page < CHUNK_PAGES; page++)
	{
		for (uint32 row = chunk->first_row[page]; row < chunk->first_row[page + 1]; row++)
			values[row] = (uint64) heap_row_position(chunk->number * CHUNK_PAGES + page,
													 find_offset(chunk, page, row - chunk->first_row[page]));
	}
	if (rows != NULL)
		status = penumbra_rows_append(rows, &input, chunk->rows);
	if (status.code == PENUMBRA_OK)
		status = penumbra_segment_encode(rows, 0, &segment, &bytes);
	penumbra_rows_destroy(rows);
	if (status.code == PENUMBRA_OK)
		copy = palloc_extended(bytes + PG_CACHE_LINE_SIZE, MCXT_ALLOC_NO_OOM);
	if (copy != NULL)
	{
		copy = (char *) TYPEALIGN(PG_CACHE_LINE_SIZE, copy);
		memcpy(copy, segment, bytes);
	}
	free(segment);
	pfree(values);
	if (status.code != PENUMBRA_OK)
		status_report(&status);
	if (copy == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	return copy;
}

/*
 * Proves what it can of a chunk, whose segments are in memory, with its patch
 * (NULL: without); the rest is on the lists of what is read from the heap.
 * What can be served of both are none to two chunks in out.
 */
static int
prove_chunk(ScanState *state, CachedChunk *chunk, CachedChunk *patch, const void **segments,
			PenumbraChunk *out)
{
	const void **patch_segments = patch == NULL ? NULL : find_patch_segments(state, patch);
	int			count;
	CachedScan *scan = &state->scan;
	BlockNumber first_block = chunk->number * CHUNK_PAGES;
	ScannedPages before = scan->pages;
	uint32		pages_by_row;
	ChunkProof	proof;
	ChunkRows	rows;

	if (state->vm_page->map_block != chunk->number / CHUNKS_PER_VM_PAGE)
		vm_page_read(state->rel, first_block, state->vm_page);
	chunk_prove_with_patch(state->rel, chunk, patch_segments == NULL ? NULL : patch, state->nblocks,
						   state->vm_page, state->strategy, state->snapshot, &proof);
	find_chunk_rows(state, chunk, &proof, &rows);
	pages_by_row = scan->pages.by_row - before.by_row;
	chunk_note_proof(chunk, &proof, pages_by_row);
	chunk_note_loss(chunk, scan->pages.from_heap - before.from_heap, pages_by_row);
	scan->pages.from_cache += proof.proven_pages;
	scan->pages.headers += proof.header_pages;
	state->has_proven |= chunk->cached_pages > 0;
	if (state->gives_order && segments != NULL)
		segments[state->ncolumns] = encode_heap_positions(chunk);
	if (state->gives_order && patch_segments != NULL)
		patch_segments[state->ncolumns] = encode_heap_positions(patch);
	out->ranges = rows.ranges;
	out->range_count = rows.range_count;
	out->row_bits = rows.bits;
	if (state->sample != NULL)
		table_sample_take(state->sample, chunk, out);
	out->first_position = first_position(state, chunk, false);
	out->rows = chunk->rows;
	out->segments = segments;
	out->remembered = NULL;
	count = out->range_count > 0 ? 1 : 0;
	if (patch_segments == NULL)
		return count;
	find_patch_rows(state, patch, &proof, patch_segments, &out[count]);
	return out[count].range_count > 0 ? count + 1 : count;
}

/* Of a chunk that is being read; NULL: its pages are the heap's. */
static const void **
end_read(ScanState *state, CachedChunk *chunk, ChunkBuffer *buffer)
{
	const void **segments = palloc0(sizeof(void *) * (state->ncolumns + 1));

	if (disk_cache_end_chunk(chunk, state->columns, state->ncolumns, buffer, segments))
		return segments;
	return NULL;
}

static bool
is_excluded(ScanState *state, const CachedChunk *chunk)
{
	if (state->excludes == NULL)
		return false;
	chunk_copy_zone_maps(chunk, state->columns, state->ncolumns, state->zone_maps);
	return state->excludes(state->filter, state->zone_maps);
}

/* The same of a chunk of a part. */
static const void **
read_part(ScanState *state, CachedChunk *chunk)
{
	disk_cache_begin_chunk(chunk, state->columns, state->ncolumns, state->part_buffer);
	return end_read(state, chunk, state->part_buffer);
}

static BlockNumber
end_of_chunk(const ScanState *state, const CachedChunk *chunk)
{
	return Min((chunk->number + 1) * CHUNK_PAGES, state->nblocks);
}

/* What becomes of a pinned chunk when the scan reaches its pages. */
typedef enum ChunkTurn
{
	CHUNK_IS_IN_MEMORY,			/* now, if it was on disk alone */
	CHUNK_IS_READ_LATER,		/* by cache_scan_begin_read() */
	CHUNK_IS_EXCLUDED,			/* no row passes the filter: not read, but the heap serves what has changed */
	CHUNK_IS_LOST				/* its copy on disk cannot be read: all of its pages are the heap's */
} ChunkTurn;

/* Sets *segments to the columns' segments in memory, or to NULL. */
static ChunkTurn
take_chunk(ScanState *state, CachedChunk *chunk, bool reads_chunks, const void ***segments)
{
	*segments = find_segments(state, chunk);
	if (*segments != NULL)
		return CHUNK_IS_IN_MEMORY;
	if (!reads_chunks)
		return CHUNK_IS_READ_LATER;
	if (is_excluded(state, chunk))
		return CHUNK_IS_EXCLUDED;
	state->missed_chunks++;
	*segments = read_part(state, chunk);
	return *segments == NULL ? CHUNK_IS_LOST : CHUNK_IS_IN_MEMORY;
}

/*
 * Validates the pinned chunks of the pages [begin, end); they replace those offered
 * before. Every page before next_block belongs to a chunk that is offered, excluded
 * or read later, or is on the heap's lists. prove_chunk() extends these lists in the
 * order of pages.
 */
static void
prove_pages(ScanState *state, BlockNumber begin, BlockNumber end, bool reads_chunks)
{
	CachedScan *scan = &state->scan;
	BlockNumber next_block = begin;
	MemoryContext old_context;

	MemoryContextReset(state->part_context);
	old_context = MemoryContextSwitchTo(state->part_context);
	scan->nchunks = 0;
	scan->nheap_ranges = 0;
	scan->nheap_rows = 0;
	for (; state->next_pinned < state->npinned; state->next_pinned++)
	{
		CachedChunk *chunk = state->pinned[state->next_pinned];
		BlockNumber first_block = chunk->number * CHUNK_PAGES;
		PenumbraChunk unwanted;
		const void **segments;
		ChunkTurn	turn;

		if (first_block < begin)
			continue;
		if (first_block >= end)
			break;
		turn = take_chunk(state, chunk, reads_chunks, &segments);
		/* next_block does not move: the chunk's pages become part of the next range of the heap */
		if (turn == CHUNK_IS_LOST)
			continue;
		add_heap_range(state, next_block, first_block);
		next_block = end_of_chunk(state, chunk);
		if (turn == CHUNK_IS_IN_MEMORY)
			scan->nchunks += prove_chunk(state, chunk, state->patches[state->next_pinned], segments,
										 &scan->chunks[scan->nchunks]);
		else if (turn == CHUNK_IS_EXCLUDED)
			(void) prove_chunk(state, chunk, NULL, NULL, &unwanted);
		else
		{
			state->unread[scan->unread_chunks++] = chunk;
			scan->unread_rows += chunk->rows;
		}
	}
	add_heap_range(state, next_block, end);
	state->first_heap_ranges = scan->nheap_ranges;
	state->first_heap_rows = scan->nheap_rows;
	MemoryContextSwitchTo(old_context);
}

/*
 * Proves a chunk that is being read into the buffer, or, without one, of which
 * no row is wanted.  Its pages count once, however often the scan begins anew.
 */
static bool
prove_unread(ScanState *state, CachedChunk *chunk, ChunkBuffer *buffer, PenumbraChunk *out)
{
	CachedScan *scan = &state->scan;
	ScannedPages before = scan->pages;
	MemoryContext old_context;
	const void **segments;
	bool		has_rows = false;

	if (state->read_context == NULL)
		state->read_context = AllocSetContextCreate(state->context, "Penumbra chunk from disk",
													ALLOCSET_SMALL_SIZES);
	MemoryContextReset(state->read_context);
	old_context = MemoryContextSwitchTo(state->read_context);
	state->heap_ranges_closed = scan->nheap_ranges;
	segments = buffer == NULL ? NULL : end_read(state, chunk, buffer);
	if (segments != NULL || buffer == NULL)
		has_rows = prove_chunk(state, chunk, NULL, segments, out) > 0;
	else
		add_heap_range(state, chunk->number * CHUNK_PAGES, end_of_chunk(state, chunk));
	MemoryContextSwitchTo(old_context);
	if (state->was_rewound)
		scan->pages = before;
	return has_rows;
}

bool
cache_scan_begin_read(CachedScan *scan, ChunkBuffer *buffer)
{
	ScanState  *state = (ScanState *) scan;

	while (state->next_unread < scan->unread_chunks)
	{
		CachedChunk *chunk = state->unread[state->next_unread++];
		PenumbraChunk unwanted;

		CHECK_FOR_INTERRUPTS();
		if (!is_excluded(state, chunk))
		{
			state->missed_chunks++;
			state->begun[state->nbegun++] = chunk;
			disk_cache_begin_chunk(chunk, state->columns, state->ncolumns, buffer);
			return true;
		}
		(void) prove_unread(state, chunk, NULL, &unwanted);
	}
	return false;
}

bool
cache_scan_end_read(CachedScan *scan, ChunkBuffer *buffer, PenumbraChunk *out)
{
	ScanState  *state = (ScanState *) scan;

	return prove_unread(state, state->begun[state->next_begun++], buffer, out);
}

/* What was counted of chunks that were not read stays out, as pages of a scan that was not finished do. */
void
cache_scan_rewind(CachedScan *scan)
{
	ScanState  *state = (ScanState *) scan;

	if (state->next_unread == 0)
		return;
	state->was_rewound = true;
	state->next_unread = state->nbegun = state->next_begun = 0;
	state->heap_ranges_closed = 0;
	scan->nheap_ranges = state->first_heap_ranges;
	scan->nheap_rows = state->first_heap_rows;
}

/* ---------------------------------------------------------------- remembered filters ---- */

/* As a load for two wishes: it takes the place of columns that nobody used lately, and of what is on disk, too. */
#define FILTER_WISHES		2

/* Of what is learned of a chunk. */
typedef struct LearnedOwner
{
	const ScanState *state;
	CachedChunk *chunk;
} LearnedOwner;

/* The pinned segment that the engine reads; NULL: of a patch, or of what was read from disk. */
static CachedSegment *
find_shared_segment(const ScanState *state, const PenumbraChunk *chunk, int column)
{
	CachedSegment *segment;

	if (chunk->first_position & POSITION_IS_OF_PATCH)
		return NULL;
	segment = chunk_slot(find_pinned(state, chunk->first_position), state->columns[column]);
	return segment->segment != NULL && segment->segment == chunk->segments[column] ? segment : NULL;
}

void
cache_scan_recall_filters(CachedScan *scan, const PenumbraPlan *plan, PenumbraOperator operator)
{
	ScanState  *state = (ScanState *) scan;
	int			count;
	FilterKey  *keys = filter_keys_of(plan, operator, &count);
	CachedSegment **segments;
	const void **images;
	LearnedOwner *owners;

	/* no execution reads them any more */
	unpin_recalled(state);
	for (int c = 0; c < scan->nchunks; c++)
		scan->chunks[c].remembered = NULL;
	/* what is learned of a sample's rows says nothing of others */
	if (count == 0 || scan->nchunks == 0 || state->sample != NULL)
		return;
	if (state->recalled != NULL)
		pfree(state->recalled);
	state->recalled = MemoryContextAlloc(state->context, sizeof(RememberedFilter *) * scan->nchunks * count);
	segments = palloc(sizeof(CachedSegment *) * scan->nchunks);
	images = palloc0(sizeof(void *) * scan->nchunks * count);
	owners = palloc(sizeof(LearnedOwner) * scan->nchunks);
	for (int i = 0; i < count; i++)
	{
		int			column = keys[i].filter.column;
		RememberedFilter **found = state->recalled + i * scan->nchunks;

		for (int c = 0; c < scan->nchunks; c++)
			segments[c] = find_shared_segment(state, &scan->chunks[c], column);
		directory_pin_filters(segments, scan->nchunks, &keys[i], found);
		state->nrecalled += scan->nchunks;
		for (int c = 0; c < scan->nchunks; c++)
		{
			if (found[c] != NULL)
				images[c * count + i] = remembered_filter_image(found[c]);
			if (segments[c] == NULL)
				continue;
			owners[c].state = state;
			owners[c].chunk = segments[c]->chunk;
			scan->chunks[c].owner = &owners[c];
			scan->chunks[c].remembered = &images[c * count];
		}
	}
}

/* Memory that is not there for one of them is not there for the next. */
void
cache_keep_learned(PenumbraExec *exec, const PenumbraPlan *plan, PenumbraOperator operator)
{
	int			count;
	FilterKey  *keys = filter_keys_of(plan, operator, &count);
	PenumbraLearned learned;

	while (count > 0 && penumbra_exec_next_learned(exec, operator, &learned))
	{
		const LearnedOwner *owner = learned.owner;
		const FilterKey *key = &keys[learned.number];
		CachedSegment *segment = chunk_slot(owner->chunk, owner->state->columns[key->filter.column]);
		Size		bytes = remembered_filter_bytes(key, learned.image_bytes);
		RememberedFilter *filter;

		if (!remembered_filter_fits(segment, bytes))
			continue;
		filter = directory_allocate(bytes, PG_UINT64_MAX, FILTER_WISHES);
		if (filter == NULL)
			break;
		remembered_filter_fill(filter, key, learned.image, learned.image_bytes);
		if (!directory_publish_filter(segment, filter, key))
			remembered_filter_unpin(filter);
	}
	pfree(keys);
}

static void
note_scan(ScanState *state)
{
	if (!state->has_proven)
		return;
	directory_note_scan(&state->key, state->columns, state->ncolumns, state->scan.pages.from_cache,
						state->scan.pages.from_heap, state->missed_chunks);
	if (state->scan.pages.from_heap + state->scan.pages.by_row > 0 && penumbra_auto_load)
		wanted_wake_listener();
}

static CachedScan *
begin_scan(Relation rel, Snapshot snapshot, const ColumnKey *columns, int ncolumns)
{
	ScanState  *state = palloc0(sizeof(ScanState));

	/* a sequential scan's lock: what we prove, we have read */
	PredicateLockRelation(rel, snapshot);
	state->rel = rel;
	state->snapshot = snapshot;
	directory_key_of(rel, &state->key);
	state->ncolumns = ncolumns;
	state->columns = palloc(sizeof(ColumnKey) * Max(ncolumns, 1));
	memcpy(state->columns, columns, sizeof(ColumnKey) * ncolumns);
	open_scan(state, cache_is_available() && IsMVCCSnapshot(snapshot) &&
			  cache_refusal_of_relation(rel) == NULL);
	STOP_POINT("scan-after-pin");
	/* after the snapshot: rows on pages added later are not visible to it */
	state->nblocks = RelationGetNumberOfBlocks(rel);
	state->scan.nblocks = state->nblocks;
	state->vm_page = palloc(sizeof(VmPage));
	state->vm_page->map_block = InvalidBlockNumber;
	if (state->nblocks > (BlockNumber) NBuffers / 4)
		state->strategy = GetAccessStrategy(BAS_BULKREAD);
	state->scan.chunks = palloc(sizeof(PenumbraChunk) * Max(2 * state->npinned, 1));
	state->unread = palloc(sizeof(CachedChunk *) * Max(state->npinned, 1));
	state->begun = palloc(sizeof(CachedChunk *) * Max(state->npinned, 1));
	state->zone_maps = palloc0(sizeof(PenumbraZoneMap) * (ncolumns + 1));
	state->context = CurrentMemoryContext;
	state->part_context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra cached pages",
												ALLOCSET_SMALL_SIZES);
	return &state->scan;
}

/* The buffer is older than what the caller makes to read from it, so it is freed later, after an error too. */
CachedScan *
cache_scan_begin_parts(Relation rel, Snapshot snapshot, const ColumnKey *columns, int ncolumns)
{
	CachedScan *scan = begin_scan(rel, snapshot, columns, ncolumns);

	((ScanState *) scan)->part_buffer = cache_create_buffer(CurrentMemoryContext);
	return scan;
}

void
cache_scan_prove_part(CachedScan *scan, BlockNumber begin, BlockNumber end)
{
	prove_pages((ScanState *) scan, begin, Min(end, scan->nblocks), true);
}

CachedScan *
cache_scan_begin(Relation rel, Snapshot snapshot, const ColumnKey *columns, int ncolumns, bool gives_order, int table,
				 const TableSample *sample)
{
	CachedScan *scan = begin_scan(rel, snapshot, columns, ncolumns);

	((ScanState *) scan)->gives_order = gives_order;
	((ScanState *) scan)->sample = sample;
	((ScanState *) scan)->table_bits = (int64) table << POSITION_TABLE_SHIFT;
	prove_pages((ScanState *) scan, 0, scan->nblocks, false);
	STOP_POINT("scan-after-validation");
	return scan;
}

void
cache_scan_end(CachedScan *scan)
{
	note_scan((ScanState *) scan);
	release_scan(scan);
}

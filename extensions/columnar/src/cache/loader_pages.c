/*-------------------------------------------------------------------------
 *
 * loader_pages.c
 *	  Reads heap pages for chunks.
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
 * until vacuum sets it.  So have new pages, which are cached as pages without
 * rows.
 *
 * A column is added to an existing chunk without reading the others again,
 * when every live page still has the LSN it was loaded with.
 *
 * Where not every snapshot there is sees a page's rows, because one is old, it
 * is loaded all the same when all of its inserters have committed and nobody
 * has deleted: they are noted, and P4 says which snapshots may read it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"

#include "cache/loader_internal.h"
#include "cache/stop_points.h"

/*
 * Longer chunks stop at the page that goes past it; their other pages are served
 * from the heap.  What is not toasted comes to this with a hundred columns that are
 * all null.  A load takes twice as much: a column's encoded form beside the rows,
 * or a column that grows.  One page adds less than 5 MB: its rows' detoasted values
 * have a limit.
 */
#define CHUNK_ROWS_BYTES_MAX	((Size) 256 * 1024 * 1024)

static BlockNumber
name_next_block(void *argument)
{
	Loader	   *loader = argument;

	return loader->named_blocks < loader->nblocks ? loader->named_blocks++ : InvalidBlockNumber;
}

void
loader_begin_pages(Loader *loader)
{
	loader->pages = (CompatPages) {loader->rel, loader->strategy, name_next_block, loader};
	compat_begin_pages(&loader->pages);
}

void
loader_end_pages(Loader *loader)
{
	compat_end_pages(&loader->pages);
}

/* While a chunk is encoded the first pages of the one after it are read, which is likely to be next. */
static Buffer
read_page(Loader *loader, BlockNumber block)
{
	if (block != loader->read_blocks)
	{
		compat_reset_pages(&loader->pages);
		loader->named_blocks = block;
	}
	loader->read_blocks = block + 1;
	return compat_next_page(&loader->pages);
}

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
 * A page with rows and without an LSN was written under wal_level = minimal by
 * the transaction that created the relation.  P2 can never prove it, but P1 can
 * when the map page has an LSN: then the bit was set by a later vacuum.
 */
static bool
copy_page(Loader *loader, BlockNumber block, Buffer *vm_buffer, TransactionId horizon,
		  XLogRecPtr stamp, XLogRecPtr *lsn, PageInserters *inserters)
{
	Relation	rel = loader->rel;
	bool		visible = false;
	Buffer		buffer = read_page(loader, block);
	Page		page;

	compat_prune_page(rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	*lsn = BufferGetLSNAtomic(buffer);
	if (PageIsEmpty(page))
		visible = true;
	else
	{
		bool		bit = (visibilitymap_get_status(rel, block, vm_buffer) &
						   VISIBILITYMAP_ALL_VISIBLE) != 0;

		if (bit)
			visible = PageIsAllVisible(page) || RecoveryInProgress();
		else
		{
			visible = TransactionIdIsValid(horizon) && tuples_are_live(rel, buffer, block, horizon, inserters);
			loader->draft->unsettled_pages += !visible;
		}
		/* after the tuples were looked at: that may have set hints, which may move it */
		*lsn = BufferGetLSNAtomic(buffer);
		if (visible && *lsn == InvalidXLogRecPtr && !(bit && stamp != InvalidXLogRecPtr))
		{
			loader->left.unlogged++;
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

uint8 *
loader_offset_bits(CachedChunk *draft, uint32 page)
{
	return (uint8 *) draft + CHUNK_BYTES(draft->column_count) + draft->offset_bytes[page];
}

void
loader_note_offsets(CachedChunk *draft, uint32 page, const OffsetNumber *offsets, uint32 count)
{
	uint8	   *bits = loader_offset_bits(draft, page);

	if (count == 0 || offsets[count - 1] == count)
		return;
	for (uint32 i = 0; i < count; i++)
		bits[(offsets[i] - 1) / BITS_PER_BYTE] |= 1 << ((offsets[i] - 1) % BITS_PER_BYTE);
	draft->offset_bytes[page + 1] += (offsets[count - 1] + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
}

/* Remembers where the rows of the image are. */
static void
note_image_offsets(Loader *loader, uint32 page)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	OffsetNumber last = PageGetMaxOffsetNumber((Page) loader->image);
	uint32		count = 0;

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		if (ItemIdIsNormal(PageGetItemId((Page) loader->image, offset)))
			offsets[count++] = offset;
	}
	loader_note_offsets(loader->draft, page, offsets, count);
}

void
loader_add_page(Loader *loader, uint32 page, XLogRecPtr lsn)
{
	CachedChunk *draft = loader->draft;
	uint64		live = pg_atomic_read_u64(&draft->live[page / 64]);

	pg_atomic_write_u64(&draft->page_lsn[page], lsn);
	pg_atomic_write_u64(&draft->live[page / 64], live | UINT64CONST(1) << (page % 64));
	draft->cached_pages++;
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

static XLogRecPtr
read_page_lsn(Loader *loader, BlockNumber block)
{
	Buffer		buffer = read_page(loader, block);
	XLogRecPtr	lsn = BufferGetLSNAtomic(buffer);

	ReleaseBuffer(buffer);
	return lsn;
}

/*
 * Follows the order of the proof above: V is read first and last, each page in
 * between. A page gets no live bit, and the heap serves it, if it cannot be proven
 * or its values are too large. The same holds for all pages after
 * CHUNK_ROWS_BYTES_MAX bytes of rows. The LSN of a page that is left for its size
 * tells the next load whether it can be another one now.
 */
void
loader_read_pages(Loader *loader, uint32 number)
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
		if (is_long)
			lsn = read_page_lsn(loader, first_block + page);
		else if (!copy_page(loader, first_block + page, &vm_buffer, horizon, stamp, &lsn, &inserters))
			continue;
		if (is_long ||
			!heap_row_reader_append_image(loader->reader, loader->image, loader->rows, &page_rows))
		{
			loader->left.wide++;
			pg_atomic_write_u64(&draft->page_lsn[page], lsn);
			continue;
		}
		draft->rows += page_rows;
		note_image_offsets(loader, page);
		loader->inserters[page] = inserters;
		if (TransactionIdIsValid(inserters.youngest))
			add_inserters(&draft->inserters, inserters.oldest, inserters.youngest);
		loader_add_page(loader, page, lsn);
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
	loader->left.unsettled = draft->unsettled_pages;
	pg_atomic_write_u64(&draft->vm_stamp, stamp);
	pg_atomic_write_u32(&draft->lsn_pages, count_pages_not_visible(loader, draft, stamp));
}

bool
loader_read_pages_again(Loader *loader, CachedChunk *chunk)
{
	uint32		rows = 0;

	for (uint32 page = 0; page < chunk->pages; page++)
	{
		Buffer		buffer;
		XLogRecPtr	lsn;
		uint32		page_rows;
		bool		same;

		CHECK_FOR_INTERRUPTS();
		if (!chunk_page_has_rows(chunk, page))
			continue;
		if (!chunk_page_is_live(chunk, page))
			return false;
		buffer = read_page(loader, chunk->number * CHUNK_PAGES + page);
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

/*-------------------------------------------------------------------------
 *
 * heap_page.h
 *	  Rows of heap pages as engine rows: for the loader, for verification and
 *	  for the pages that a query reads from the heap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_HEAP_PAGE_H
#define PENUMBRA_HEAP_PAGE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "cache/column_key.h"
#include "penumbra/engine.h"

/* Deforms tuples of one relation into batches for penumbra_rows_append(). */
typedef struct HeapRowReader HeapRowReader;

extern HeapRowReader *heap_row_reader_create(Relation rel, const ColumnKey *columns, int ncolumns);

/*
 * What heap_row_reader_open_page() opens: next_block(argument) names the pages,
 * some ahead of the one that is open, until it gives InvalidBlockNumber.
 */
extern void heap_row_reader_set_pages(HeapRowReader *reader, BlockNumber (*next_block) (void *), void *argument);
/*
 * Opens the next page for the rows of it that `snapshot` (MVCC) sees; false:
 * there is none now.  It is read, pruned opportunistically, locked, checked for
 * serializable conflicts and unlocked as a sequential scan would, and stays
 * pinned until another is opened or the reader closes it.
 */
extern bool heap_row_reader_open_page(HeapRowReader *reader, Snapshot snapshot);
/*
 * Opens a page for those of `rows` that are on the page of the first, and
 * returns how many.  The snapshot that sees them is still held, so they are
 * where they were when it was asked.
 */
extern uint32 heap_row_reader_open_rows(HeapRowReader *reader, const ItemPointerData *rows,
										uint32 count);
struct TableSample;
/* Before the first page: of what it opens the rows of the sample alone, which stays. */
extern void heap_row_reader_set_sample(HeapRowReader *reader, const struct TableSample *sample);
/* The position of a row of the heap: its page and offset, with a bit that no position in a chunk has. */
#define POSITION_IS_OF_HEAP		(INT64CONST(1) << 62)
extern int64 heap_row_position(BlockNumber block, OffsetNumber offset);
/* Of a scan of several tables the bits between these tell the row's. */
#define POSITION_TABLE_SHIFT	48
#define POSITION_TABLES_MAX		(1 << 14)
#define POSITION_TABLE(position)	((int) ((position) >> POSITION_TABLE_SHIFT) & (POSITION_TABLES_MAX - 1))
/* Before the first page: rows get their positions, see heap_row_position(), as a column after the others. */
extern void heap_row_reader_give_positions(HeapRowReader *reader, int table);
/*
 * Appends the next rows of the open page, detoasted: all, or one and more up
 * to that which exceeds bytes_limit.  False: that was the page's last.
 */
extern bool heap_row_reader_append_rows(HeapRowReader *reader, PenumbraRows *rows,
										Size bytes_limit);
/* Whether that evaluates expressions which may raise an error. */
extern bool heap_row_reader_can_fail(const HeapRowReader *reader);
/*
 * The tuples that the reader has copied, for the engine's threads to deform;
 * they are the reader's.  NULL: values may be compressed or stored elsewhere,
 * which only a backend can read.
 */
extern PenumbraTuples *heap_row_reader_tuples(HeapRowReader *reader);
/* Copies the rows of the open page to them. */
extern void heap_row_reader_append_tuples(HeapRowReader *reader);
/* Also the pages that were read ahead. */
extern void heap_row_reader_close_page(HeapRowReader *reader);

/* Where a page has LP_NORMAL tuples: MaxHeapTuplesPerPage at most. */
extern uint32 heap_page_offsets(Page page, OffsetNumber *offsets);

/*
 * Appends every LP_NORMAL tuple of a page that the caller has proven
 * all-visible: a private copy, 8-byte aligned, taken under the content lock,
 * so that detoasting happens without it.  False, and nothing appended: its
 * toasted values are so large that they are not worth caching.
 */
extern bool heap_row_reader_append_image(HeapRowReader *reader, Page page, PenumbraRows *rows,
										 uint32 *row_count);
/* The same of the tuples at some offsets, which a snapshot sees that is still held. */
extern bool heap_row_reader_append_narrow(HeapRowReader *reader, Page page, const OffsetNumber *offsets,
										  uint32 count, PenumbraRows *rows);
/* The same however large they are, of the rows at some offsets, which a snapshot sees that is still held. */
extern void heap_row_reader_append_offsets(HeapRowReader *reader, Page page,
										   const OffsetNumber *offsets, uint32 count,
										   PenumbraRows *rows);
extern void heap_row_reader_destroy(HeapRowReader *reader);

/* Each tuple's header is on a cache line of its own, and waiting for these is most of what a look at all takes. */
extern void heap_page_prefetch_tuples(Page page);

/*
 * What HeapTupleSatisfiesMVCC() says of most tuples, without the call: the
 * inserter is known to have committed before the snapshot, and nobody has
 * deleted or locked the tuple.  False: it must be asked.
 */
static inline bool
heap_tuple_is_plainly_visible(HeapTupleHeader tuple, Snapshot snapshot)
{
	return (tuple->t_infomask & (HEAP_XMAX_INVALID | HEAP_XMIN_COMMITTED)) ==
		(HEAP_XMAX_INVALID | HEAP_XMIN_COMMITTED) &&
		(HeapTupleHeaderXminFrozen(tuple) ||
		 TransactionIdPrecedes(HeapTupleHeaderGetRawXmin(tuple), snapshot->xmin));
}

#endif							/* PENUMBRA_HEAP_PAGE_H */

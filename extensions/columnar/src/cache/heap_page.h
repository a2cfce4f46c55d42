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

#include "access/attnum.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "penumbra/engine.h"

/* Deforms tuples of one relation into batches for penumbra_rows_append(). */
typedef struct HeapRowReader HeapRowReader;

extern HeapRowReader *heap_row_reader_create(Relation rel, const AttrNumber *attnums, int natts);

/*
 * Appends the rows of one page that `snapshot` (MVCC) sees.  The page is read,
 * pruned opportunistically, locked, checked for serializable conflicts and
 * unlocked as a sequential scan would.  Detoasts.  `buffer` is the block's
 * buffer when the caller holds it pinned and unlocked, else InvalidBuffer.
 * Returns the number of rows appended.
 */
extern uint32 heap_row_reader_append_page(HeapRowReader *reader, BlockNumber block, Buffer buffer,
										  Snapshot snapshot, PenumbraRows *rows);

/*
 * Appends every LP_NORMAL tuple of a page that the caller has proven
 * all-visible: a private copy, 8-byte aligned, taken under the content lock,
 * so that detoasting happens without it.  False, and nothing appended: its
 * toasted values are too many bytes to be cached.
 */
extern bool heap_row_reader_append_image(HeapRowReader *reader, Page page, PenumbraRows *rows,
										 uint32 *row_count);
extern void heap_row_reader_destroy(HeapRowReader *reader);

/* Raises the ereport that belongs to a status other than PENUMBRA_OK. */
extern void penumbra_report_status(const PenumbraStatus *status) __attribute__((noreturn));

#endif							/* PENUMBRA_HEAP_PAGE_H */

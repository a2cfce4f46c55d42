/*-------------------------------------------------------------------------
 *
 * scan_pages.c
 *	  The rows of a table for CREATE INDEX, page by page.
 *
 * The table access method hands rows over one by one, each under a lock of
 * its own and through the executor's machinery, which costs more than all that
 * an index of short keys does with them.  On a page whose rows are all alive
 * there is nothing to decide, so its keys are taken in one go; every other
 * page is left to the table access method.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "scan_pages.h"

/* So many pages are taken from the queue at once: a few milliseconds of work. */
#define PAGES_AT_ONCE 64

/* As heap scans, which do not drive everything else out of the buffers. */
#define BULK_READ_FRACTION 4

typedef struct PageScan
{
	KeytreeBuild *build;
	AttrNumber	attribute;
	TransactionId horizon;
	BufferAccessStrategy strategy;

	/* the rows of the page just read */
	int			count;
	KeytreeEntry entries[MaxHeapTuplesPerPage];
	bool		nulls[MaxHeapTuplesPerPage];
}			PageScan;

void
keytree_page_queue_init(KeytreePageQueue *queue, Relation heap)
{
	/* nobody else can insert rows while we build */
	queue->pages_count = RelationGetNumberOfBlocks(heap);
	pg_atomic_init_u64(&queue->next, 0);
}

/* A concurrent build goes by a snapshot. */
static bool
can_scan_pages(const KeytreeBuild *build)
{
	const IndexInfo *info = build->info;

	return build->heap->rd_tableam == GetHeapamTableAmRoutine() && !info->ii_Concurrent &&
		info->ii_IndexAttrNumbers[0] > 0 && info->ii_Predicate == NIL;
}

/* Takes a row that is alive; false if its root is not to be found. */
static inline bool
take_row(PageScan *scan, HeapTuple row, Page page, OffsetNumber *roots, bool *has_roots)
{
	Datum		value;
	KeytreeEntry *entry = &scan->entries[scan->count];
	ItemPointerData pointer = row->t_self;

	if (HeapTupleIsHeapOnly(row))
	{
		OffsetNumber root;

		if (!*has_roots)
			heap_get_root_tuples(page, roots);
		*has_roots = true;
		root = roots[ItemPointerGetOffsetNumber(&pointer) - 1];
		if (!OffsetNumberIsValid(root))
			return false;
		ItemPointerSetOffsetNumber(&pointer, root);
	}
	value = heap_getattr(row, scan->attribute, RelationGetDescr(scan->build->heap), &scan->nulls[scan->count]);
	*entry = (KeytreeEntry) {0};
	if (!scan->nulls[scan->count])
		keytree_key_from_datum(scan->build->kind, value, entry);
	entry->tid = keytree_tid_from_pointer(&pointer);
	scan->count++;
	return true;
}

/* Reads the rows of a page; false if not all of them are alive for everybody. */
static bool
read_page(PageScan *scan, BlockNumber block)
{
	Relation	heap = scan->build->heap;
	Buffer		buffer = ReadBufferExtended(heap, MAIN_FORKNUM, block, RBM_NORMAL, scan->strategy);
	Page		page = BufferGetPage(buffer);
	HeapTupleData row = {.t_tableOid = RelationGetRelid(heap)};
	OffsetNumber roots[MaxHeapTuplesPerPage];
	bool		has_roots = false;
	bool		all_visible;
	bool		all_alive;
	OffsetNumber last;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	all_visible = PageIsAllVisible(page);
	last = PageGetMaxOffsetNumber(page);
	all_alive = last <= MaxHeapTuplesPerPage;	/* or the page is damaged */
	scan->count = 0;
	for (OffsetNumber offset = FirstOffsetNumber; all_alive && offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);

		if (!ItemIdIsNormal(item))
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem(page, item);
		row.t_len = ItemIdGetLength(item);
		ItemPointerSet(&row.t_self, block, offset);
		all_alive = (all_visible || HeapTupleSatisfiesVacuum(&row, scan->horizon, buffer) == HEAPTUPLE_LIVE) &&
			take_row(scan, &row, page, roots, &has_roots);
	}
	UnlockReleaseBuffer(buffer);
	return all_alive;
}

static void
add_rows(PageScan *scan)
{
	KeytreeBuild *build = scan->build;

	for (int i = 0; i < scan->count; i++)
		keytree_sorter_add(build->sorters[keytree_sorter_for(false, scan->nulls[i])], &scan->entries[i]);
	build->rows_count += scan->count;
	build->entries_count += scan->count;
}

/* The pages [from, to) by the table access method. */
static void
scan_other_pages(KeytreeBuild *build, BlockNumber from, BlockNumber to)
{
	if (from < to)
		build->rows_count += table_index_build_range_scan(build->heap, build->index, build->info, false, false, false,
														  from, to - from, keytree_build_row, build, NULL);
}

static void
scan_pages(KeytreeBuild *build, KeytreePageQueue *queue, bool reports_progress)
{
	PageScan   *scan = palloc0(sizeof(PageScan));

	scan->build = build;
	scan->attribute = build->info->ii_IndexAttrNumbers[0];
	scan->horizon = GetOldestNonRemovableTransactionId(build->heap);
	if (!RelationUsesLocalBuffers(build->heap) && queue->pages_count > NBuffers / BULK_READ_FRACTION)
		scan->strategy = GetAccessStrategy(BAS_BULKREAD);
	if (reports_progress)
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, queue->pages_count);
	for (;;)
	{
		uint64		from = pg_atomic_fetch_add_u64(&queue->next, PAGES_AT_ONCE);
		BlockNumber to = Min(from + PAGES_AT_ONCE, queue->pages_count);
		BlockNumber done = from;	/* pages before it are */

		if (from >= queue->pages_count)
			break;
		for (BlockNumber block = from; block < to; block++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!read_page(scan, block))
				continue;
			scan_other_pages(build, done, block);
			add_rows(scan);
			done = block + 1;
		}
		scan_other_pages(build, done, to);
		if (reports_progress)
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, to);
	}
	if (scan->strategy != NULL)
		FreeAccessStrategy(scan->strategy);
	pfree(scan);
}

void
keytree_scan_table(KeytreeBuild *build, KeytreePageQueue *queue, ParallelTableScanDesc shared_scan,
				   bool reports_progress)
{
	if (can_scan_pages(build))
		scan_pages(build, queue, reports_progress);
	else
		build->rows_count = table_index_build_scan(build->heap, build->index, build->info, true, reports_progress,
												   keytree_build_row, build, shared_scan == NULL ? NULL :
												   compat_beginscan_parallel(build->heap, shared_scan));
}

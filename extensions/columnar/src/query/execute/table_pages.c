/*-------------------------------------------------------------------------
 *
 * table_pages.c
 *	  Pages of a table that this transaction creates, written past the buffers.
 *
 * heap_multi_insert() gets each page from the buffers: it is written twice,
 * first as zeros when the file grows and again when the buffer is needed.  Of a
 * table that only this transaction can see nobody asks for a page before all
 * are there.  So a page is filled in private memory and written once, as
 * PostgreSQL does when it rewrites a table or builds an index.
 *
 * A page is in WAL before it is in the file.  Recovery that begins behind its
 * record needs it in the file: between the two no checkpoint may start
 * (DELAY_CHKPT_START), and the checkpoint after them syncs the file, which
 * smgrextend() registers.  A crash before the transaction's end leaves at most
 * a file that no table has.
 *
 * Logical decoding finds rows in the records of insertions, so a table that it
 * may decode keeps these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/proc.h"
#include "storage/smgr.h"

#include "query/execute/table_pages.h"

/* What direct input and output wants of a buffer. */
#define PAGE_ALIGNMENT_BYTES 4096

struct TablePages
{
	Relation	rel;
	TransactionId transaction;
	CommandId	command;
	Size		reserved_bytes; /* of each page, by the table's fillfactor */
	BlockNumber block;			/* of the page that is being filled */
	int			row_count;		/* on it */
	Page		page;
	char		memory[BLCKSZ + PAGE_ALIGNMENT_BYTES];
};

TablePages *
table_pages_begin(Relation rel, CommandId command)
{
	TablePages *pages;

	if (RelationIsLogicallyLogged(rel) || RelationGetNumberOfBlocks(rel) > 0)
		return NULL;
	pages = palloc(sizeof(TablePages));
	pages->rel = rel;
	pages->transaction = GetCurrentTransactionId();
	pages->command = command;
	pages->reserved_bytes = RelationGetTargetPageFreeSpace(rel, HEAP_DEFAULT_FILLFACTOR);
	pages->block = 0;
	pages->row_count = 0;
	pages->page = (Page) TYPEALIGN(PAGE_ALIGNMENT_BYTES, pages->memory);
	PageInit(pages->page, BLCKSZ, 0);
	return pages;
}

static void
append_to_file(const TablePages *pages)
{
	compat_page_set_checksum(pages->page, pages->block);
	smgrextend(RelationGetSmgr(pages->rel), MAIN_FORKNUM, pages->block, pages->page, false);
}

static void
write_page(TablePages *pages)
{
	if (RelationNeedsWAL(pages->rel))
	{
		MyProc->delayChkptFlags |= DELAY_CHKPT_START;
		PG_TRY();
		{
			compat_log_new_page(pages->rel, pages->block, pages->page);
			append_to_file(pages);
		}
		PG_FINALLY();
		{
			MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
		}
		PG_END_TRY();
	}
	else
		append_to_file(pages);
	if (RelationUsesLocalBuffers(pages->rel))
		pgBufferUsage.local_blks_written++;
	else
		pgBufferUsage.shared_blks_written++;
	pgstat_count_heap_insert(pages->rel, pages->row_count);
	pages->block++;
	pages->row_count = 0;
	PageInit(pages->page, BLCKSZ, 0);
}

void
table_pages_add(TablePages *pages, HeapTuple tuple)
{
	HeapTupleHeader header = tuple->t_data;
	OffsetNumber offset;

	Assert(tuple->t_len <= TABLE_PAGES_TUPLE_BYTES_MAX);
	if (pages->row_count > 0 && PageGetHeapFreeSpace(pages->page) < MAXALIGN(tuple->t_len) + pages->reserved_bytes)
		write_page(pages);
	header->t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(header, pages->transaction);
	HeapTupleHeaderSetXmax(header, InvalidTransactionId);
	HeapTupleHeaderSetCmin(header, pages->command);
	ItemPointerSet(&header->t_ctid, pages->block, ++pages->row_count);
	offset = PageAddItemExtended(pages->page, (char *) header, tuple->t_len, InvalidOffsetNumber, PAI_IS_HEAP);
	if (offset != pages->row_count)
		elog(ERROR, "failed to add row %d to page %u", pages->row_count, pages->block);
}

void
table_pages_end(TablePages *pages)
{
	if (pages->row_count > 0)
		write_page(pages);
	pfree(pages);
}

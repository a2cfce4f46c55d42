/*
 * old_rows.c
 *	  Makes transaction numbers pass without transactions, changes tuples
 *	  without WAL, as nothing but damage does, and takes its time moving them.
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "fmgr.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "storage/lwlock.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

PG_MODULE_MAGIC;

/* What is next then begins pages of pg_xact and pg_subtrans, which are made when it is given. */
#define NUMBERS_PER_PAGE	(4 * BLCKSZ)

PG_FUNCTION_INFO_V1(skip_transactions);
PG_FUNCTION_INFO_V1(damage_tuple);
PG_FUNCTION_INFO_V1(move_tuples);

PGDLLEXPORT Datum skip_transactions(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum damage_tuple(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum move_tuples(PG_FUNCTION_ARGS);

Datum
skip_transactions(PG_FUNCTION_ARGS)
{
	uint64		next;

	LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
	next = U64FromFullTransactionId(TransamVariables->nextXid) + PG_GETARG_INT64(0);
	next -= next % NUMBERS_PER_PAGE;
	/* not a number at which who gets it starts a process */
	if (next % (2 * NUMBERS_PER_PAGE) == 0)
		next += NUMBERS_PER_PAGE;
	TransamVariables->nextXid = FullTransactionIdFromU64(next);
	LWLockRelease(XidGenLock);
	PG_RETURN_INT64((int64) next);
}

/* A tuple becomes deleted, its pointer dead, or its first value another one; the page's LSN stays. */
Datum
damage_tuple(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessExclusiveLock);
	ItemPointer tid = (ItemPointer) PG_GETARG_POINTER(1);
	char	   *how = text_to_cstring(PG_GETARG_TEXT_PP(2));
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (strcmp(how, "delete") == 0)
	{
		HeapTupleHeaderSetXmax(tuple, FrozenTransactionId + 1);
		tuple->t_infomask &= ~HEAP_XMAX_BITS;
		tuple->t_infomask |= HEAP_XMAX_COMMITTED;
	}
	else if (strcmp(how, "pointer") == 0)
		ItemIdSetDead(item);
	else
		((char *) tuple)[tuple->t_hoff] ^= 1;
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}

/*
 * For so many milliseconds the first values of a page's tuples are others, as
 * while pruning defragments it: under its lock.  Meanwhile the session waits for
 * an extension, as pg_stat_activity has it.
 */
Datum
move_tuples(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(rel, PG_GETARG_INT64(1));
	PGAlignedBlock before;
	Page		page = BufferGetPage(buffer);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(before.data, page, BLCKSZ);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		ItemId		item = PageGetItemId(page, offset);

		if (ItemIdIsNormal(item))
			((char *) PageGetItem(page, item))[((HeapTupleHeader) PageGetItem(page, item))->t_hoff] ^= 1;
	}
	pgstat_report_wait_start(PG_WAIT_EXTENSION);
	pg_usleep(PG_GETARG_INT32(2) * 1000L);
	pgstat_report_wait_end();
	memcpy(page, before.data, BLCKSZ);
	UnlockReleaseBuffer(buffer);
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}

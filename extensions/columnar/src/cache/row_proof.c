/*-------------------------------------------------------------------------
 *
 * row_proof.c
 *	  P3: which cached rows of a page that was written since the load are
 *	  right, and which of them a snapshot sees.
 *
 * X is the oldest transaction that anybody could consider running when the
 * load of the chunk began.  Whoever inserts a tuple after the page was copied
 * ran then, or got its number later: numbers are shown in the array of
 * processes before the next is given, and those of subtransactions exceed
 * their parent's.  So its number is X or later, and a tuple whose xmin
 * precedes X was not inserted since.  Nothing but an insert writes an xmin of
 * a user's transaction or makes a line pointer normal; freezing leaves the
 * raw xmin, pruning moves pointers only towards redirected, dead and unused,
 * defragmentation moves bytes.  Therefore such a tuple at an offset where the
 * loaded page had one is the loaded one, and its values are the cached ones.
 * All snapshots see its insertion (C2 in README.md): its xmax alone decides.
 *
 * The rules under which this holds are W1 to W8 in README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/heapam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "cache/heap_page.h"
#include "cache/row_proof.h"
#include "cache/stop_points.h"

/* Far enough from half of the numbers, at which an old one would look new. */
#define XIDS_SINCE_LOAD_MAX		(UINT64CONST(1) << 30)

/* Where the rows of a page were at load: asked for one offset after the other, from 1. */
typedef struct LoadedRows
{
	const uint8 *bits;			/* by offset - 1; NULL: the rows were at 1, 2, ... */
	uint32		limit;			/* no row was behind this offset */
	OffsetNumber offset;		/* asked for last */
	int			next_row;
} LoadedRows;

static void
loaded_rows_begin(LoadedRows *loaded, const CachedChunk *chunk, uint32 page)
{
	uint32		begin = chunk->offset_bytes[page];
	uint32		end = chunk->offset_bytes[page + 1];

	loaded->bits = begin == end ? NULL : CHUNK_OFFSET_BITS(chunk) + begin;
	loaded->limit = begin == end ?
		chunk->first_row[page + 1] - chunk->first_row[page] : (end - begin) * BITS_PER_BYTE;
	loaded->offset = 0;
	loaded->next_row = 0;
}

/* The row that was at the next offset, counted from the page's first; -1: none. */
static inline int
loaded_rows_next(LoadedRows *loaded)
{
	uint32		bit = loaded->offset++;

	if (bit >= loaded->limit)
		return -1;
	if (loaded->bits != NULL &&
		(loaded->bits[bit / BITS_PER_BYTE] & (1 << (bit % BITS_PER_BYTE))) == 0)
		return -1;
	return loaded->next_row++;
}

/* Rule W2: whether a normal tuple is the one that was at its offset at load, where one was. */
static inline bool
tuple_is_loaded(HeapTupleHeader tuple, TransactionId oldest_running)
{
	TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple);

	return TransactionIdIsNormal(xmin) &&
		TransactionIdPrecedes(xmin, oldest_running) &&
		(tuple->t_infomask & HEAP_MOVED) == 0 &&
		!HeapTupleHeaderXminInvalid(tuple);
}

/*
 * Rule W4: a serializable transaction looks at every tuple for the sake of
 * conflicts.  Rule W5: extensions may change tuples of their tables in place, as
 * PostgreSQL does in some catalogs; a table can become an extension's at any time.
 */
bool
row_proof_is_allowed(Relation rel, Snapshot snapshot)
{
	return !CheckForSerializableConflictOutNeeded(rel, snapshot) &&
		!RelationIsUsedAsCatalogTable(rel) &&
		!OidIsValid(getExtensionOfObject(RelationRelationId, RelationGetRelid(rel)));
}

/* Whether a row of a catalog, found by its key, is older than a load. */
static bool
catalog_row_is_older(int cache, Oid oid, TransactionId oldest_running)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(oid));
	bool		is_older = HeapTupleIsValid(tuple) &&
		TransactionIdPrecedes(HeapTupleHeaderGetRawXmin(tuple->t_data), oldest_running);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_older;
}

/*
 * Rule W1, with T8 of what is on disk; and rule W6 for a chunk from there: who
 * gives a relation another file, or a database's number to another one, writes
 * its row of pg_class, or of pg_database, anew.  So where these rows are older
 * than the load no drop was missed.  The relation's lock keeps its row as it is.
 */
bool
row_proof_holds(Relation rel, const CachedChunk *chunk, FullTransactionId next_xid)
{
	TransactionId oldest_running = (TransactionId) chunk->oldest_running;

	if (chunk->oldest_running == 0 || chunk->has_reused_xids ||
		U64FromFullTransactionId(next_xid) - chunk->oldest_running >= XIDS_SINCE_LOAD_MAX)
		return false;
	return !chunk->is_restored ||
		(catalog_row_is_older(RELOID, RelationGetRelid(rel), oldest_running) &&
		 catalog_row_is_older(DATABASEOID, MyDatabaseId, oldest_running));
}

/* Rules W3 and W8: *is_settled stays true while every snapshot sees what this one sees, but for inserters. */
static inline bool
is_visible(Relation rel, Snapshot snapshot, TransactionId horizon, Buffer buffer, BlockNumber block,
		   OffsetNumber offset, ItemId item, bool is_loaded, bool *is_settled)
{
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(BufferGetPage(buffer), item);
	HeapTupleData tuple;
	HTSV_Result state;
	bool		visible;

	if (is_loaded ? (header->t_infomask & HEAP_XMAX_INVALID) != 0 ||
		HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) : heap_tuple_is_plainly_visible(header, snapshot))
		return true;
	tuple.t_tableOid = RelationGetRelid(rel);
	tuple.t_data = header;
	tuple.t_len = ItemIdGetLength(item);
	ItemPointerSet(&tuple.t_self, block, offset);
	visible = HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
	if (*is_settled)
	{
		state = HeapTupleSatisfiesVacuum(&tuple, horizon, buffer);
		*is_settled = visible ? state == HEAPTUPLE_LIVE : state == HEAPTUPLE_DEAD;
	}
	return visible;
}

bool
row_proof_locked_page(Relation rel, Snapshot snapshot, TransactionId horizon, CachedChunk *chunk,
					  uint32 page, Buffer buffer, PageRows *rows)
{
	XLogRecPtr	known_lsn = pg_atomic_read_u64(&chunk->page_lsn[page]);
	TransactionId oldest_running = (TransactionId) chunk->oldest_running;
	Page		content = BufferGetPage(buffer);
	OffsetNumber last = PageGetMaxOffsetNumber(content);
	bool		all_visible = PageIsAllVisible(content) && !snapshot->takenDuringRecovery;
	LoadedRows	loaded;

	compat_test_old_snapshot(snapshot, rel, content);
	rows->cached_count = rows->heap_count = 0;
	rows->is_settled = TransactionIdIsValid(horizon);
	rows->is_decided = false;
	/* rule W6 */
	if (known_lsn == InvalidXLogRecPtr || BufferGetLSNAtomic(buffer) < known_lsn)
		return false;
	heap_page_prefetch_tuples(content);
	loaded_rows_begin(&loaded, chunk, page);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		int			row = loaded_rows_next(&loaded);
		ItemId		item = PageGetItemId(content, offset);
		bool		is_loaded;

		if (!ItemIdIsNormal(item))
			continue;
		is_loaded = row >= 0 &&
			tuple_is_loaded((HeapTupleHeader) PageGetItem(content, item), oldest_running);
		if (!all_visible &&
			!is_visible(rel, snapshot, horizon, buffer, chunk->number * CHUNK_PAGES + page, offset,
						item, is_loaded, &rows->is_settled))
			continue;
		if (is_loaded)
		{
			rows->cached_offsets[rows->cached_count] = offset;
			rows->cached[rows->cached_count++] = row;
		}
		else
			rows->heap[rows->heap_count++] = offset;
	}
	rows->is_decided = rows->is_settled && rows->heap_count == 0;
	return true;
}

/* Of a page that is decided: the loaded rows that are not among the proven ones which all see.  False: none is new. */
static bool
mark_dead_rows(CachedChunk *chunk, uint32 page, const PageRows *rows)
{
	pg_atomic_uint64 *dead = CHUNK_DEAD_ROWS(chunk);
	uint32		first = chunk->first_row[page];
	uint32		next = 0;		/* in rows->cached */
	bool		any = false;

	for (uint32 row = first; row < chunk->first_row[page + 1]; row++)
	{
		uint64		bit = UINT64CONST(1) << (row % 64);

		if (next < rows->cached_count && first + rows->cached[next] == row)
			next++;
		else
			any |= (pg_atomic_fetch_or_u64(&dead[row / 64], bit) & bit) == 0;
	}
	return any;
}

/*
 * Rule W8.  The page is share-locked, so that it is not written before all is
 * told: else whoever renews the chunk's stamp might not look at it, and P1
 * prove it in another state.  Dead rows come first, then the LSN by which P2
 * says that they are all.
 */
static void
note_decided_page(CachedChunk *chunk, uint32 page, Buffer buffer, const PageRows *rows)
{
	uint64		live_bit = UINT64CONST(1) << (page % 64);

	(void) mark_dead_rows(chunk, page, rows);
	pg_atomic_fetch_add_u32(&chunk->decisions, 1);
	pg_write_barrier();
	pg_atomic_write_u64(&chunk->page_lsn[page], BufferGetLSNAtomic(buffer));
	if ((pg_atomic_fetch_or_u64(&chunk->live[page / 64], live_bit) & live_bit) == 0)
		pg_atomic_fetch_sub_u32(&chunk->changed_pages, 1);
}

bool
row_proof_page(Relation rel, Snapshot snapshot, TransactionId horizon, CachedChunk *chunk,
			   uint32 page, BufferAccessStrategy strategy, PageRows *rows)
{
	Buffer		buffer;
	bool		is_proven;

	CHECK_FOR_INTERRUPTS();
	buffer = chunk_read_page(rel, chunk, page, strategy);
	STOP_POINT("row-proof-before-page");
	/* as a sequential scan does: nobody else may come by */
	compat_prune_page(rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	is_proven = row_proof_locked_page(rel, snapshot, horizon, chunk, page, buffer, rows);
	if (is_proven && rows->is_decided)
		note_decided_page(chunk, page, buffer, rows);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	return is_proven;
}

/* Whether every snapshot sees the insertion of a row that some do see; the hint: else its commit may not be on disk. */
static bool
inserter_is_old(HeapTupleHeader tuple, TransactionId horizon)
{
	return HeapTupleHeaderXminCommitted(tuple) &&
		TransactionIdPrecedes(HeapTupleHeaderGetXmin(tuple), horizon);
}

/*
 * Rule W10: whether a share-locked page, whose rows are settled, has no visible
 * row but proven ones and new ones that all see.  A tuple that is not proven may
 * be the loaded row of its offset all the same, unless that is known to be dead.
 */
static bool
heap_rows_are_new(CachedChunk *chunk, uint32 page, Page content, TransactionId horizon, const PageRows *rows)
{
	uint32		next = 0;		/* in rows->heap */
	LoadedRows	loaded;

	loaded_rows_begin(&loaded, chunk, page);
	for (OffsetNumber offset = FirstOffsetNumber; next < rows->heap_count; offset++)
	{
		int			row = loaded_rows_next(&loaded);

		if (rows->heap[next] != offset)
			continue;
		next++;
		if (row >= 0 && !chunk_row_is_dead(chunk, chunk->first_row[page] + row))
			return false;
		if (!inserter_is_old((HeapTupleHeader) PageGetItem(content, PageGetItemId(content, offset)), horizon))
			return false;
	}
	return true;
}

/* One share lock covers the check of the rows and the copy of the page, so the LSN belongs to the copy. */
bool
row_proof_patch_page(Relation rel, Snapshot snapshot, TransactionId horizon, CachedChunk *chunk,
					 uint32 page, BufferAccessStrategy strategy, PageRows *rows, char *image,
					 XLogRecPtr *lsn)
{
	Buffer		buffer;
	bool		is_patched = false;

	CHECK_FOR_INTERRUPTS();
	buffer = chunk_read_page(rel, chunk, page, strategy);
	STOP_POINT("patch-before-page");
	compat_prune_page(rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (row_proof_locked_page(rel, snapshot, horizon, chunk, page, buffer, rows) && rows->is_settled)
	{
		if (rows->is_decided)
			note_decided_page(chunk, page, buffer, rows);
		else if (heap_rows_are_new(chunk, page, BufferGetPage(buffer), horizon, rows))
		{
			if (mark_dead_rows(chunk, page, rows))
				pg_atomic_fetch_add_u32(&chunk->decisions, 1);
			memcpy(image, BufferGetPage(buffer), BLCKSZ);
			*lsn = BufferGetLSNAtomic(buffer);
			is_patched = true;
		}
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	return is_patched;
}

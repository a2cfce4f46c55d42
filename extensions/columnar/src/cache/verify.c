/*-------------------------------------------------------------------------
 *
 * verify.c
 *	  penumbra.verify(regclass): proves that what would be served from the
 *	  cache is what the heap holds.
 *
 * A page is compared when it is proven under its own share lock, by its LSN
 * or else by the visibility map; of the others the rows that are proven one by
 * one, as far as the query's snapshot sees them.  Nothing else is served.  Of a
 * page that would be served to that snapshot as a whole, it must see each tuple.
 * Of a page that is served with its rows of the chunk's patch, these are all the
 * others that it sees.
 * Rows are compared in runs of consecutive pages, because some encodings
 * decode in blocks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "cache/column_facts.h"
#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/functions.h"
#include "cache/heap_page.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "cache/disk/disk_cache.h"
#include "cache/row_proof.h"
#include "cache/validate.h"

PENUMBRA_SQL_FUNCTION(penumbra_sql_verify);
PENUMBRA_SQL_FUNCTION(penumbra_sql_damage);
PENUMBRA_SQL_FUNCTION(penumbra_sql_add_new_pages);

#define RUN_PAGES_MAX	64
#define NEW_PAGES_MAX	64

typedef struct ColumnCheck
{
	int64		pages_checked;
	int64		rows_checked;
	int64		mismatches;
	int64		first_bad_block;
	const char *problem;
} ColumnCheck;

typedef struct Verifier
{
	Relation	rel;
	BlockNumber nblocks;
	BufferAccessStrategy strategy;
	ColumnCheck *checks;		/* by place */
	char	   *image;
	VmPage	   *vm_page;
	bool		proves_rows;	/* of the chunk, one by one */
	PageRows	page_rows;		/* the copied page's */
	bool		has_decided_rows;	/* which are proven without them, too */
	bool		is_patched;		/* the copied page is served with rows of the patch */
	CachedChunk *chunk;			/* pinned, with these columns */
	CachedChunk *patch;			/* pinned; NULL: none, or damaged */
	ColumnKey  *pinned;
	int			npinned;
	ColumnKey  *columns;		/* of these, the ones with an undamaged segment */
	int			column_count;
	HeapRowReader *reader;
	PenumbraRows *rows;
	uint32		run_begin;		/* pages [run_begin, run_end) are in rows */
	uint32		run_end;
	MemoryContextCallback callback;
} Verifier;

static void
release_chunk(void *argument)
{
	Verifier   *verifier = argument;

	penumbra_rows_destroy(verifier->rows);
	verifier->rows = NULL;
	if (verifier->chunk != NULL)
		directory_unpin_chunk(verifier->chunk, verifier->pinned, verifier->npinned);
	verifier->chunk = NULL;
	if (verifier->patch != NULL)
		directory_unpin_chunk(verifier->patch, NULL, 0);
	verifier->patch = NULL;
}

static void
note_mismatch(Verifier *verifier, ColumnKey column, uint32 page, const char *problem)
{
	ColumnCheck *check = &verifier->checks[column_key_place(column)];

	if (check->mismatches++ > 0)
		return;
	check->first_bad_block = (int64) verifier->chunk->number * CHUNK_PAGES + page;
	check->problem = problem;
}

/* Compares the rows that were read with each segment, from first_row on. */
static void
compare_rows(Verifier *verifier, uint32 first_row, uint32 pages)
{
	CachedChunk *chunk = verifier->chunk;
	uint32		rows = penumbra_rows_count(verifier->rows);

	for (int i = 0; i < verifier->column_count; i++)
	{
		ColumnKey	column = verifier->columns[i];
		int64		bad_row = -1;

		CHECK_FOR_INTERRUPTS();
		if (rows > 0)
			bad_row = penumbra_segment_compare(chunk_slot(chunk, column)->segment, first_row,
											   verifier->rows, i);
		if (bad_row >= 0)
		{
			uint32		page = 0;

			while (chunk->first_row[page + 1] <= first_row + bad_row)
				page++;
			note_mismatch(verifier, column, page, "a value differs from the table's");
		}
		verifier->checks[column_key_place(column)].pages_checked += pages;
		verifier->checks[column_key_place(column)].rows_checked += rows;
	}
	penumbra_rows_clear(verifier->rows);
}

static void
compare_run(Verifier *verifier)
{
	uint32		pages = 0;		/* that have rows */

	for (uint32 page = verifier->run_begin; page < verifier->run_end; page++)
		pages += chunk_page_has_rows(verifier->chunk, page);
	compare_rows(verifier, verifier->chunk->first_row[verifier->run_begin], pages);
	verifier->run_begin = verifier->run_end;
}

/* Rows that are taken for dead are not seen, and where the page is proven all others are. */
static void
check_dead_rows(Verifier *verifier, uint32 page)
{
	CachedChunk *chunk = verifier->chunk;
	const PageRows *seen = &verifier->page_rows;
	uint32		first = chunk->first_row[page];
	uint32		next = 0;
	uint32		others = verifier->is_patched ?
		verifier->patch->first_row[page + 1] - verifier->patch->first_row[page] : 0;
	bool		is_wrong = verifier->has_decided_rows && seen->heap_count != others;

	for (uint32 row = first; row < chunk->first_row[page + 1]; row++)
	{
		bool		is_seen = next < seen->cached_count && first + seen->cached[next] == row;

		next += is_seen;
		is_wrong |= is_seen ? chunk_row_is_dead(chunk, row) :
			verifier->has_decided_rows && !chunk_row_is_dead(chunk, row);
	}
	for (int i = 0; is_wrong && i < verifier->column_count; i++)
		note_mismatch(verifier, verifier->columns[i], page, "the rows that count differ");
}

/* Compares those rows of the copied page that are proven one by one, which the snapshot sees. */
static void
compare_proven_rows(Verifier *verifier, uint32 page)
{
	const PageRows *proven = &verifier->page_rows;

	check_dead_rows(verifier, page);
	for (uint32 begin = 0, end; begin < proven->cached_count; begin = end)
	{
		for (end = begin + 1; end < proven->cached_count; end++)
		{
			if (proven->cached[end] != proven->cached[end - 1] + 1)
				break;
		}
		heap_row_reader_append_offsets(verifier->reader, verifier->image,
									   proven->cached_offsets + begin, end - begin,
									   verifier->rows);
		compare_rows(verifier, verifier->chunk->first_row[page] + proven->cached[begin],
					 end == proven->cached_count);
	}
}

/* Compares the rows of the copied page that are the patch's. */
static void
compare_patch_rows(Verifier *verifier, uint32 page)
{
	CachedChunk *patch = verifier->patch;
	uint32		count = verifier->page_rows.heap_count;

	if (count != patch->first_row[page + 1] - patch->first_row[page])
		return;					/* was noted */
	heap_row_reader_append_offsets(verifier->reader, verifier->image, verifier->page_rows.heap, count,
								   verifier->rows);
	for (int i = 0; i < verifier->column_count; i++)
	{
		ColumnKey	column = verifier->columns[i];
		const CachedSegment *segment = chunk_slot(patch, column);

		if (segment == NULL || segment->segment == NULL)
			continue;
		if (penumbra_segment_compare(segment->segment, patch->first_row[page],
									 verifier->rows, i) >= 0)
			note_mismatch(verifier, column, page, "a value differs from the table's");
		verifier->checks[column_key_place(column)].rows_checked += count;
	}
	penumbra_rows_clear(verifier->rows);
}

/* Whether the page, proven and share-locked, may have other tuples than at load, that nobody sees. */
static bool
page_has_changed(CachedChunk *chunk, uint32 page, Page content)
{
	uint32		rows = chunk->first_row[page + 1] - chunk->first_row[page];

	/* what proved the page comes before them */
	pg_read_barrier();
	for (uint32 row = chunk->first_row[page]; row < chunk->first_row[page + 1]; row++)
	{
		if (chunk_row_is_dead(chunk, row))
			return true;
	}
	for (OffsetNumber offset = FirstOffsetNumber; offset <= PageGetMaxOffsetNumber(content); offset++)
		rows -= ItemIdIsNormal(PageGetItemId(content, offset));
	return rows != 0;
}

/* What of a page's cached rows is proven. */
typedef enum PageProof
{
	PAGE_UNPROVEN,
	PAGE_PROVEN,
	PAGE_PROVEN_BY_ROW,			/* those in page_rows */
} PageProof;

/* Whether the query's snapshot sees each tuple of a share-locked page. */
static bool
page_is_visible(Verifier *verifier, BlockNumber block, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	Snapshot	snapshot = GetActiveSnapshot();

	for (OffsetNumber offset = FirstOffsetNumber; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData tuple;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_tableOid = RelationGetRelid(verifier->rel);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offset);
		if (!heap_tuple_is_plainly_visible(tuple.t_data, snapshot) &&
			!HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer))
			return false;
	}
	return true;
}

/* Whether the chunk, or patch, proves a page at this moment, which is share-locked and not proven by its LSN. */
static bool
map_proves(Verifier *verifier, CachedChunk *chunk, uint32 page)
{
	uint64		visible[CHUNK_WORDS];

	vm_page_read(verifier->rel, chunk->number * CHUNK_PAGES + page, verifier->vm_page);
	vm_page_get_chunk(verifier->vm_page, chunk->number, visible);
	return verifier->vm_page->lsn != InvalidXLogRecPtr &&
		verifier->vm_page->lsn == pg_atomic_read_u64(&chunk->vm_stamp) &&
		(visible[page / 64] & (UINT64CONST(1) << (page % 64))) != 0;
}

static bool
patch_proves(Verifier *verifier, uint32 page, XLogRecPtr lsn)
{
	CachedChunk *patch = verifier->patch;

	return patch != NULL && chunk_page_is_live(patch, page) &&
		(lsn == pg_atomic_read_u64(&patch->page_lsn[page]) || map_proves(verifier, patch, page));
}

/* Copies the page if cached rows of it are proven at this moment. */
static PageProof
copy_proven_page(Verifier *verifier, uint32 page)
{
	CachedChunk *chunk = verifier->chunk;
	BlockNumber block = chunk->number * CHUNK_PAGES + page;
	Buffer		buffer = ReadBufferExtended(verifier->rel, MAIN_FORKNUM, block, RBM_NORMAL,
											verifier->strategy);
	XLogRecPtr	lsn;
	bool		is_live = chunk_page_is_live(chunk, page);
	bool		proven;
	bool		is_served;		/* proven, to the query's snapshot as a whole */
	PageProof	result;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	lsn = BufferGetLSNAtomic(buffer);
	proven = is_live && chunk_page_is_unchanged(chunk, page, buffer);
	is_served = proven && chunk_page_is_seen(chunk, page, GetActiveSnapshot());
	if (is_live && !proven)
		proven = is_served = map_proves(verifier, chunk, page);
	verifier->is_patched = !proven && patch_proves(verifier, page, lsn);
	result = proven ? PAGE_PROVEN : PAGE_UNPROVEN;
	if ((proven ? page_has_changed(chunk, page, BufferGetPage(buffer)) :
		 verifier->is_patched || verifier->proves_rows) &&
		row_proof_locked_page(verifier->rel, GetActiveSnapshot(), InvalidTransactionId, chunk, page,
							  buffer, &verifier->page_rows))
		result = PAGE_PROVEN_BY_ROW;
	if (result == PAGE_PROVEN && is_served && !page_is_visible(verifier, block, buffer))
	{
		for (int i = 0; i < verifier->column_count; i++)
			note_mismatch(verifier, verifier->columns[i], page, "a row is served that the snapshot does not see");
	}
	verifier->has_decided_rows = proven || verifier->is_patched;
	if (result != PAGE_UNPROVEN)
		memcpy(verifier->image, BufferGetPage(buffer), BLCKSZ);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	return result;
}

/*
 * Proven pages are compared by runs, since the engine compares rows with a
 * segment by range; a page that is not proven ends the run.  The page is copied
 * while its proof holds, under its lock, and compared without it.
 */
static void
verify_pages(Verifier *verifier)
{
	CachedChunk *chunk = verifier->chunk;
	uint32		limit = Min(chunk->pages, verifier->nblocks - chunk->number * CHUNK_PAGES);

	verifier->proves_rows = row_proof_holds(verifier->rel, chunk, ReadNextFullTransactionId()) &&
		row_proof_is_allowed(verifier->rel, GetActiveSnapshot());
	verifier->run_begin = verifier->run_end = 0;
	for (uint32 page = 0; page < limit; page++)
	{
		OffsetNumber offsets[MaxHeapTuplesPerPage];
		uint32		rows;
		PageProof	proof = PAGE_UNPROVEN;

		CHECK_FOR_INTERRUPTS();
		if (chunk_page_is_live(chunk, page) || chunk_page_has_rows(chunk, page))
			proof = copy_proven_page(verifier, page);
		if (proof != PAGE_PROVEN)
		{
			compare_run(verifier);
			if (proof == PAGE_PROVEN_BY_ROW)
				compare_proven_rows(verifier, page);
			if (proof == PAGE_PROVEN_BY_ROW && verifier->is_patched)
				compare_patch_rows(verifier, page);
			verifier->run_begin = verifier->run_end = page + 1;
			continue;
		}
		rows = heap_page_offsets(verifier->image, offsets);
		/* all columns at once may be wider than what a load takes */
		heap_row_reader_append_offsets(verifier->reader, verifier->image, offsets, rows, verifier->rows);
		verifier->run_end = page + 1;
		if (rows != chunk->first_row[page + 1] - chunk->first_row[page])
		{
			for (int i = 0; i < verifier->column_count; i++)
				note_mismatch(verifier, verifier->columns[i], page, "the number of rows differs");
			penumbra_rows_clear(verifier->rows);
			verifier->run_begin = page + 1;
		}
		else if (verifier->run_end - verifier->run_begin >= RUN_PAGES_MAX)
			compare_run(verifier);
	}
	compare_run(verifier);
}

/* Checks what can be checked without the heap; keeps the columns that can be read. */
static void
verify_structure(Verifier *verifier)
{
	CachedChunk *chunk = verifier->chunk;
	bool		map_is_sound = chunk->first_row[0] == 0 && chunk->first_row[CHUNK_PAGES] == chunk->rows;

	for (uint32 page = 0; page < CHUNK_PAGES; page++)
		map_is_sound &= chunk->first_row[page] <= chunk->first_row[page + 1];
	verifier->column_count = 0;
	for (int i = 0; i < verifier->npinned; i++)
	{
		CachedSegment *segment = chunk_slot(chunk, verifier->pinned[i]);
		PenumbraStatus status;
		PenumbraZoneMap zone_map = {0};

		if (!disk_cache_check_copy(chunk, verifier->pinned[i]))
			note_mismatch(verifier, verifier->pinned[i], 0, "the copy on disk is damaged");
		/* gone with its copy, or no memory */
		if (!disk_cache_fetch(chunk, verifier->pinned[i]))
			continue;
		status = penumbra_segment_check(segment->segment, segment->bytes);
		if (status.code == PENUMBRA_OK)
			penumbra_segment_get_zone_map(segment->segment, &zone_map);
		if (!map_is_sound)
			note_mismatch(verifier, verifier->pinned[i], 0, "the chunk's row map is damaged");
		else if (status.code != PENUMBRA_OK)
			note_mismatch(verifier, verifier->pinned[i], 0, "the segment is damaged");
		else if (zone_map.rows != chunk->rows)
			note_mismatch(verifier, verifier->pinned[i], 0, "the segment's number of rows is wrong");
		else if (memcmp(&zone_map, &segment->zone_map, sizeof(zone_map)) != 0)
			note_mismatch(verifier, verifier->pinned[i], 0, "the chunk's zone map of the column is wrong");
		else
			verifier->columns[verifier->column_count++] = verifier->pinned[i];
	}
}

/* Pins the chunk's patch, if it has one that can be read. */
static void
pin_patch(Verifier *verifier)
{
	CachedChunk *patch;
	bool		is_sound;

	directory_pin_patches(&verifier->chunk, 1, &verifier->patch);
	patch = verifier->patch;
	if (patch == NULL)
		return;
	is_sound = patch->first_row[CHUNK_PAGES] == patch->rows;
	for (uint32 i = 0; is_sound && i < patch->column_count; i++)
	{
		CachedSegment *segment = &patch->columns[i];
		PenumbraSegmentInfo info = {0};

		if (segment->segment == NULL)
			continue;
		is_sound = penumbra_segment_check(segment->segment, segment->bytes).code == PENUMBRA_OK;
		if (is_sound)
			penumbra_segment_describe(segment->segment, &info);
		is_sound &= info.rows == patch->rows;
	}
	if (is_sound)
		return;
	for (int i = 0; i < verifier->npinned; i++)
		note_mismatch(verifier, verifier->pinned[i], 0, "the patch is damaged");
	verifier->patch = NULL;
	directory_unpin_chunk(patch, NULL, 0);
}

/*
 * The pins keep the segments from eviction while they are compared with the heap.
 * After an error the context's callback runs release_chunk().
 */
static void
verify_chunk(Verifier *verifier, uint32 number)
{
	TupleDesc	desc = RelationGetDescr(verifier->rel);

	verifier->chunk = directory_pin_chunk(verifier->rel, number, verifier->pinned,
										  &verifier->npinned);
	if (verifier->chunk != NULL)
	{
		pin_patch(verifier);
		verify_structure(verifier);
	}
	if (verifier->chunk != NULL && verifier->column_count > 0)
	{
		PenumbraType *types = palloc(sizeof(PenumbraType) * verifier->column_count);

		for (int i = 0; i < verifier->column_count; i++)
			(void) cache_type_of_column(verifier->columns[i], desc, &types[i]);
		verifier->rows = penumbra_rows_create(types, verifier->column_count);
		if (verifier->rows == NULL)
			ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
		verifier->reader = heap_row_reader_create(verifier->rel, verifier->columns,
												  verifier->column_count);
		verify_pages(verifier);
		heap_row_reader_destroy(verifier->reader);
		pfree(types);
	}
	release_chunk(verifier);
}

static void
put_checks(ReturnSetInfo *result, Verifier *verifier)
{
	int			places = column_key_places(RelationGetDescr(verifier->rel));

	for (int i = 0; i < places; i++)
	{
		int			place = (COLUMN_KEY_EXPRESSIONS + i) % places;	/* attributes first */
		ColumnCheck *check = &verifier->checks[place];
		NameData	name;
		Datum		values[6];
		bool		nulls[lengthof(values)] = {0};

		if ((check->pages_checked == 0 && check->mismatches == 0) ||
			!column_key_name(column_key_of_place(place), verifier->rel, &name))
			continue;
		values[0] = NameGetDatum(&name);
		values[1] = Int64GetDatum(check->pages_checked);
		values[2] = Int64GetDatum(check->rows_checked);
		values[3] = Int64GetDatum(check->mismatches);
		values[4] = Int64GetDatum(check->first_bad_block);
		nulls[4] = nulls[5] = check->mismatches == 0;
		if (!nulls[5])
			values[5] = CStringGetTextDatum(check->problem);
		put_row(result, values, nulls);
	}
}

Datum
penumbra_sql_verify(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = functions_open_relation(PG_GETARG_OID(0));
	int			places = Max(column_key_places(RelationGetDescr(rel)), 1);
	Verifier   *verifier = palloc0(sizeof(Verifier));

	InitMaterializedSRF(fcinfo, 0);
	verifier->rel = rel;
	verifier->checks = palloc0(sizeof(ColumnCheck) * places);
	verifier->pinned = palloc(sizeof(ColumnKey) * places);
	verifier->columns = palloc(sizeof(ColumnKey) * places);
	verifier->image = palloc(BLCKSZ);
	verifier->vm_page = palloc(sizeof(VmPage));
	verifier->strategy = GetAccessStrategy(BAS_BULKREAD);
	verifier->callback.func = release_chunk;
	verifier->callback.arg = verifier;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &verifier->callback);
	if (cache_refusal_of_relation(rel) == NULL)
	{
		verifier->nblocks = RelationGetNumberOfBlocks(rel);
		for (uint32 chunk = 0; (uint64) chunk * CHUNK_PAGES < verifier->nblocks; chunk++)
			verify_chunk(verifier, chunk);
	}
	put_checks(result, verifier);
	relation_close(rel, NoLock);
	return (Datum) 0;
}

/* Inverts one byte of a cached segment, so that tests can see verify() find it. */
Datum
penumbra_sql_damage(PG_FUNCTION_ARGS)
{
	Relation	rel = functions_open_relation(PG_GETARG_OID(0));
	ColumnKey	column = column_key_now(column_key_of_number(PG_GETARG_INT16(1)), RelationGetDescr(rel));
	int32		offset = PG_GETARG_INT32(2);
	ColumnKey  *columns = palloc(sizeof(ColumnKey) * Max(column_key_places(RelationGetDescr(rel)), 1));
	int			ncolumns;
	CachedChunk *chunk;
	bool		damaged = false;

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to damage cached columns")));
	chunk = directory_pin_chunk(rel, 0, columns, &ncolumns);
	for (int i = 0; chunk != NULL && i < ncolumns; i++)
	{
		CachedSegment *segment = chunk_slot(chunk, columns[i]);

		if (!column_keys_are_equal(columns[i], column) || offset < 0 || offset >= (int64) segment->bytes ||
			!disk_cache_fetch(chunk, column))
			continue;
		((uint8 *) segment->segment)[offset] ^= 0xFF;
		damaged = true;
	}
	if (chunk != NULL)
		directory_unpin_chunk(chunk, columns, ncolumns);
	relation_close(rel, NoLock);
	PG_RETURN_BOOL(damaged);
}

/* As an extension in bulk, or one that a crash ended, leaves pages; so that tests have them in every version. */
Datum
penumbra_sql_add_new_pages(PG_FUNCTION_ARGS)
{
	Relation	rel = functions_open_relation(PG_GETARG_OID(0));
	int32		pages = PG_GETARG_INT32(1);

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to add new pages to a table")));
	if (cache_refusal_of_relation(rel) != NULL || pages < 0 || pages > NEW_PAGES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("at most %d new pages can be added, and to a table that can be cached", NEW_PAGES_MAX)));
	LockRelationForExtension(rel, ExclusiveLock);
	for (int32 i = 0; i < pages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ReleaseBuffer(ReadBuffer(rel, P_NEW));
	}
	UnlockRelationForExtension(rel, ExclusiveLock);
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}

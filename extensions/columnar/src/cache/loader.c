/*-------------------------------------------------------------------------
 *
 * loader.c
 *	  Loads and refreshes chunks.
 *
 * Everything a load holds (engine rows, encoded segments, region memory, pins,
 * its progress slot) hangs on a memory context callback: an error, a cancel
 * or a terminated backend frees it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/procarray.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "cache/cached_expression.h"
#include "cache/column_facts.h"
#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/disk/disk_cache.h"
#include "cache/loader.h"
#include "cache/loader_internal.h"
#include "cache/policy/database.h"
#include "cache/policy/table_options.h"
#include "cache/region.h"
#include "cache/row_proof.h"
#include "cache/slow_expression.h"
#include "cache/status.h"
#include "cache/stop_points.h"

/*
 * A patient load builds a chunk anew that is written to when scans have read so
 * many heap pages in its place per page that it has, which takes as long (a
 * page: 20 to 40 us to load, 5 to 10 to read).  So building never costs more
 * than what it saves did.  Seldom read ones wait for that time.
 */
#define RELOAD_LOST_PAGES		4

/*
 * It tries a patch when scans have lost a sixth as many heap pages as that would
 * look at: what one scan of these pages loses, and 40 % of the time that it takes
 * (4 us each).  After an attempt in vain it waits until as much time is lost.  A
 * look takes as long as the rows of so many pages that are kept.
 */
#define PATCH_LOST_SHARE		6
#define PATCH_LOST_SHARE_VAIN	2
#define KEPT_PAGES_PER_LOOK		16

/* Where more than half of a chunk's rows are dead, it takes too much memory and time. */
#define DEAD_ROWS_SHARE			2

#define PATIENCE_MS				10000

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

void
loader_unpin_patch(Loader *loader)
{
	CachedChunk *patch = loader->patch;

	loader->patch = NULL;
	if (patch != NULL)
		directory_unpin_chunk(patch, NULL, 0);
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
	loader_unpin_patch(loader);
	if (loader->progress != NULL)
		progress_end();
	loader->progress = NULL;
}

/* ---------------------------------------------------------------- columns - */

static bool
chunk_has_column(const Loader *loader, const CachedChunk *chunk, ColumnKey column)
{
	const CachedSegment *segment = chunk == NULL ? NULL : chunk_slot(chunk, column);

	return segment != NULL && directory_segment_matches(segment, RelationGetDescr(loader->rel));
}

static bool
column_is_wanted(const Loader *loader, ColumnKey column)
{
	for (int i = 0; i < loader->options->ncolumns; i++)
	{
		if (column_keys_are_equal(loader->options->columns[i], column))
			return true;
	}
	return false;
}

static bool
lacks_columns(const Loader *loader, const CachedChunk *chunk)
{
	for (int i = 0; i < loader->options->ncolumns; i++)
	{
		if (!chunk_has_column(loader, chunk, loader->options->columns[i]))
			return true;
	}
	return false;
}

/* The wanted columns, with or without those the chunk has, ascending. */
static int
choose_columns(const Loader *loader, const CachedChunk *chunk, bool with_cached, ColumnKey *columns)
{
	int			places = column_key_places(RelationGetDescr(loader->rel));
	ColumnKey  *keys = column_keys_now(RelationGetDescr(loader->rel));
	int			count = 0;

	for (int place = 0; place < places; place++)
	{
		ColumnKey	column = keys[place];
		bool		cached = chunk_has_column(loader, chunk, column);

		if (cached ? with_cached : column_is_wanted(loader, column))
			columns[count++] = column;
	}
	pfree(keys);
	return count;
}

static bool
columns_are_equal(const ColumnKey *a, int a_count, const ColumnKey *b, int b_count)
{
	if (a_count != b_count)
		return false;
	for (int i = 0; i < a_count; i++)
	{
		if (!column_keys_are_equal(a[i], b[i]))
			return false;
	}
	return true;
}

/* Prepares reading these columns, unless the last chunk had the same. */
static void
set_columns(Loader *loader, const ColumnKey *columns, int ncolumns)
{
	PenumbraType *types;
	TupleDesc	desc = RelationGetDescr(loader->rel);

	if (loader->reader != NULL && columns_are_equal(loader->columns, loader->ncolumns, columns, ncolumns))
	{
		penumbra_rows_clear(loader->rows);
		return;
	}
	if (loader->reader != NULL)
		heap_row_reader_destroy(loader->reader);
	loader->reader = NULL;
	penumbra_rows_destroy(loader->rows);
	loader->rows = NULL;
	memcpy(loader->columns, columns, sizeof(ColumnKey) * ncolumns);
	loader->ncolumns = ncolumns;
	types = palloc(sizeof(PenumbraType) * Max(ncolumns, 1));
	for (int i = 0; i < ncolumns; i++)
	{
		if (!cache_type_of_column(columns[i], desc, &types[i]))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("column %d of relation \"%s\" cannot be cached", column_key_number(columns[i]),
							RelationGetRelationName(loader->rel))));
		if (column_key_is_expression(columns[i]))
			cached_expression_note_load(columns[i]);
	}
	loader->rows = penumbra_rows_create(types, ncolumns);
	pfree(types);
	if (loader->rows == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	loader->reader = heap_row_reader_create(loader->rel, columns, ncolumns);
}

int
loader_set_columns(Loader *loader, const CachedChunk *chunk, bool with_cached)
{
	ColumnKey  *columns = palloc(sizeof(ColumnKey) * Max(column_key_places(RelationGetDescr(loader->rel)), 1));
	int			ncolumns = choose_columns(loader, chunk, with_cached, columns);

	set_columns(loader, columns, ncolumns);
	pfree(columns);
	return ncolumns;
}

/* ---------------------------------------------------------------- segments  */

/* Memory for a part of the current chunk; NULL: there is none, which is noted. */
static void *
allocate(Loader *loader, Size bytes)
{
	void	   *page = directory_allocate(bytes, loader->protected_serial, loader->wishes);

	if (page != NULL)
		return page;
	loader->shortage.columns = loader->wanted_hash;
	loader->shortage.bytes = bytes;
	loader->shortage.chunk_bytes = region_cost_bytes(bytes);
	for (int i = 0; i < loader->segment_count; i++)
		loader->shortage.chunk_bytes += region_cost_bytes(loader->segments[i].bytes);
	return NULL;
}

/* A new segment is checked before it is published: scans trust published segments without a check of their own. */
void
loader_encode_column(Loader *loader, int column, CachedSegment *segment)
{
	size_t		bytes;
	PenumbraStatus status;

	free(loader->encoded);
	loader->encoded = NULL;
	status = penumbra_segment_encode(loader->rows, column, &loader->encoded, &bytes);
	if (status.code == PENUMBRA_OK)
		status = penumbra_segment_check(loader->encoded, bytes);
	if (status.code != PENUMBRA_OK)
		status_report(&status);
	memset(segment, 0, sizeof(*segment));
	segment->bytes = bytes;
	penumbra_segment_get_zone_map(loader->encoded, &segment->zone_map);
	segment->column = loader->columns[column];
	segment->facts = column_key_facts(segment->column, RelationGetDescr(loader->rel));
}

/* Encodes a column of rows into the region; false when it is full. */
static bool
store_segment(Loader *loader, int column)
{
	CachedSegment *segment = &loader->segments[loader->segment_count];

	loader_encode_column(loader, column, segment);
	segment->segment = allocate(loader, segment->bytes);
	if (segment->segment == NULL)
		return false;
	memcpy(segment->segment, loader->encoded, segment->bytes);
	segment->serial = directory_next_serial();
	loader->segment_count++;
	loader->progress->cached_bytes += segment->bytes;
	return true;
}

static bool
store_segments(Loader *loader)
{
	for (int i = 0; i < loader->ncolumns; i++)
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
		CachedSegment *segment = chunk_slot(chunk, loader->segments[i].column);

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

/* The draft is private memory, so its atomics need no ordering until it is copied and published. */
void
loader_clear_draft(Loader *loader, uint32 number)
{
	CachedChunk *draft = loader->draft;

	memset(draft, 0, loader->draft_bytes);
	memset(loader->inserters, 0, CHUNK_PAGES * sizeof(PageInserters));
	draft->key = loader->key;
	draft->number = number;
	draft->column_count = column_key_places(RelationGetDescr(loader->rel));
	draft->loaded_at = GetCurrentTimestamp();
	pg_atomic_init_u32(&draft->references, 1);
	pg_atomic_init_u32(&draft->changed_pages, 0);
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

/* ---------------------------------------------------------------- chunks -- */

typedef enum ChunkNeed
{
	CHUNK_FINE,
	CHUNK_NEEDS_COLUMNS,
	CHUNK_NEEDS_REBUILD,
} ChunkNeed;

/* Pages that the load left for their size and that have not changed: another one would leave them, too. */
static uint32
count_left_again(const Loader *loader, CachedChunk *chunk, uint32 limit, uint64 *left)
{
	uint32		count = 0;

	memset(left, 0, CHUNK_WORDS * sizeof(uint64));
	for (uint32 page = 0; page < Min(limit, chunk->pages); page++)
	{
		Buffer		buffer;

		if (chunk_page_has_rows(chunk, page) || chunk_page_is_live(chunk, page) ||
			pg_atomic_read_u64(&chunk->page_lsn[page]) == InvalidXLogRecPtr)
			continue;
		CHECK_FOR_INTERRUPTS();
		buffer = chunk_read_page(loader->rel, chunk, page, loader->strategy);
		if (BufferGetLSNAtomic(buffer) == pg_atomic_read_u64(&chunk->page_lsn[page]))
		{
			left[page / 64] |= UINT64CONST(1) << (page % 64);
			count++;
		}
		ReleaseBuffer(buffer);
	}
	return count;
}

/* Pages that the chunk does not serve although the visibility map has them, but for those in `left` (or NULL). */
static uint32
count_visible_unserved(const Loader *loader, const CachedChunk *chunk, const ChunkProof *proof,
					   uint32 limit, const uint64 *left)
{
	uint64		visible[CHUNK_WORDS];
	uint32		count = 0;

	vm_page_get_chunk(loader->vm_page, chunk->number, visible);
	for (uint32 page = 0; page < limit; page++)
	{
		uint64		bit = UINT64CONST(1) << (page % 64);

		if ((visible[page / 64] & bit) && !(proof->proven[page / 64] & bit) &&
			!(left != NULL && (left[page / 64] & bit)))
			count++;
	}
	return count;
}

/* Whether rows of pages that were written are proven one by one. */
static bool
proves_rows(const Loader *loader, const CachedChunk *chunk)
{
	return row_proof_is_allowed(loader->rel, GetActiveSnapshot()) &&
		row_proof_holds(loader->rel, chunk, ReadNextFullTransactionId());
}

/*
 * Pages that a load might serve and the chunk does not.  A worker takes those
 * whose rows are proven for what they cost: of a chunk that is written all the
 * time a load would leave out more than it finds.  While somebody is as old as the
 * chunk, it would leave out all of them: their rows are neither deleted nor alive
 * for all.  In recovery it would leave out those that the map does not have.
 */
static uint32
count_unserved(const Loader *loader, const CachedChunk *chunk, const ChunkProof *proof, uint32 limit)
{
	uint32		unserved = limit - Min(limit, proof->proven_pages);
	uint32		by_row;

	if (!loader->options->patient)
		return unserved;
	if (RecoveryInProgress())
		return count_visible_unserved(loader, chunk, proof, limit, NULL);
	if (TransactionIdIsValid(chunk->next_xid) &&
		TransactionIdPrecedesOrEquals(GetOldestNonRemovableTransactionId(loader->rel), chunk->next_xid))
		return unserved - Min(unserved, proof->written_pages + chunk->unsettled_pages);
	by_row = proves_rows(loader, chunk) ? proof->written_pages : 0;
	return unserved - Min(unserved, by_row - cost_of_rows(by_row));
}

/* Validates the chunk with its patch. */
static void
prove_chunk(Loader *loader, CachedChunk *chunk, ChunkProof *proof)
{
	vm_page_read(loader->rel, chunk->number * CHUNK_PAGES, loader->vm_page);
	directory_pin_patches(&chunk, 1, &loader->patch);
	chunk_prove_with_patch(loader->rel, chunk, loader->patch, loader->nblocks, loader->vm_page, loader->strategy,
						   NULL, proof);
	loader_unpin_patch(loader);
}

static bool
can_patch(const Loader *loader, const CachedChunk *chunk, const ChunkProof *proof)
{
	return loader->options->patches && proof->written_pages > 0 && !RecoveryInProgress() &&
		proves_rows(loader, chunk);
}

/* What scans have lost is not to be mended, or was. */
static void
forget_losses(CachedChunk *chunk)
{
	pg_atomic_write_u32(&chunk->lost_pages, 0);
	pg_atomic_write_u64(&chunk->stale_since, 0);
	chunk->patch_mark = 0;
}

/* Whether scans have lost enough since the last attempt. */
static bool
patch_is_due(const Loader *loader, CachedChunk *chunk, const ChunkProof *proof)
{
	uint64		lost = pg_atomic_read_u32(&chunk->lost_pages) - chunk->patch_mark;

	return !loader->options->patient ||
		lost * (chunk->patch_was_vain ? PATCH_LOST_SHARE_VAIN : PATCH_LOST_SHARE) >=
		proof->written_pages + proof->patched_pages / KEPT_PAGES_PER_LOOK;
}

/* Tries to, and proves the chunk again; true if the patch serves pages that were not served. */
static bool
try_patch(Loader *loader, CachedChunk *chunk, ChunkProof *proof)
{
	uint32		written_pages = proof->written_pages;
	bool		is_patched = loader_patch_chunk(loader, chunk, proof);

	/* also where there is none: rows may be decided without */
	prove_chunk(loader, chunk, proof);
	if (proof->written_pages == 0)
		forget_losses(chunk);
	chunk->patch_mark = pg_atomic_read_u32(&chunk->lost_pages);
	chunk->patch_was_vain = proof->written_pages >= written_pages;
	return is_patched && proof->written_pages < written_pages;
}

/* Whether the chunk serves too little, which is to be mended. */
static bool
is_stale(const Loader *loader, CachedChunk *chunk, const ChunkProof *proof, bool is_patched)
{
	uint32		limit = Min(CHUNK_PAGES, loader->nblocks - chunk->number * CHUNK_PAGES);
	uint32		tolerated = (uint32) (loader->options->stale_share * limit);
	uint32		unserved = count_unserved(loader, chunk, proof, limit);
	uint64		left[CHUNK_WORDS];

	/* what is not decided yet is proven by row, and a new chunk would leave it to the heap */
	if (is_patched && !loader->options->patient)
		unserved -= Min(unserved, proof->written_pages);
	if (unserved <= tolerated)
		return false;
	if (!loader->options->patient)
		return true;
	unserved -= Min(unserved, count_left_again(loader, chunk, limit, left));
	if (unserved == 0)
		forget_losses(chunk);
	if (unserved <= tolerated)
		return false;
	return count_visible_unserved(loader, chunk, proof, limit, left) > tolerated ||
		pg_atomic_read_u32(&chunk->lost_pages) / RELOAD_LOST_PAGES >= limit ||
		TimestampDifferenceExceeds(chunk->loaded_at, GetCurrentTimestamp(), PATIENCE_MS);
}

static bool
is_mostly_dead(CachedChunk *chunk)
{
	uint64		dead = 0;

	if (pg_atomic_read_u32(&chunk->decisions) == 0)
		return false;
	for (uint32 word = 0; word < CHUNK_DEAD_ROWS_WORDS(chunk); word++)
		dead += pg_popcount64(pg_atomic_read_u64(&CHUNK_DEAD_ROWS(chunk)[word]));
	return dead * DEAD_ROWS_SHARE > chunk->rows;
}

/*
 * Validates the chunk, gives it a patch where that pays, and says what is missing
 * then.  A look at each page costs a tenth of a new chunk, and decides rows that
 * have died; so nothing is built anew before.
 */
static ChunkNeed
examine_chunk(Loader *loader, CachedChunk *chunk, bool *is_patched)
{
	bool		lacks = lacks_columns(loader, chunk);
	ChunkProof	proof;

	prove_chunk(loader, chunk, &proof);
	*is_patched = !lacks && can_patch(loader, chunk, &proof) &&
		(patch_is_due(loader, chunk, &proof) || is_stale(loader, chunk, &proof, false)) &&
		try_patch(loader, chunk, &proof);
	/* the rows of the others can be proven where the chunk was not loaded in recovery */
	chunk_note_proof(chunk, &proof, chunk->oldest_running != 0 ? proof.written_pages : 0);
	if (is_stale(loader, chunk, &proof, *is_patched) || is_mostly_dead(chunk))
		return CHUNK_NEEDS_REBUILD;
	if (!lacks)
		return CHUNK_FINE;
	return proof.written_pages == 0 ? CHUNK_NEEDS_COLUMNS : CHUNK_NEEDS_REBUILD;
}

/* Adds the missing columns to loader->pinned; false when the chunk must be rebuilt. */
static bool
add_columns(Loader *loader, bool *is_full)
{
	CachedChunk *chunk = loader->pinned;
	bool		done = false;

	*is_full = false;
	(void) loader_set_columns(loader, chunk, false);
	if (loader_read_pages_again(loader, chunk))
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
	int			ncolumns = loader_set_columns(loader, loader->pinned, true);

	/* the old version's memory can be evicted, or is freed when the new one replaces it */
	unpin_current(loader);
	if (ncolumns == 0)
		return true;
	loader_clear_draft(loader, number);
	loader_read_pages(loader, number);
	STOP_POINT("load-before-publish");
	return store_segments(loader) && publish_draft(loader);
}

/* Brings one chunk up to date. */
static bool
load_chunk(Loader *loader, uint32 number, bool *loaded)
{
	ChunkNeed	need = CHUNK_NEEDS_REBUILD;
	bool		is_full = false;
	bool		is_patched = false;
	bool		is_first;

	slow_expression_reset();
	loader->left = (LeftPages) {0};
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

/* The context's callback releases what an error must not leak: pins, encoded bytes and the progress slot. */
static Loader *
create_loader(Relation rel, const LoadOptions *options)
{
	Loader	   *loader = palloc0(sizeof(Loader));
	int			places = column_key_places(RelationGetDescr(rel));

	loader->rel = rel;
	loader->options = options;
	loader->wanted_hash = column_keys_hash(options->columns, options->ncolumns);
	if (options->shortage.columns == loader->wanted_hash)
		loader->shortage = options->shortage;
	directory_key_of(rel, &loader->key);
	loader->strategy = GetAccessStrategy(BAS_BULKREAD);
	loader->protected_serial = options->protected_serial != 0 ?
		options->protected_serial : directory_next_serial();
	loader_begin_pages(loader);
	loader->image = palloc(BLCKSZ);
	loader->inserters = palloc(CHUNK_PAGES * sizeof(PageInserters));
	loader->vm_page = palloc(sizeof(VmPage));
	loader->columns = palloc(sizeof(ColumnKey) * places);
	loader->segments = palloc(sizeof(CachedSegment) * places);
	loader->draft_bytes = MAXALIGN(CHUNK_BYTES(places) + CHUNK_OFFSET_BYTES_MAX);
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

		/* the worker takes up changed settings between its transactions */
		if (loader->options->chunk_limit > 0 &&
			((loader->options->by_worker && ConfigReloadPending) ||
			 result->chunks_loaded >= loader->options->chunk_limit))
		{
			result->outcome = LOAD_MORE;
			break;
		}
		/* what is on disk, too, need not stay, be it of this load */
		if (!load_chunk(loader, number, &loaded) &&
			!(disk_cache_await_saved() && load_chunk(loader, number, &loaded)))
		{
			result->outcome = LOAD_FULL;
			result->shortage = loader->shortage;
			break;
		}
		database_check_in_recovery();
		result->chunks_loaded += loaded;
		result->left.wide += loader->left.wide;
		result->left.unlogged += loader->left.unlogged;
		result->left.unsettled += loader->left.unsettled;
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
		/* after the loads before this one, which know no page that is not there now */
		loader->nblocks = RelationGetNumberOfBlocks(rel);
		result->chunks_total = loader->nblocks / CHUNK_PAGES + (loader->nblocks % CHUNK_PAGES != 0);
		loader->progress->columns = options->ncolumns;
		loader->progress->chunks_total = result->chunks_total;
		loader->progress->chunks_done = loader->progress->first_chunk = options->first_chunk;
		load_chunks(loader, result);
		result->heap_bytes = loader->progress->heap_bytes;
		result->cached_bytes = loader->progress->cached_bytes;
		directory_note_load(&loader->key, result->outcome == LOAD_FULL);
		table_options_apply(RelationGetRelid(rel));
		/* Generic plans were made without; a standby cannot log the message. */
		if (loader->serves_more && !RecoveryInProgress())
			CacheInvalidateRelcache(rel);
	}
	loader_end_pages(loader);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	disk_cache_wake();
}

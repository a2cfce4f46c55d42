/*-------------------------------------------------------------------------
 *
 * loader_patch.c
 *	  Makes patches: the new rows of a chunk's written pages that every snapshot
 *	  sees, as a small chunk beside it (rules W9 to W15 in README.md).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "cache/directory.h"
#include "cache/loader_internal.h"
#include "cache/row_proof.h"
#include "cache/status.h"
#include "cache/stop_points.h"

/* A patch has at most this part of its chunk's rows, or so many, and bytes. */
#define PATCH_ROWS_SHARE		16
#define PATCH_ROWS_MIN			128
#define PATCH_BYTES_MAX			((Size) 16 * 1024 * 1024)

/* What the engine wants of segments. */
#define SEGMENT_ALIGNMENT		64

/* What is taken of the patch before: of all columns, or of none. */
typedef struct KeptRows
{
	const CachedChunk *patch;	/* pinned; NULL: nothing is taken */
	const void **segments;		/* by the loader's columns */
	uint32		begin;			/* [begin, end) of its rows are taken, and not in the loader's rows yet */
	uint32		end;
} KeptRows;

static void
begin_kept_rows(Loader *loader, const CachedChunk *patch, KeptRows *kept)
{
	memset(kept, 0, sizeof(*kept));
	kept->segments = palloc(sizeof(void *) * Max(loader->ncolumns, 1));
	if (patch != NULL &&
		patch_find_segments(patch, RelationGetDescr(loader->rel), loader->columns, loader->ncolumns, kept->segments))
		kept->patch = patch;
}

static void
append_kept_rows(Loader *loader, KeptRows *kept)
{
	PenumbraStatus status;

	if (kept->begin == kept->end)
		return;
	status = penumbra_rows_append_segments(loader->rows, kept->segments, kept->begin, kept->end);
	if (status.code != PENUMBRA_OK)
		status_report(&status);
	kept->begin = kept->end;
}

/*
 * Rule W15: what the patch before says of a page that it proves, rows at an LSN,
 * is true whatever happens to the page.
 */
static void
keep_page(Loader *loader, KeptRows *kept, uint32 page)
{
	const CachedChunk *patch = kept->patch;
	CachedChunk *draft = loader->draft;
	uint32		bytes = patch->offset_bytes[page + 1] - patch->offset_bytes[page];

	if (kept->end != patch->first_row[page])
	{
		append_kept_rows(loader, kept);
		kept->begin = patch->first_row[page];
	}
	kept->end = patch->first_row[page + 1];
	memcpy(loader_offset_bits(draft, page), CHUNK_OFFSET_BITS(patch) + patch->offset_bytes[page], bytes);
	draft->offset_bytes[page + 1] += bytes;
	draft->rows += kept->end - patch->first_row[page];
	loader_add_page(loader, page, pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, &patch->page_lsn[page])));
}

/* Looks at a page of the heap; false: there is no patch, since it would be too large. */
static bool
read_page(Loader *loader, CachedChunk *chunk, uint32 page, TransactionId horizon, uint32 rows_limit)
{
	CachedChunk *draft = loader->draft;
	PageRows	rows;
	XLogRecPtr	lsn;

	loader->progress->heap_bytes += BLCKSZ;
	if (!row_proof_patch_page(loader->rel, GetActiveSnapshot(), horizon, chunk, page, loader->strategy,
							  &rows, loader->image, &lsn))
		return true;
	if (draft->rows + rows.heap_count > rows_limit || penumbra_rows_bytes(loader->rows) > PATCH_BYTES_MAX)
		return false;
	if (!heap_row_reader_append_narrow(loader->reader, loader->image, rows.heap, rows.heap_count, loader->rows))
		return true;
	draft->rows += rows.heap_count;
	loader_note_offsets(draft, page, rows.heap, rows.heap_count);
	loader_add_page(loader, page, lsn);
	return true;
}

/*
 * Takes the decided new rows of the pages that the chunk does not serve alone
 * from the patch before, or else from the heap, and which pages these are of into
 * the draft.  False: there is none, or they are too many for a patch.
 */
static bool
read_new_rows(Loader *loader, CachedChunk *chunk, const ChunkProof *proof)
{
	CachedChunk *draft = loader->draft;
	TransactionId horizon = GetOldestNonRemovableTransactionId(loader->rel);
	uint32		limit = Min(chunk->pages, loader->nblocks - chunk->number * CHUNK_PAGES);
	uint32		rows_limit = Max(chunk->rows / PATCH_ROWS_SHARE, PATCH_ROWS_MIN);
	KeptRows	kept;

	begin_kept_rows(loader, loader->patch, &kept);
	draft->pages = limit;
	for (uint32 page = 0; page < limit; page++)
	{
		uint64		bit = UINT64CONST(1) << (page % 64);

		draft->first_row[page] = draft->rows;
		draft->offset_bytes[page + 1] = draft->offset_bytes[page];
		if ((proof->proven[page / 64] & ~proof->patched[page / 64] & bit) != 0 ||
			!chunk_page_has_rows(chunk, page))
			continue;
		if (kept.patch != NULL && (proof->patched[page / 64] & bit) != 0)
			keep_page(loader, &kept, page);
		else
		{
			append_kept_rows(loader, &kept);
			if (!read_page(loader, chunk, page, horizon, rows_limit))
				return false;
		}
		pg_atomic_write_u32(&draft->recent_buffer[page], pg_atomic_read_u32(&chunk->recent_buffer[page]));
	}
	append_kept_rows(loader, &kept);
	for (uint32 page = limit; page <= CHUNK_PAGES; page++)
	{
		draft->first_row[page] = draft->rows;
		draft->offset_bytes[page] = draft->offset_bytes[limit];
	}
	return draft->cached_pages > 0;
}

/* Appends an encoded column to the segments' bytes, whose addresses are relative until they are in place. */
static void
append_segment(Loader *loader, int column, StringInfo bytes)
{
	CachedSegment *segment = chunk_slot(loader->draft, loader->columns[column]);

	loader_encode_column(loader, column, segment);
	enlargeStringInfo(bytes, segment->bytes + SEGMENT_ALIGNMENT);
	while (bytes->len % SEGMENT_ALIGNMENT != 0)
		appendStringInfoCharMacro(bytes, 0);
	segment->segment = (void *) (uintptr_t) bytes->len;
	appendBinaryStringInfo(bytes, loader->encoded, segment->bytes);
}

/* Puts the draft with its segments into the directory as the chunk's patch; false: there is no room. */
static bool
publish_patch(Loader *loader, CachedChunk *chunk, const StringInfoData *segments)
{
	CachedChunk *draft = loader->draft;
	Size		header_bytes = CHUNK_BYTES(draft->column_count) + draft->offset_bytes[CHUNK_PAGES];
	Size		segments_at = TYPEALIGN(SEGMENT_ALIGNMENT, header_bytes);
	CachedChunk *patch;

	draft->bytes = segments_at + segments->len;
	draft->patch_serial = directory_next_serial();
	patch = directory_allocate(draft->bytes, loader->protected_serial, 0);
	if (patch == NULL)
		return false;
	memcpy(patch, draft, header_bytes);
	memcpy((char *) patch + segments_at, segments->data, segments->len);
	for (int i = 0; i < loader->ncolumns; i++)
	{
		CachedSegment *segment = chunk_slot(patch, loader->columns[i]);

		segment->segment = (char *) patch + segments_at + (uintptr_t) segment->segment;
		segment->chunk = patch;
	}
	if (directory_publish_patch(chunk, patch))
		return true;
	directory_free_chunk(patch);
	return false;
}

/* Rows of pages that the previous patch still proves are copied from its segments. It stays pinned until then. */
bool
loader_patch_chunk(Loader *loader, CachedChunk *chunk, const ChunkProof *proof)
{
	int			ncolumns = loader_set_columns(loader, chunk, true);
	StringInfoData segments;
	bool		done;

	loader_clear_draft(loader, chunk->number);
	directory_pin_patches(&chunk, 1, &loader->patch);
	done = read_new_rows(loader, chunk, proof);
	loader_unpin_patch(loader);
	if (!done)
		return false;
	initStringInfo(&segments);
	for (int i = 0; i < ncolumns; i++)
	{
		CHECK_FOR_INTERRUPTS();
		append_segment(loader, i, &segments);
	}
	STOP_POINT("patch-before-publish");
	done = publish_patch(loader, chunk, &segments);
	pfree(segments.data);
	return done;
}

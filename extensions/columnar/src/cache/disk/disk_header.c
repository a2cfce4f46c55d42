/*-------------------------------------------------------------------------
 *
 * disk_header.c
 *	  A chunk's header as the disk cache saves it.
 *
 * A header is copied while others change the chunk.  What is copied is what a
 * scan could have read at the time, in the order in which scans read it:
 * stamp, live bits, LSNs, dead rows.  So each saved header is true by itself,
 * with the heap and the map as they were when the WAL was flushed after the
 * copy, and for good: a later state of a page has another LSN, and a later
 * state of its bit another stamp (validate.c).  Segments are those of the same
 * version of the chunk, whose rows do not change; any header goes with them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "port/pg_bitutils.h"

#include "cache/disk/disk_header.h"
#include "cache/region.h"

uint64
disk_header_mark(CachedChunk *chunk)
{
	return pg_atomic_read_u64(&chunk->vm_stamp) + ((uint64) pg_atomic_read_u32(&chunk->decisions) << 42) +
		((uint64) pg_atomic_read_u32(&chunk->changed_pages) << 53) + 1;
}

/*
 * Copies what a scan reads of the chunk, in its order.  Pages with rows and
 * without an LSN are left out (T2), since the map alone proves them: they are
 * not live, and no row of them is proven.  In units that can be written; palloc'd.
 */
SavedHeader *
disk_copy_header(CachedChunk *chunk)
{
	SavedHeader *header;
	Size		bytes = sizeof(SavedHeader) + MAXALIGN(chunk->offset_bytes[CHUNK_PAGES]) +
		CHUNK_DEAD_ROWS_WORDS(chunk) * sizeof(uint64);
	uint64	   *dead_rows;

	header = palloc0(disk_cost_bytes(bytes + MAXIMUM_ALIGNOF));
	header->vm_stamp = pg_atomic_read_u64(&chunk->vm_stamp);
	pg_read_barrier();
	for (int i = 0; i < CHUNK_WORDS; i++)
		header->live[i] = pg_atomic_read_u64(&chunk->live[i]);
	for (int i = 0; i < CHUNK_PAGES; i++)
	{
		header->page_lsn[i] = pg_atomic_read_u64(&chunk->page_lsn[i]);
		if (header->page_lsn[i] == InvalidXLogRecPtr && chunk_page_has_rows(chunk, i))
			header->live[i / 64] &= ~(UINT64CONST(1) << (i % 64));
	}
	pg_read_barrier();
	header->oldest_running = chunk->oldest_running;
	header->has_reused_xids = chunk->has_reused_xids;
	header->loaded_at = chunk->loaded_at;
	header->pages = chunk->pages;
	header->cached_pages = chunk->cached_pages;
	header->rows = chunk->rows;
	header->column_count = chunk->column_count;
	header->decisions = pg_atomic_read_u32(&chunk->decisions);
	header->unproven_pages = pg_atomic_read_u32(&chunk->unproven_pages);
	header->lsn_pages = pg_atomic_read_u32(&chunk->lsn_pages);
	header->offset_bit_bytes = chunk->offset_bytes[CHUNK_PAGES];
	memcpy(header->first_row, chunk->first_row, sizeof(header->first_row));
	memcpy(header->offset_bytes, chunk->offset_bytes, sizeof(header->offset_bytes));
	memcpy(header + 1, CHUNK_OFFSET_BITS(chunk), header->offset_bit_bytes);
	dead_rows = (uint64 *) ((char *) header + SAVED_DEAD_ROWS_OFFSET(header));
	for (uint32 i = 0; i < CHUNK_DEAD_ROWS_WORDS(chunk); i++)
		dead_rows[i] = pg_atomic_read_u64(&CHUNK_DEAD_ROWS(chunk)[i]);
	return header;
}

/* Who looks for a page's rows goes from bit to bit until it has found them all. */
static bool
page_is_sound(const SavedHeader *header, int page)
{
	uint32		begin = header->offset_bytes[page];
	uint32		end = header->offset_bytes[page + 1];
	uint32		rows = header->first_row[page + 1] - header->first_row[page];

	return rows <= MaxHeapTuplesPerPage && end - begin <= CHUNK_OFFSET_BYTES_MAX / CHUNK_PAGES &&
		(begin == end || pg_popcount((const char *) (header + 1) + begin, end - begin) == rows);
}

bool
disk_header_is_sound(const SavedHeader *header, Size bytes)
{
	bool		sound = bytes >= sizeof(SavedHeader) &&
		header->column_count <= COLUMN_KEY_PLACES_MAX &&
		header->pages <= CHUNK_PAGES && header->cached_pages <= header->pages &&
		header->offset_bit_bytes <= CHUNK_OFFSET_BYTES_MAX &&
		header->rows <= CHUNK_PAGES * MaxHeapTuplesPerPage && bytes == SAVED_BYTES(header) &&
		header->first_row[0] == 0 && header->first_row[CHUNK_PAGES] == header->rows &&
		header->offset_bytes[0] == 0 && header->offset_bytes[CHUNK_PAGES] == header->offset_bit_bytes;

	for (int i = 0; sound && i < CHUNK_PAGES; i++)
		sound = header->first_row[i] <= header->first_row[i + 1] &&
			header->offset_bytes[i] <= header->offset_bytes[i + 1];
	for (int i = 0; sound && i < CHUNK_PAGES; i++)
		sound = page_is_sound(header, i);
	return sound;
}

/*
 * Fills a chunk's memory from a header.  T8: transaction numbers from next_xid
 * on may be given again.
 */
static void
fill_chunk(CachedChunk *chunk, const SavedHeader *header, const ManifestChunk *entry, uint64 next_xid)
{
	const uint64 *dead_rows = (const uint64 *) ((const char *) header + SAVED_DEAD_ROWS_OFFSET(header));
	uint32		live_pages = 0;

	memset(chunk, 0, CHUNK_BYTES(header->column_count));
	chunk->key = entry->key;
	chunk->number = entry->number;
	pg_atomic_init_u32(&chunk->references, 1);
	pg_atomic_init_u64(&chunk->vm_stamp, header->vm_stamp);
	pg_atomic_init_u32(&chunk->decisions, header->decisions);
	pg_atomic_init_u32(&chunk->lost_pages, 0);
	pg_atomic_init_u64(&chunk->stale_since, 0);
	pg_atomic_init_u32(&chunk->unproven_pages, Min(header->unproven_pages, header->cached_pages));
	pg_atomic_init_u32(&chunk->lsn_pages, Min(header->lsn_pages, header->cached_pages));
	chunk->pages = header->pages;
	chunk->cached_pages = header->cached_pages;
	chunk->rows = header->rows;
	chunk->column_count = header->column_count;
	chunk->loaded_at = header->loaded_at;
	chunk->oldest_running = header->oldest_running;
	chunk->has_reused_xids = header->has_reused_xids != 0 || header->oldest_running > next_xid;
	chunk->is_restored = true;
	chunk->header_extent = entry->header;
	for (int i = 0; i < CHUNK_WORDS; i++)
	{
		pg_atomic_init_u64(&chunk->live[i], header->live[i]);
		live_pages += pg_popcount64(header->live[i]);
	}
	pg_atomic_init_u32(&chunk->changed_pages, header->cached_pages - Min(live_pages, header->cached_pages));
	for (int i = 0; i < CHUNK_PAGES; i++)
	{
		pg_atomic_init_u64(&chunk->page_lsn[i], header->page_lsn[i]);
		pg_atomic_init_u32(&chunk->recent_buffer[i], 0);
	}
	memcpy(chunk->first_row, header->first_row, sizeof(chunk->first_row));
	memcpy(chunk->offset_bytes, header->offset_bytes, sizeof(chunk->offset_bytes));
	memcpy(unconstify(uint8 *, CHUNK_OFFSET_BITS(chunk)), header + 1, header->offset_bit_bytes);
	for (uint32 i = 0; i < CHUNK_DEAD_ROWS_WORDS(chunk); i++)
		pg_atomic_init_u64(&CHUNK_DEAD_ROWS(chunk)[i], dead_rows[i]);
	chunk->header_mark = disk_header_mark(chunk);
}

CachedChunk *
disk_create_chunk(const SavedHeader *header, const ManifestChunk *entry,
				  const ManifestSegment *segments, uint64 next_xid)
{
	Size		bytes = CHUNK_BYTES_WITH_ROWS(header->column_count, header->offset_bit_bytes, header->rows);
	/* nothing is evicted for it */
	CachedChunk *chunk = region_allocate(bytes);

	if (chunk == NULL)
		return NULL;
	fill_chunk(chunk, header, entry, next_xid);
	chunk->bytes = bytes;
	for (uint32 i = 0; i < entry->segment_count; i++)
	{
		ColumnKey	column = column_key_of_number(segments[i].number);
		CachedSegment *segment = column_number_is_possible(segments[i].number) ? chunk_slot(chunk, column) : NULL;

		/* no trust in what a file says */
		if (segment == NULL)
			continue;
		segment->extent = segments[i].extent;
		segment->zone_map = segments[i].zone_map;
		segment->bytes = segments[i].extent.plain_bytes;
		segment->facts = (ColumnFacts) {
			.content = segments[i].content,
			.type_oid = segments[i].type_oid,
			.typmod = segments[i].typmod,
			.collation = segments[i].collation,
		};
		segment->column = column;
		segment->chunk = chunk;
		pg_atomic_init_u32(&segment->pins, 0);
		chunk->segment_count++;
	}
	return chunk;
}

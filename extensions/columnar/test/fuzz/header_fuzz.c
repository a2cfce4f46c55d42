/*-------------------------------------------------------------------------
 *
 * header_fuzz.c
 *	  Saved headers of chunks whose bytes were changed: refused, or a chunk in
 *	  which all that scans look for is there.
 *
 * An input is how a sound header is made, and then what is written over it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"

#include "cache/disk/disk_file.h"
#include "cache/disk/disk_header.h"
#include "cache/region.h"

#define require(condition) \
	do { \
		if (!(condition)) \
			__builtin_trap(); \
	} while (0)

#define COLUMNS			3
#define SEGMENTS		4

typedef struct Input
{
	const uint8 *bytes;
	size_t		left;
} Input;

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* ---------------------------------------------------------------- of the server */

void *
palloc0(Size size)
{
	return calloc(1, size);
}

void *
region_allocate(Size bytes)
{
	return malloc(bytes);
}

/* ---------------------------------------------------------------- inputs */

static uint32
next(Input *input, int bytes)
{
	uint32		value = 0;

	for (; bytes > 0 && input->left > 0; bytes--, input->left--)
		value = value << 8 | *input->bytes++;
	return value;
}

/* The first pages have rows, every other one of them not at 1, 2, ... */
static CachedChunk *
make_chunk(Input *input)
{
	CachedChunk *chunk = calloc(1, CHUNK_BYTES_WITH_ROWS(COLUMNS, CHUNK_OFFSET_BYTES_MAX,
														 CHUNK_PAGES * MaxHeapTuplesPerPage));
	uint8	   *bits;

	chunk->column_count = COLUMNS;
	chunk->pages = chunk->cached_pages = CHUNK_PAGES;
	bits = unconstify(uint8 *, CHUNK_OFFSET_BITS(chunk));
	for (int page = 0; page < CHUNK_PAGES; page++)
	{
		uint32		rows = page < 8 ? next(input, 2) % (MaxHeapTuplesPerPage + 1) : 0;
		uint32		bytes = page % 2 == 0 ? 0 : (rows + BITS_PER_BYTE - 1) / BITS_PER_BYTE;

		for (uint32 row = 0; bytes > 0 && row < rows; row++)
			bits[chunk->offset_bytes[page] + row / BITS_PER_BYTE] |= 1 << (row % BITS_PER_BYTE);
		chunk->offset_bytes[page + 1] = chunk->offset_bytes[page] + bytes;
		chunk->first_row[page + 1] = chunk->first_row[page] + rows;
		chunk->page_lsn[page].value = page % 3;
	}
	chunk->rows = chunk->first_row[CHUNK_PAGES];
	chunk->live[0].value = next(input, 4);
	return chunk;
}

/* In memory of its own, so that the sanitizer sees a read past the end. */
static SavedHeader *
change_bytes(Input *input, const SavedHeader *header, Size *bytes)
{
	SavedHeader *changed;

	if (next(input, 1) % 8 == 0)
		*bytes = next(input, 4) % (*bytes + 1);
	changed = malloc(*bytes);
	require(*bytes == 0 || changed != NULL);
	memcpy(changed, header, *bytes);
	while (input->left > 0 && *bytes > 0)
	{
		/* half of the time where the counts are */
		Size		limit = next(input, 1) % 2 == 0 ? Min(*bytes, offsetof(SavedHeader, live)) : *bytes;

		((uint8 *) changed)[next(input, 3) % limit] = next(input, 1);
	}
	return changed;
}

/* ---------------------------------------------------------------- what scans do */

/* As find_offset() of scan.c and loaded_rows_next() of row_proof.c. */
static void
look_for_rows(CachedChunk *chunk)
{
	uint64		dead = 0;

	for (int page = 0; page < CHUNK_PAGES; page++)
	{
		const uint8 *bits = CHUNK_OFFSET_BITS(chunk) + chunk->offset_bytes[page];
		uint32		limit = (chunk->offset_bytes[page + 1] - chunk->offset_bytes[page]) * BITS_PER_BYTE;
		uint32		rows = chunk->first_row[page + 1] - chunk->first_row[page];
		uint32		found = 0;

		for (uint32 bit = 0; bit < limit; bit++)
			found += (bits[bit / BITS_PER_BYTE] >> (bit % BITS_PER_BYTE)) & 1;
		require(limit == 0 || found == rows);
		require(rows <= MaxHeapTuplesPerPage && chunk->first_row[page + 1] <= chunk->rows);
	}
	for (uint32 i = 0; i < CHUNK_DEAD_ROWS_WORDS(chunk); i++)
		dead |= pg_atomic_read_u64(&CHUNK_DEAD_ROWS(chunk)[i]);
	require(dead == 0 || chunk->rows > 0);
	require(chunk->cached_pages <= chunk->pages && pg_atomic_read_u32(&chunk->changed_pages) <= chunk->cached_pages);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		input = {data, size};
	CachedChunk *chunk = make_chunk(&input);
	SavedHeader *header = disk_copy_header(chunk);
	ManifestChunk entry = {.segment_count = SEGMENTS};
	ManifestSegment segments[SEGMENTS] = {0};
	Size		bytes = SAVED_BYTES(header);
	SavedHeader *changed;

	require(disk_header_is_sound(header, bytes));
	for (int i = 0; i < SEGMENTS; i++)
		segments[i].number = (int16) next(&input, 2);
	changed = change_bytes(&input, header, &bytes);
	if (disk_header_is_sound(changed, bytes))
	{
		CachedChunk *restored = disk_create_chunk(changed, &entry, segments, next(&input, 4));

		look_for_rows(restored);
		free(restored);
	}
	free(changed);
	free(header);
	free(chunk);
	return 0;
}

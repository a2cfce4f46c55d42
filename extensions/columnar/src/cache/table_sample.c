/*-------------------------------------------------------------------------
 *
 * table_sample.c
 *	  Which rows of a table are in a sample, as access/tablesample/bernoulli.c
 *	  and system.c decide it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/fmgrprotos.h"

#include "cache/table_sample.h"

TableSample
table_sample_make(bool is_of_pages, double percent, uint32 seed)
{
	TableSample sample = {.is_of_pages = is_of_pages, .seed = seed};

	sample.cutoff = (uint64) rint(((double) PG_UINT32_MAX + 1) * percent / 100);
	return sample;
}

uint32
table_sample_seed(double repeatable)
{
	return DatumGetUInt32(DirectFunctionCall1(hashfloat8, Float8GetDatum(repeatable)));
}

static bool
has_hash(const TableSample *sample, const uint32 *words, int count)
{
	return hash_bytes((const unsigned char *) words, count * (int) sizeof(uint32)) < sample->cutoff;
}

bool
table_sample_has_page(const TableSample *sample, BlockNumber block)
{
	const uint32 words[] = {block, sample->seed};

	return !sample->is_of_pages || has_hash(sample, words, lengthof(words));
}

bool
table_sample_has_row(const TableSample *sample, BlockNumber block, OffsetNumber offset)
{
	const uint32 words[] = {block, offset, sample->seed};

	return sample->is_of_pages ? table_sample_has_page(sample, block) : has_hash(sample, words, lengthof(words));
}

static void
take_pages(const TableSample *sample, const CachedChunk *chunk, PenumbraChunk *offered)
{
	PenumbraRowRange *taken = palloc(sizeof(PenumbraRowRange) * (CHUNK_PAGES / 2 + 1));
	uint32		count = 0;
	uint32		page = 0;

	for (uint32 i = 0; i < offered->range_count; i++)
	{
		for (; page < CHUNK_PAGES && chunk->first_row[page] < offered->ranges[i].end; page++)
		{
			uint32		begin = chunk->first_row[page];
			uint32		end = chunk->first_row[page + 1];

			if (begin < offered->ranges[i].begin || begin == end ||
				!table_sample_has_page(sample, chunk->number * CHUNK_PAGES + page))
				continue;
			if (count > 0 && taken[count - 1].end == begin)
				taken[count - 1].end = end;
			else
				taken[count++] = (PenumbraRowRange) {begin, end};
		}
	}
	offered->ranges = taken;
	offered->range_count = count;
}

/* Clears the bits of the page's rows that are not in the sample. */
static void
drop_rows(const TableSample *sample, const CachedChunk *chunk, uint32 page, uint64 *row_bits)
{
	const BlockNumber block = chunk->number * CHUNK_PAGES + page;
	const uint8 *bits = CHUNK_OFFSET_BITS(chunk) + chunk->offset_bytes[page];
	bool		is_dense = chunk->offset_bytes[page] == chunk->offset_bytes[page + 1];
	uint32		row = chunk->first_row[page];

	for (uint32 bit = 0; row < chunk->first_row[page + 1]; bit++)
	{
		if (!is_dense && (bits[bit / BITS_PER_BYTE] & (1 << (bit % BITS_PER_BYTE))) == 0)
			continue;
		if (!table_sample_has_row(sample, block, (OffsetNumber) (FirstOffsetNumber + bit)))
			row_bits[row / 64] &= ~(UINT64CONST(1) << (row % 64));
		row++;
	}
}

void
table_sample_take(const TableSample *sample, const CachedChunk *chunk, PenumbraChunk *offered)
{
	Size		bytes = sizeof(uint64) * ((chunk->rows + 63) / 64);
	uint64	   *row_bits;

	if (sample->is_of_pages)
	{
		take_pages(sample, chunk, offered);
		return;
	}
	row_bits = palloc(Max(bytes, 1));
	if (offered->row_bits == NULL)
		memset(row_bits, 0xff, bytes);
	else
		memcpy(row_bits, offered->row_bits, bytes);
	for (uint32 page = 0; page < CHUNK_PAGES; page++)
		drop_rows(sample, chunk, page, row_bits);
	offered->row_bits = row_bits;
}

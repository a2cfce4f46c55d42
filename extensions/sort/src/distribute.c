/*-------------------------------------------------------------------------
 *
 * distribute.c
 *	  Sorting of keys in pieces, so that a cancel is seen in time.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include <sys/mman.h>

#include "common/pg_prng.h"

/* Since Linux 5.14; the headers may be older. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define HUGE_PAGE_BYTES ((uintptr_t) 2 << 20)
#define POPULATED_PIECE_BYTES (2 * HUGE_PAGE_BYTES)
/* malloc() maps allocations of that size by themselves (its threshold grows up to 32 MB). */
#define MAPPED_BYTES_MIN ((int64) 64 << 20)

/*
 * Memory whose pages are there already, made in pieces: the first touch of a page costs more than sorting what stands
 * in it, and keys that are distributed touch many at once. Huge pages are also given back at once, by a cancelled call
 * too.
 */
void *
alloc_in_pieces(int64 bytes)
{
	char	   *memory = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	uintptr_t	begin = TYPEALIGN(HUGE_PAGE_BYTES, memory);
	uintptr_t	end = TYPEALIGN_DOWN(HUGE_PAGE_BYTES, memory + bytes);

	if (bytes < MAPPED_BYTES_MIN)
		return memory;
	/* Where either is refused, pages come one by one when they are touched. */
	if (madvise((void *) begin, end - begin, MADV_HUGEPAGE) != 0)
		return memory;
	for (; begin < end; begin += POPULATED_PIECE_BYTES)
	{
		if (madvise((void *) begin, Min(end - begin, POPULATED_PIECE_BYTES),
					MADV_POPULATE_WRITE) != 0)
			break;
		CHECK_FOR_INTERRUPTS();
	}
	return memory;
}

/* What palloc returns is aligned to 8 bytes; the address it returned stands before the keys. */
void *
alloc_keys(PenumbraKeyKind kind, int64 count)
{
	char	   *chunk = alloc_in_pieces(count * key_width(kind) + 32);
	char	   *keys = (char *) TYPEALIGN(16, chunk + sizeof(char *));

	((char **) keys)[-1] = chunk;
	return keys;
}

void
free_keys(void *keys)
{
	pfree(((char **) keys)[-1]);
}

bool
keys_fit_one_call(PenumbraKeyKind kind, int64 count)
{
	return count * key_width(kind) <= SORT_PIECE_BYTES;
}

bool
keys_are_ordered(PenumbraKeyKind kind, const void *keys, int64 count, bool descending)
{
	int64		width = key_width(kind);

	for (int64 begin = 0; begin < count; begin += LOOP_PIECE)
	{
		/* One more than the piece, to compare its last with the next one's first. */
		if (!penumbra_keys_are_ordered(kind, (const char *) keys + begin * width,
									   Min(count - begin, LOOP_PIECE + 1), descending))
			return false;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/*
 * Sorts keys to out, which is other memory: distributes them over ranges, of
 * which each is sorted by a call of its own.
 */
void
sort_keys_into(PenumbraKeyKind kind, const void *keys, int64 count, bool descending, void *out)
{
	int64		width = key_width(kind);
	PenumbraSplitters *splitters = alloc_keys(PENUMBRA_KEY_UINT128, sizeof(*splitters) / 16);
	uint64	   *counts = palloc0(sizeof(uint64) * PENUMBRA_BUCKETS);
	uint64	   *ends = palloc(sizeof(uint64) * PENUMBRA_BUCKETS);
	uint64		begin = 0;

	/* Nobody can guess the seed, and so make one call sort nearly all keys. */
	penumbra_choose_splitters(kind, keys, count, pg_prng_uint64(&pg_global_prng_state), splitters);
	for (int64 i = 0; i < count; i += LOOP_PIECE)
	{
		penumbra_count_buckets(splitters, (const char *) keys + i * width,
							   Min(count - i, LOOP_PIECE), counts);
		CHECK_FOR_INTERRUPTS();
	}
	for (int i = 0; i < PENUMBRA_BUCKETS; i++)
	{
		int			bucket = descending ? PENUMBRA_BUCKETS - 1 - i : i;

		ends[bucket] = begin;
		begin += counts[bucket];
	}
	for (int64 i = 0; i < count; i += LOOP_PIECE)
	{
		penumbra_scatter_keys(splitters, (const char *) keys + i * width,
							  Min(count - i, LOOP_PIECE), ends, out);
		CHECK_FOR_INTERRUPTS();
	}
	/* Those with odd numbers hold equal keys. */
	for (int bucket = 0; bucket < PENUMBRA_BUCKETS; bucket += 2)
	{
		penumbra_sort_keys(kind, (char *) out + (ends[bucket] - counts[bucket]) * width,
						   counts[bucket], descending);
		CHECK_FOR_INTERRUPTS();
	}
	pfree(ends);
	pfree(counts);
	free_keys(splitters);
}

void
copy_in_pieces(void *to, const void *from, int64 bytes)
{
	for (int64 begin = 0; begin < bytes; begin += SORT_PIECE_BYTES)
	{
		memcpy((char *) to + begin, (const char *) from + begin,
			   Min(bytes - begin, SORT_PIECE_BYTES));
		CHECK_FOR_INTERRUPTS();
	}
}

/* Many keys take as much memory again while they are sorted. */
void
sort_keys_in_place(PenumbraKeyKind kind, void *keys, int64 count, bool descending)
{
	void	   *sorted;

	if (keys_fit_one_call(kind, count))
	{
		penumbra_sort_keys(kind, keys, count, descending);
		return;
	}
	sorted = alloc_keys(kind, count);
	sort_keys_into(kind, keys, count, descending, sorted);
	copy_in_pieces(keys, sorted, count * key_width(kind));
	free_keys(sorted);
}

/* What is in order already, as keys from a sorted array are, costs one pass. */
void
sort_unless_ordered(PenumbraKeyKind kind, void *keys, int64 count)
{
	if (!keys_are_ordered(kind, keys, count, false))
		sort_keys_in_place(kind, keys, count, false);
}

void
reverse_keys(PenumbraKeyKind kind, void *keys, int64 count)
{
	for (int64 begin = 0; begin < count / 2; begin += LOOP_PIECE)
	{
		penumbra_reverse_keys(kind, keys, count, begin, Min(begin + LOOP_PIECE, count / 2));
		CHECK_FOR_INTERRUPTS();
	}
}

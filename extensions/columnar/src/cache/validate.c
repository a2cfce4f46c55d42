/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  Which pages of a chunk are right for every snapshot taken before.
 *
 * P1: the page's visibility-map bit is set and the map page's LSN is the
 * chunk's stamp.  Setting a bit stamps the map page with a new LSN, so under
 * an unchanged LSN a set bit was set all the time, and a page whose bit is
 * set all the time has only tuples that everybody sees.  visibilitymap_set()
 * writes the bit before the LSN, both under the exclusive content lock (since
 * 19 its callers take the lock and write the LSN): they must be read together
 * under the share lock, or a re-set bit could be seen with the old LSN.
 *
 * P2: the heap page's LSN is the one it had when it was loaded, proven
 * all-visible, or when its rows were found decided later (row_proof.c): then
 * those not marked dead are all that anybody sees.  Every change of a tuple
 * moves it.  P2 also holds for a page of which the chunk has no rows while
 * the page is empty: a row that the snapshot sees would be on it.  So it does
 * for new pages, which have no LSN and never get a bit of the map.
 *
 * P4, for pages that were loaded although an old snapshot did not see all of
 * their rows: P2 holds, and the snapshot sees each inserter who was not yet
 * older than every snapshot then.  They had committed, and nobody had deleted;
 * so a snapshot sees all rows unless it took one of them for running, or for
 * yet to come.  Of these only the oldest and the youngest are known, so no
 * transaction between may have been running for it.  Where a snapshot does not
 * list all subtransactions, all of them must be older than what it saw running.
 * Numbers are compared modulo 2^32: rightly, since as long as the page is
 * unchanged it has these very numbers, not frozen, and the server keeps such
 * within 2^31 of the next.  P1 needs nothing of that: a set bit says that all
 * snapshots see the rows.
 *
 * Nothing is ever concluded from the map page's LSN having moved: it moves
 * when any of 32,672 pages has its bit set, which since 19 queries do too, and
 * since 17.11, 18.6 and 19 also when one has it cleared.
 *
 * A new stamp L may be given to a chunk when, in this order: the map page was
 * read with LSN L; every live page of the chunk passed P2; the map page was
 * read again with LSN L.  A page whose bit is set in the second reading had
 * it set in the first (setting moves the LSN), and was unchanged between, so
 * "bit set under L" proves it from then on.  A page changed between P2 and
 * the second reading has a clear bit under L, and never a set one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "cache/stop_points.h"
#include "cache/validate.h"

/* So many pages ahead of the one that is looked at. */
#define PREFETCH_PAGES 8

/* So many pages' rows are proven one by one in the time in which one page is read from the heap. */
#define PAGES_BY_ROW_PER_HEAP_PAGE 6

void
vm_page_read(Relation rel, BlockNumber block, VmPage *page)
{
	Buffer		buffer = InvalidBuffer;

	page->map_block = block / VM_PAGE_BLOCKS;
	/* for the pin only: unlike visibilitymap_pin() this does not extend the map */
	(void) visibilitymap_get_status(rel, block, &buffer);
	if (!BufferIsValid(buffer))
	{
		page->lsn = InvalidXLogRecPtr;
		memset(page->bits, 0, sizeof(page->bits));
		return;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page->lsn = PageGetLSN(BufferGetPage(buffer));
	memcpy(page->bits, PageGetContents(BufferGetPage(buffer)), VM_PAGE_BYTES);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	memset(page->bits + VM_PAGE_BYTES, 0, sizeof(page->bits) - VM_PAGE_BYTES);
}

/* 64 bits from a bit offset. */
static inline uint64
bits_at(const uint8 *bytes, uint32 bit)
{
	uint64		low;
	uint64		shift = bit % 8;

	memcpy(&low, bytes + bit / 8, sizeof(low));
#ifdef WORDS_BIGENDIAN
	low = pg_bswap64(low);
#endif
	if (shift == 0)
		return low;
	return (low >> shift) | ((uint64) bytes[bit / 8 + 8] << (64 - shift));
}

/* Bits 0, 2, 4, ... (all-visible; the others are all-frozen), moved together. */
static inline uint64
even_bits(uint64 bits)
{
	bits &= UINT64CONST(0x5555555555555555);
	bits = (bits | bits >> 1) & UINT64CONST(0x3333333333333333);
	bits = (bits | bits >> 2) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	bits = (bits | bits >> 4) & UINT64CONST(0x00FF00FF00FF00FF);
	bits = (bits | bits >> 8) & UINT64CONST(0x0000FFFF0000FFFF);
	return (bits | bits >> 16) & UINT64CONST(0x00000000FFFFFFFF);
}

/* Bits below `count` of word `word`. */
static inline uint64
word_mask(uint32 word, uint32 count)
{
	if (count >= (word + 1) * 64)
		return ~UINT64CONST(0);
	if (count <= word * 64)
		return 0;
	return (UINT64CONST(1) << (count - word * 64)) - 1;
}

void
vm_page_get_chunk(const VmPage *page, uint32 chunk_number, uint64 *bits)
{
	uint32		first_bit = chunk_number % CHUNKS_PER_VM_PAGE * CHUNK_PAGES * BITS_PER_HEAPBLOCK;

	StaticAssertStmt(BITS_PER_HEAPBLOCK == 2 && VISIBILITYMAP_ALL_VISIBLE == 1,
					 "the layout of the visibility map has changed");
	Assert(page->map_block == chunk_number / CHUNKS_PER_VM_PAGE);
	for (uint32 word = 0; word < CHUNK_WORDS; word++)
	{
		uint32		bit = first_bit + word * 128;
		uint64		low = bits_at(page->bits, bit);
		uint64		high = bit + 64 < VM_PAGE_BYTES * 8 ? bits_at(page->bits, bit + 64) : 0;

		bits[word] = (even_bits(low) | even_bits(high) << 32) & word_mask(word, CHUNK_PAGES);
	}
}

Buffer
chunk_read_page(Relation rel, CachedChunk *chunk, uint32 page, BufferAccessStrategy strategy)
{
	BlockNumber block = chunk->number * CHUNK_PAGES + page;
	Buffer		buffer = (Buffer) pg_atomic_read_u32(&chunk->recent_buffer[page]);

	if (buffer != InvalidBuffer && compat_read_recent_buffer(rel, block, buffer))
		return buffer;
	buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	pg_atomic_write_u32(&chunk->recent_buffer[page], (uint32) buffer);
	return buffer;
}

/* Most of what a proof costs is waiting for the page's header and its buffer's. */
void
chunk_prefetch_page(CachedChunk *chunk, uint32 page)
{
	Buffer		buffer = (Buffer) pg_atomic_read_u32(&chunk->recent_buffer[page]);

	if (buffer == InvalidBuffer)
		return;
	__builtin_prefetch(GetBufferDescriptor(buffer - 1), 1);
	__builtin_prefetch(BufferGetBlock(buffer));
}

bool
chunk_page_is_unchanged(CachedChunk *chunk, uint32 page, Buffer buffer)
{
	XLogRecPtr	lsn = BufferGetLSNAtomic(buffer);

	if (lsn != InvalidXLogRecPtr && lsn == pg_atomic_read_u64(&chunk->page_lsn[page]))
		return true;
	return !chunk_page_has_rows(chunk, page) && PageIsEmpty(BufferGetPage(buffer));
}

static bool
page_is_unchanged(Relation rel, CachedChunk *chunk, uint32 page, BufferAccessStrategy strategy)
{
	Buffer		buffer = chunk_read_page(rel, chunk, page, strategy);
	bool		is_unchanged;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	is_unchanged = chunk_page_is_unchanged(chunk, page, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	return is_unchanged;
}

/* For a page or for all of a chunk's. */
static bool
inserters_are_seen(const PageInserters *inserters, Snapshot snapshot)
{
	if (!TransactionIdIsValid(inserters->youngest) ||
		TransactionIdPrecedes(inserters->youngest, snapshot->xmin))
		return true;
	if (!TransactionIdPrecedes(inserters->youngest, snapshot->xmax) ||
		snapshot->suboverflowed || snapshot->takenDuringRecovery)
		return false;
	for (uint32 i = 0; i < snapshot->xcnt; i++)
	{
		if (TransactionIdPrecedesOrEquals(inserters->oldest, snapshot->xip[i]) &&
			TransactionIdPrecedesOrEquals(snapshot->xip[i], inserters->youngest))
			return false;
	}
	for (int32 i = 0; i < snapshot->subxcnt; i++)
	{
		if (TransactionIdPrecedesOrEquals(inserters->oldest, snapshot->subxip[i]) &&
			TransactionIdPrecedesOrEquals(snapshot->subxip[i], inserters->youngest))
			return false;
	}
	return true;
}

bool
chunk_page_is_seen(CachedChunk *chunk, uint32 page, Snapshot snapshot)
{
	return !chunk_has_inserters(chunk) || inserters_are_seen(&CHUNK_INSERTERS(chunk)[page], snapshot);
}

static void
mark_page_dead(CachedChunk *chunk, uint32 page)
{
	uint64		bit = UINT64CONST(1) << (page % 64);

	if (pg_atomic_fetch_and_u64(&chunk->live[page / 64], ~bit) & bit)
		pg_atomic_fetch_add_u32(&chunk->changed_pages, 1);
}

/*
 * Pages of a word that are past the relation's end: should it have them again,
 * they are others.  VACUUM cut them off, so nobody sees a row of them; of those
 * of which the chunk has no rows nothing has changed.
 */
static void
mark_pages_cut_off(CachedChunk *chunk, uint32 word, uint64 pages)
{
	for (; pages != 0; pages &= pages - 1)
	{
		uint32		page = word * 64 + pg_rightmost_one_pos64(pages);

		if (chunk_page_has_rows(chunk, page))
			mark_page_dead(chunk, page);
		else
			pg_atomic_fetch_and_u64(&chunk->live[word], ~(UINT64CONST(1) << (page % 64)));
	}
}

/*
 * The first of the pages in a word, together: each waits for the translation of
 * its address, several at a time, but none beyond the next atomic instruction,
 * of which a proof has four.  Returns the others.
 */
static uint64
prefetch_pages(CachedChunk *chunk, uint32 word, uint64 pages)
{
	for (int i = 0; i < PREFETCH_PAGES && pages != 0; i++, pages &= pages - 1)
		chunk_prefetch_page(chunk, word * 64 + pg_rightmost_one_pos64(pages));
	return pages;
}

/* P2 and P4 for the pages in `pages`; those that pass are added to the proof. */
static void
prove_by_page_lsn(Relation rel, CachedChunk *chunk, const uint64 *pages,
				  BufferAccessStrategy strategy, Snapshot snapshot, ChunkProof *proof)
{
	bool		all_seen = snapshot == NULL || inserters_are_seen(&chunk->inserters, snapshot);

	for (uint32 word = 0; word < CHUNK_WORDS; word++)
	{
		uint64		rest = pages[word];
		uint64		ahead = prefetch_pages(chunk, word, rest);

		for (uint32 count = 0; rest != 0; count++)
		{
			uint32		bit = pg_rightmost_one_pos64(rest);

			rest &= rest - 1;
			if (count % PREFETCH_PAGES == 0)
				ahead = prefetch_pages(chunk, word, ahead);
			CHECK_FOR_INTERRUPTS();
			if (!page_is_unchanged(rel, chunk, word * 64 + bit, strategy))
				mark_page_dead(chunk, word * 64 + bit);
			else if (all_seen || chunk_page_is_seen(chunk, word * 64 + bit, snapshot))
				proof->proven[word] |= UINT64CONST(1) << bit;
		}
	}
}

/* After every live page passed P2 under `page`; true if the map proves the chunk from now on. */
static bool
renew_stamp(Relation rel, CachedChunk *chunk, uint64 old_stamp, const VmPage *page)
{
	VmPage		again;

	if (page->lsn == InvalidXLogRecPtr)
		return false;
	STOP_POINT("validate-before-stamp");
	vm_page_read(rel, chunk->number * CHUNK_PAGES, &again);
	return again.lsn == page->lsn &&
		pg_atomic_compare_exchange_u64(&chunk->vm_stamp, &old_stamp, page->lsn);
}

static uint32
count_bits(const uint64 *words)
{
	uint32		count = 0;

	for (uint32 word = 0; word < CHUNK_WORDS; word++)
		count += pg_popcount64(words[word]);
	return count;
}

/*
 * Proves pages by P1 and the others by P2 and P4. Pages found changed are dead from
 * then on. The chunk's stamp is renewed if it was old and the map's page has not
 * changed meanwhile.
 */
static void
chunk_prove(Relation rel, CachedChunk *chunk, BlockNumber nblocks, const VmPage *page,
			BufferAccessStrategy strategy, Snapshot snapshot, ChunkProof *proof)
{
	BlockNumber first_block = chunk->number * CHUNK_PAGES;
	uint32		pages_in_relation = nblocks > first_block ? nblocks - first_block : 0;
	uint64		stamp = pg_atomic_read_u64(&chunk->vm_stamp);
	bool		stamp_holds = stamp != InvalidXLogRecPtr && stamp == page->lsn;
	uint64		visible[CHUNK_WORDS];
	uint64		rest[CHUNK_WORDS];
	uint64		any_rest = 0;

	/* whoever renewed the stamp marked dead pages before: see these too */
	pg_read_barrier();
	vm_page_get_chunk(page, chunk->number, visible);
	proof->unproven_pages = chunk->cached_pages;
	proof->patched_pages = 0;
	proof->header_pages = 0;
	for (uint32 word = 0; word < CHUNK_WORDS; word++)
	{
		uint64		live = pg_atomic_read_u64(&chunk->live[word]);
		uint64		present = live & word_mask(word, pages_in_relation);

		if (present != live)
			mark_pages_cut_off(chunk, word, live & ~present);
		proof->proven[word] = stamp_holds ? present & visible[word] : 0;
		proof->patched[word] = 0;
		rest[word] = present & ~proof->proven[word];
		any_rest |= rest[word];
	}
	proof->cheap_pages = count_bits(proof->proven);
	if (any_rest != 0)
	{
		STOP_POINT("validate-before-page-lsn");
		proof->header_pages = count_bits(rest);
		prove_by_page_lsn(rel, chunk, rest, strategy, snapshot, proof);
	}
	proof->proven_pages = count_bits(proof->proven);
	proof->unproven_pages -= proof->proven_pages;
	if (!stamp_holds && any_rest != 0 && renew_stamp(rel, chunk, stamp, page))
	{
		for (uint32 word = 0; word < CHUNK_WORDS; word++)
			visible[word] &= proof->proven[word];
		proof->cheap_pages = count_bits(visible);
	}
}

static uint32
count_written(const CachedChunk *chunk, const ChunkProof *proof)
{
	uint32		count = 0;

	for (uint32 page = 0; page < chunk->pages; page++)
	{
		bool		is_proven = (proof->proven[page / 64] & (UINT64CONST(1) << (page % 64))) != 0;

		count += !is_proven && chunk_page_has_rows(chunk, page);
	}
	return count;
}

/*
 * A page that the chunk alone proves has none of the patch's rows: it was proven
 * in a later state than the patch's, whatever the patch's own proof says.
 */
static void
prove_patch(Relation rel, CachedChunk *patch, BlockNumber nblocks, const VmPage *page,
			BufferAccessStrategy strategy, Snapshot snapshot, ChunkProof *proof)
{
	ChunkProof	own;

	chunk_prove(rel, patch, nblocks, page, strategy, snapshot, &own);
	for (uint32 word = 0; word < CHUNK_WORDS; word++)
	{
		proof->patched[word] = own.proven[word] & ~proof->proven[word];
		proof->proven[word] |= proof->patched[word];
	}
	proof->patched_pages = count_bits(proof->patched);
	proof->proven_pages += proof->patched_pages;
	proof->unproven_pages -= proof->patched_pages;
	proof->cheap_pages += Min(own.cheap_pages, proof->patched_pages);
	proof->header_pages += own.header_pages;
}

void
chunk_prove_with_patch(Relation rel, CachedChunk *chunk, CachedChunk *patch, BlockNumber nblocks,
					   const VmPage *page, BufferAccessStrategy strategy, Snapshot snapshot, ChunkProof *proof)
{
	chunk_prove(rel, chunk, nblocks, page, strategy, snapshot, proof);
	if (patch != NULL)
		prove_patch(rel, patch, nblocks, page, strategy, snapshot, proof);
	proof->written_pages = proof->unproven_pages == 0 ? 0 : count_written(chunk, proof);
}

uint32
cost_of_rows(uint32 pages_by_row)
{
	return (pages_by_row + PAGES_BY_ROW_PER_HEAP_PAGE - 1) / PAGES_BY_ROW_PER_HEAP_PAGE;
}

void
chunk_note_proof(CachedChunk *chunk, const ChunkProof *proof, uint32 pages_by_row)
{
	directory_note_proof(chunk, proof->unproven_pages - pages_by_row + cost_of_rows(pages_by_row),
						 proof->proven_pages - proof->cheap_pages);
}

void
chunk_note_loss(CachedChunk *chunk, uint32 pages_from_heap, uint32 pages_by_row)
{
	uint32		lost = pages_from_heap + cost_of_rows(pages_by_row);
	uint64		never = 0;

	if (lost == 0)
		return;
	if (pg_atomic_read_u64(&chunk->stale_since) == 0)
		pg_atomic_compare_exchange_u64(&chunk->stale_since, &never, (uint64) GetCurrentTimestamp());
	/* far from an overflow, where nobody loads */
	if (pg_atomic_read_u32(&chunk->lost_pages) < PG_UINT32_MAX / 2)
		pg_atomic_fetch_add_u32(&chunk->lost_pages, lost);
}

uint32
proof_next_page(const uint64 *bits, uint32 from, uint32 limit, bool set)
{
	while (from < limit)
	{
		uint64		word = (set ? bits[from / 64] : ~bits[from / 64]) >> (from % 64);

		if (word != 0)
			return Min(from + pg_rightmost_one_pos64(word), limit);
		from = (from / 64 + 1) * 64;
	}
	return limit;
}

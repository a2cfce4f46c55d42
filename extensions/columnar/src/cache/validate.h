/*-------------------------------------------------------------------------
 *
 * validate.h
 *	  Which pages of a chunk are right for every snapshot taken before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_VALIDATE_H
#define PENUMBRA_VALIDATE_H

#include "postgres.h"

#include "cache/directory.h"
#include "storage/bufmgr.h"
#include "utils/snapshot.h"

/* A page of the visibility map at one moment. */
typedef struct VmPage
{
	BlockNumber map_block;		/* InvalidBlockNumber: none read yet */
	XLogRecPtr	lsn;			/* 0: the page does not exist, or was never logged */
	uint8		bits[VM_PAGE_BYTES + 16];	/* padded for 8-byte reads */
} VmPage;

/* What validation says of a chunk. */
typedef struct ChunkProof
{
	uint64		proven[CHUNK_WORDS];	/* pages whose cached rows are right */
	uint64		patched[CHUNK_WORDS];	/* of these, those whose other rows are the patch's */
	uint32		proven_pages;
	uint32		patched_pages;	/* of these, in patched */
	uint32		cheap_pages;	/* of these, proven by the map alone now or next time */
	uint32		unproven_pages; /* cached, but not proven */
	uint32		written_pages;	/* of these, with cached rows: P3 and patches may serve them */
	uint32		header_pages;	/* whose headers were read, of the patch too */
} ChunkProof;

/* Copies the map's page with the bits of `block`, bits and LSN together. */
extern void vm_page_read(Relation rel, BlockNumber block, VmPage *page);

/* The all-visible bits of a chunk, one per page; page must be the chunk's. */
extern void vm_page_get_chunk(const VmPage *page, uint32 chunk_number, uint64 *bits);

/*
 * Proves the chunk's pages by P1 and the others by P2 and P4, and renews its stamp.
 * Then the patch (or NULL) proves what it can of the pages that are left. Both are
 * pinned. `page` was read by vm_page_read() for the chunk; `nblocks` is the
 * relation's length, read after the snapshot and the pin. Pages found changed, or
 * past the end, are dead from then on. Without a snapshot pages are proven for all
 * snapshots to come.
 */
extern void chunk_prove_with_patch(Relation rel, CachedChunk *chunk, CachedChunk *patch, BlockNumber nblocks,
								   const VmPage *page, BufferAccessStrategy strategy, Snapshot snapshot,
								   ChunkProof *proof);

/* P2, of a pinned and share-locked page. */
extern bool chunk_page_is_unchanged(CachedChunk *chunk, uint32 page, Buffer buffer);

/* P4, of a page that P2 proves unchanged: whether the snapshot sees everybody who inserted its rows. */
extern bool chunk_page_is_seen(CachedChunk *chunk, uint32 page, Snapshot snapshot);

/* Of pages whose rows are proven one by one, in pages of the heap, rounded up. */
extern uint32 cost_of_rows(uint32 pages_by_row);
/* Tells the planner what was found; of the unproven pages so many can be proven row by row. */
extern void chunk_note_proof(CachedChunk *chunk, const ChunkProof *proof, uint32 pages_by_row);

/* Tells the loader what a scan had to do in place of the chunk. */
extern void chunk_note_loss(CachedChunk *chunk, uint32 pages_from_heap, uint32 pages_by_row);

/* Pins a page of a pinned chunk, without a look-up in the buffer table if it is where it was last. */
extern Buffer chunk_read_page(Relation rel, CachedChunk *chunk, uint32 page,
							  BufferAccessStrategy strategy);

/* Begins to fetch what its users look at first, where the page was last. */
extern void chunk_prefetch_page(CachedChunk *chunk, uint32 page);

/* The next page >= from, < limit with the given state; limit if none. */
extern uint32 proof_next_page(const uint64 *bits, uint32 from, uint32 limit, bool set);

#endif							/* PENUMBRA_VALIDATE_H */

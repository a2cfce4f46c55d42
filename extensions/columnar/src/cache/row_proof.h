/*-------------------------------------------------------------------------
 *
 * row_proof.h
 *	  P3: which cached rows of a page that was written since the load are
 *	  right, and which of them a snapshot sees.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ROW_PROOF_H
#define PENUMBRA_ROW_PROOF_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "utils/snapshot.h"

#include "cache/directory.h"
#include "cache/validate.h"

/* What a snapshot sees of a page; offsets ascend. */
typedef struct PageRows
{
	bool		is_settled;		/* every snapshot, also later ones, sees the same of the proven rows, and ... */
	bool		is_decided;		/* ... none of the others */
	uint32		cached_count;
	uint32		heap_count;
	uint16		cached[MaxHeapTuplesPerPage];	/* proven rows, counted from the page's first */
	OffsetNumber cached_offsets[MaxHeapTuplesPerPage];	/* where these are */
	OffsetNumber heap[MaxHeapTuplesPerPage];	/* where the others are */
} PageRows;

/* Rules of the relation and of the reader: 4, 5. */
extern bool row_proof_is_allowed(Relation rel, Snapshot snapshot);

/* Rules of the chunk: 1, and 6 where it was restored.  next_xid was read after it was pinned. */
extern bool row_proof_holds(Relation rel, const CachedChunk *chunk, FullTransactionId next_xid);

/*
 * What the snapshot sees of a page of such a chunk that the caller has
 * share-locked.  False: nothing can be said of its rows one by one.  Whether
 * the page is decided is asked with a horizon, below which no transaction is
 * considered running by a snapshot of the relation's database.
 */
extern bool row_proof_locked_page(Relation rel, Snapshot snapshot, TransactionId horizon,
								  CachedChunk *chunk, uint32 page, Buffer buffer, PageRows *rows);

/* The same of any page; one that is decided needs no more than P2 from then on. */
extern bool row_proof_page(Relation rel, Snapshot snapshot, TransactionId horizon,
						   CachedChunk *chunk, uint32 page, BufferAccessStrategy strategy,
						   PageRows *rows);

/*
 * The same for a patch: copies a page that is decided with rows->heap, which
 * every snapshot sees, to `image`, with its LSN; what is decided without them
 * needs no patch.  False: neither.
 */
extern bool row_proof_patch_page(Relation rel, Snapshot snapshot, TransactionId horizon,
								 CachedChunk *chunk, uint32 page, BufferAccessStrategy strategy,
								 PageRows *rows, char *image, XLogRecPtr *lsn);

#endif							/* PENUMBRA_ROW_PROOF_H */

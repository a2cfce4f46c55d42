/*-------------------------------------------------------------------------
 *
 * loader_internal.h
 *	  What the files of the loader share: the state of one load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LOADER_INTERNAL_H
#define PENUMBRA_LOADER_INTERNAL_H

#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "cache/chunk.h"
#include "cache/heap_page.h"
#include "cache/progress.h"
#include "cache/validate.h"
#include "pg_compat.h"

typedef struct Loader
{
	Relation	rel;
	const struct LoadOptions *options;
	CacheKey	key;
	BlockNumber nblocks;
	BufferAccessStrategy strategy;
	CompatPages pages;
	BlockNumber named_blocks;	/* up to there pages were asked for, some ahead of what was read */
	BlockNumber read_blocks;	/* behind the page that was read last */
	LoadProgress *progress;
	uint64		protected_serial;
	uint32		wishes;			/* for the current chunk: 0 where it has all columns, as what it replaces makes room */
	uint64		wanted_hash;	/* of the columns that are wanted */
	MemoryShortage shortage;
	LeftPages	left;			/* of the current chunk, where it is built */
	bool		serves_more;	/* than before the load: chunks or columns that were not there */
	char	   *image;			/* a page, aligned */
	PageInserters *inserters;	/* of each page of the draft */
	VmPage	   *vm_page;

	/* for the columns of the current chunk */
	ColumnKey  *columns;
	int			ncolumns;
	HeapRowReader *reader;
	PenumbraRows *rows;
	CachedChunk *draft;			/* backend memory */
	Size		draft_bytes;

	/* freed by release_loader() */
	void	   *encoded;		/* malloc'ed by the engine */
	CachedChunk *pinned;
	CachedChunk *patch;			/* pinned for a proof, or while rows are taken of it */
	CachedSegment *segments;	/* stored in the region, not published */
	int			segment_count;
	MemoryContextCallback callback;
} Loader;

/* ---- loader.c */

/*
 * Prepares reading the wanted columns into empty rows, with or without those
 * that the chunk, or NULL, has; gives their number.
 */
extern int	loader_set_columns(Loader *loader, const CachedChunk *chunk, bool with_cached);
extern void loader_clear_draft(Loader *loader, uint32 number);
extern void loader_unpin_patch(Loader *loader);
/* Encodes a column of rows to loader->encoded, which a later call frees, and fills in the rest of *segment. */
extern void loader_encode_column(Loader *loader, int column, CachedSegment *segment);

/* ---- loader_pages.c */

/* Reads the pages of a new version of a chunk into rows and the draft's header. */
extern void loader_read_pages(Loader *loader, uint32 number);
/* Reads the same rows as the chunk has; false when a page has changed. */
extern bool loader_read_pages_again(Loader *loader, CachedChunk *chunk);
/* Where both get pages from, for the loader's life; it ends with the memory context after an error. */
extern void loader_begin_pages(Loader *loader);
extern void loader_end_pages(Loader *loader);
/* Where the bits of the page's offsets begin, behind the draft. */
extern uint8 *loader_offset_bits(CachedChunk *draft, uint32 page);
/* Remembers at which offsets, ascending, the page's rows are; after those of the pages before it. */
extern void loader_note_offsets(CachedChunk *draft, uint32 page, const OffsetNumber *offsets, uint32 count);
/* The draft serves this page, which had this LSN. */
extern void loader_add_page(Loader *loader, uint32 page, XLogRecPtr lsn);

/* ---- loader_patch.c */

/*
 * Gives a pinned chunk a patch of all its columns, after its proof with the one
 * that it may have: that is replaced, or stays where no other can be made.
 */
extern bool loader_patch_chunk(Loader *loader, CachedChunk *chunk, const ChunkProof *proof);

#endif							/* PENUMBRA_LOADER_INTERNAL_H */

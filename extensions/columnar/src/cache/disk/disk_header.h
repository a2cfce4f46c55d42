/*-------------------------------------------------------------------------
 *
 * disk_header.h
 *	  A chunk's header as the disk cache saves it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_CACHE_HEADER_H
#define PENUMBRA_DISK_CACHE_HEADER_H

#include "postgres.h"

#include "cache/directory.h"
#include "cache/disk/disk_manifest.h"

/* What of a chunk is saved besides its segments; offsets' bits and dead rows follow. */
typedef struct SavedHeader
{
	uint64		vm_stamp;
	uint64		oldest_running;
	int64		loaded_at;
	uint32		pages;
	uint32		cached_pages;
	uint32		rows;
	uint32		column_count;
	uint32		decisions;
	uint32		unproven_pages;
	uint32		lsn_pages;
	uint32		offset_bit_bytes;
	uint32		has_reused_xids;
	uint32		unused;
	uint64		live[CHUNK_WORDS];
	uint64		page_lsn[CHUNK_PAGES];
	uint32		first_row[CHUNK_PAGES + 1];
	uint16		offset_bytes[CHUNK_PAGES + 1];
} SavedHeader;

#define SAVED_DEAD_ROWS_OFFSET(header) MAXALIGN(sizeof(SavedHeader) + (header)->offset_bit_bytes)
#define SAVED_BYTES(header) \
	(SAVED_DEAD_ROWS_OFFSET(header) + ((header)->rows + 63) / 64 * sizeof(uint64))

/* Of what may change in a header: another value is another state. */
extern uint64 disk_header_mark(CachedChunk *chunk);

/* Copies a pinned chunk's header to whole units, palloc'd. */
extern SavedHeader *disk_copy_header(CachedChunk *chunk);

/* Whether no later read of the header leaves it; that it is as it was written its checksum says. */
extern bool disk_header_is_sound(const SavedHeader *header, Size bytes);

/*
 * Makes a chunk of a sound header and its entry in the manifest, in region
 * memory, its segments on disk.  T8: transaction numbers from next_xid on may
 * be given again.  NULL: there is no memory.
 */
extern CachedChunk *disk_create_chunk(const SavedHeader *header, const ManifestChunk *entry,
									  const ManifestSegment *segments, uint64 next_xid);

#endif							/* PENUMBRA_DISK_CACHE_HEADER_H */

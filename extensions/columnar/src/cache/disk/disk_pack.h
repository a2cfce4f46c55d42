/*-------------------------------------------------------------------------
 *
 * disk_pack.h
 *	  Segments on disk packed by lz4, where that is worth while.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_PACK_H
#define PENUMBRA_DISK_PACK_H

#include "postgres.h"

/* What a packed segment of so many bytes takes at most. */
#define DISK_PACKED_BYTES_MAX(bytes) ((Size) ((bytes) * 0.6))

/*
 * Packs a segment of so many rows into memory of DISK_PACKED_BYTES_MAX(); its
 * size there, or 0: it would save too little, or take longer to unpack than the
 * disk to read what was saved.
 */
extern Size disk_pack(const void *segment, Size bytes, uint32 rows, void *packed);

/* False: that is not what was packed. */
extern bool disk_unpack(const void *packed, Size packed_bytes, void *segment, Size bytes);

#endif							/* PENUMBRA_DISK_PACK_H */

/*-------------------------------------------------------------------------
 *
 * disk_pack.c
 *	  Segments on disk packed by lz4, where that is worth while.
 *
 * Codes of dictionaries and small integers, where they shrink at all, unpack
 * more slowly than a disk reads them; texts and wide numbers faster.  How wide
 * values are tells them apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <lz4.h>

#include "cache/disk/disk_pack.h"

/* Of narrower values nothing is packed. */
#define PACKED_VALUE_BYTES_MIN	8

Size
disk_pack(const void *segment, Size bytes, uint32 rows, void *packed)
{
	if (bytes > LZ4_MAX_INPUT_SIZE || bytes / PACKED_VALUE_BYTES_MIN < rows)
		return 0;
	return (Size) LZ4_compress_default(segment, packed, (int) bytes, (int) DISK_PACKED_BYTES_MAX(bytes));
}

bool
disk_unpack(const void *packed, Size packed_bytes, void *segment, Size bytes)
{
	return packed_bytes <= LZ4_MAX_INPUT_SIZE && bytes <= LZ4_MAX_INPUT_SIZE &&
		LZ4_decompress_safe(packed, segment, (int) packed_bytes, (int) bytes) == (int) bytes;
}

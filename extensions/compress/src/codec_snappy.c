/*-------------------------------------------------------------------------
 *
 * codec_snappy.c
 *	  Snappy's raw format.  It has no function for slices.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include <snappy-c.h>

/* snappy_compress() wants room for the worst case. */
static void *
snappy_init(const CompressionOptions *options)
{
	return options->decompress ? NULL : palloc(snappy_max_compressed_length(64 * 1024));
}

static size_t
snappy_encode(void *state, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	size_t		bytes = snappy_max_compressed_length(64 * 1024);

	if (snappy_compress(raw, raw_bytes, state, &bytes) != SNAPPY_OK || bytes > out_bytes)
		return 0;
	memcpy(out, state, bytes);
	return bytes;
}

static bool
snappy_decode(void *state, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	size_t		bytes;

	if (snappy_uncompressed_length(in, in_bytes, &bytes) != SNAPPY_OK || bytes != raw_bytes)
		return false;
	return snappy_uncompress(in, in_bytes, raw, &bytes) == SNAPPY_OK && bytes == raw_bytes;
}

const CompressionRoutine snappy_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.cminitstate = snappy_init,
	.cmcompress = snappy_encode,
	.cmdecompress = snappy_decode,
};

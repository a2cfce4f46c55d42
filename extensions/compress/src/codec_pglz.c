/*-------------------------------------------------------------------------
 *
 * codec_pglz.c
 *	  pglz, the server's own.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include "common/pg_lzcompress.h"

/* cmcompress has less room than pglz_compress() wants, hence a buffer. */
static void *
pglz_init(const CompressionOptions *options)
{
	return options->decompress ? NULL : palloc(PGLZ_MAX_OUTPUT(64 * 1024));
}

static size_t
pglz_encode(void *state, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	int32		bytes = pglz_compress(raw, raw_bytes, state, PGLZ_strategy_always);

	if (bytes < 0 || bytes > out_bytes)
		return 0;
	memcpy(out, state, bytes);
	return bytes;
}

static bool
pglz_decode(void *state, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	return pglz_decompress(in, in_bytes, raw, raw_bytes, true) == (int32) raw_bytes;
}

static bool
pglz_decode_slice(void *state, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	return pglz_decompress(in, in_bytes, raw, slice_bytes, false) == (int32) slice_bytes;
}

const CompressionRoutine pglz_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.cminitstate = pglz_init,
	.cmcompress = pglz_encode,
	.cmdecompress = pglz_decode,
	.cmdecompress_slice = pglz_decode_slice,
};

/*-------------------------------------------------------------------------
 *
 * codec_brotli.c
 *	  Brotli streams (RFC 7932).  Its library has no contexts to keep.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include <brotli/decode.h>
#include <brotli/encode.h>

/* Blocks have at most 2^16 bytes: a larger window would only cost memory. */
#define WINDOW_BITS 16

static void *
brotli_init(const CompressionOptions *options)
{
	int		   *level = palloc(sizeof(int));

	*level = options->level;
	return level;
}

static size_t
brotli_encode(void *state, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	size_t		bytes = out_bytes;

	if (!BrotliEncoderCompress(*(int *) state, WINDOW_BITS, BROTLI_MODE_GENERIC, raw_bytes,
							   (const uint8_t *) raw, &bytes, (uint8_t *) out))
		return 0;
	return bytes;
}

static bool
brotli_decode(void *state, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	size_t		bytes = raw_bytes;

	return BrotliDecoderDecompress(in_bytes, (const uint8_t *) in, &bytes, (uint8_t *) raw) ==
		BROTLI_DECODER_RESULT_SUCCESS && bytes == raw_bytes;
}

static bool
brotli_decode_slice(void *state, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	BrotliDecoderState *decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	size_t		available_in = in_bytes;
	size_t		available_out = slice_bytes;
	const uint8_t *next_in = (const uint8_t *) in;
	uint8_t    *next_out = (uint8_t *) raw;

	if (decoder == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	BrotliDecoderDecompressStream(decoder, &available_in, &next_in, &available_out, &next_out,
								  NULL);
	BrotliDecoderDestroyInstance(decoder);
	return available_out == 0;
}

const CompressionRoutine brotli_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.min_level = 0,
	.max_level = 11,
	.default_level = 5,
	.cminitstate = brotli_init,
	.cmcompress = brotli_encode,
	.cmdecompress = brotli_decode,
	.cmdecompress_slice = brotli_decode_slice,
};

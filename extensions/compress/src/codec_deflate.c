/*-------------------------------------------------------------------------
 *
 * codec_deflate.c
 *	  zlib: a deflate stream (RFC 1951); the value's own hash does the work of
 *	  zlib's header and checksum, whose 6 bytes count in short values.
 *	  gzip: a gzip member (RFC 1952), for bytes that others will read.
 *
 *	  libdeflate compresses and decompresses whole blocks (4 and 2 times as
 *	  fast as zlib, at the same ratio); zlib reads slices.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include <libdeflate.h>
#include <zlib.h>

#include "utils/memutils.h"

typedef struct DeflateState
{
	struct libdeflate_compressor *compressor;
	struct libdeflate_decompressor *decompressor;
	z_stream	slices;
	bool		slices_ready;
	MemoryContextCallback reset;
} DeflateState;

static void
deflate_free(void *arg)
{
	DeflateState *state = arg;

	libdeflate_free_compressor(state->compressor);
	libdeflate_free_decompressor(state->decompressor);
	if (state->slices_ready)
		inflateEnd(&state->slices);
}

static void *
deflate_init(const CompressionOptions *options)
{
	DeflateState *state = palloc0(sizeof(DeflateState));

	state->reset.func = deflate_free;
	state->reset.arg = state;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &state->reset);
	if (options->decompress)
		state->decompressor = libdeflate_alloc_decompressor();
	else
		state->compressor = libdeflate_alloc_compressor(options->level);
	if (state->compressor == NULL && state->decompressor == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	return state;
}

static size_t
zlib_encode(void *arg, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	DeflateState *state = arg;

	return libdeflate_deflate_compress(state->compressor, raw, raw_bytes, out, out_bytes);
}

static size_t
gzip_encode(void *arg, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	DeflateState *state = arg;

	return libdeflate_gzip_compress(state->compressor, raw, raw_bytes, out, out_bytes);
}

static bool
zlib_decode(void *arg, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	DeflateState *state = arg;

	return libdeflate_deflate_decompress(state->decompressor, in, in_bytes, raw, raw_bytes,
										 NULL) == LIBDEFLATE_SUCCESS;
}

static bool
gzip_decode(void *arg, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	DeflateState *state = arg;

	return libdeflate_gzip_decompress(state->decompressor, in, in_bytes, raw, raw_bytes,
									  NULL) == LIBDEFLATE_SUCCESS;
}

/* Stops when the slice is full. The stream is kept and reset, so its window is allocated once per state. */
static bool
inflate_slice(DeflateState *state, int window_bits, const char *in, size_t in_bytes, char *raw,
			  size_t slice_bytes)
{
	z_stream   *stream = &state->slices;
	int			result;

	if (state->slices_ready)
		result = inflateReset(stream);
	else
		result = inflateInit2(stream, window_bits);
	if (result != Z_OK)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	state->slices_ready = true;

	stream->next_in = (Bytef *) in;
	stream->avail_in = in_bytes;
	stream->next_out = (Bytef *) raw;
	stream->avail_out = slice_bytes;
	while (stream->avail_out > 0)
	{
		result = inflate(stream, Z_SYNC_FLUSH);
		if (result != Z_OK)
			break;
	}
	return stream->avail_out == 0;
}

static bool
zlib_decode_slice(void *state, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	return inflate_slice(state, -MAX_WBITS, in, in_bytes, raw, slice_bytes);
}

static bool
gzip_decode_slice(void *state, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	return inflate_slice(state, 16 + MAX_WBITS, in, in_bytes, raw, slice_bytes);
}

#define DEFLATE_MEMBERS \
	.version = PENUMBRA_COMPRESSION_VERSION, \
	.size = sizeof(CompressionRoutine), \
	.min_level = 1, \
	.max_level = 12, \
	.default_level = 6, \
	.cminitstate = deflate_init

const CompressionRoutine zlib_routine = {
	DEFLATE_MEMBERS,
	.cmcompress = zlib_encode,
	.cmdecompress = zlib_decode,
	.cmdecompress_slice = zlib_decode_slice,
};

const CompressionRoutine gzip_routine = {
	DEFLATE_MEMBERS,
	.cmcompress = gzip_encode,
	.cmdecompress = gzip_decode,
	.cmdecompress_slice = gzip_decode_slice,
};

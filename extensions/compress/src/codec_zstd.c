/*-------------------------------------------------------------------------
 *
 * codec_zstd.c
 *	  Zstandard frames without magic number, checksum and dictionary id: the
 *	  header of the value says it all (4 to 12 bytes per value).
 *
 *	  The magic number is cut off and put back here, in a buffer.  zstd's own
 *	  "magicless" format would spare that copy, but its decompressor (1.5.4) reads
 *	  beyond an input of less than 4 bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "utils/memutils.h"

#define BLOCK_BYTES (64 * 1024)

static const unsigned char magic[4] = {0x28, 0xB5, 0x2F, 0xFD};

typedef struct ZstdState
{
	ZSTD_CCtx  *compressor;
	ZSTD_CDict *compressor_dictionary;
	ZSTD_DCtx  *decompressor;
	ZSTD_DDict *decompressor_dictionary;
	char	   *frame;			/* with the magic number */
	MemoryContextCallback reset;
} ZstdState;

static void
zstd_free(void *arg)
{
	ZstdState  *state = arg;

	ZSTD_freeCCtx(state->compressor);
	ZSTD_freeCDict(state->compressor_dictionary);
	ZSTD_freeDCtx(state->decompressor);
	ZSTD_freeDDict(state->decompressor_dictionary);
}

static void
zstd_require(size_t result)
{
	if (ZSTD_isError(result))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("zstd failed: %s", ZSTD_getErrorName(result))));
}

static void
init_compressor(ZstdState *state, const CompressionOptions *options)
{
	ZSTD_CCtx  *context = state->compressor = ZSTD_createCCtx();

	if (context == NULL)
		return;
	zstd_require(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, options->level));
	zstd_require(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0));
	zstd_require(ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0));
	if (options->dictionary == NULL)
		return;
	state->compressor_dictionary = ZSTD_createCDict(options->dictionary,
													options->dictionary_bytes, options->level);
	if (state->compressor_dictionary != NULL)
		zstd_require(ZSTD_CCtx_refCDict(context, state->compressor_dictionary));
}

static void
init_decompressor(ZstdState *state, const CompressionOptions *options)
{
	ZSTD_DCtx  *context = state->decompressor = ZSTD_createDCtx();

	if (context == NULL)
		return;
	if (options->dictionary == NULL)
		return;
	state->decompressor_dictionary = ZSTD_createDDict(options->dictionary,
													  options->dictionary_bytes);
	if (state->decompressor_dictionary != NULL)
		zstd_require(ZSTD_DCtx_refDDict(context, state->decompressor_dictionary));
}

static void *
zstd_init(const CompressionOptions *options)
{
	ZstdState  *state = palloc0(sizeof(ZstdState));

	state->frame = palloc(sizeof(magic) + BLOCK_BYTES);
	memcpy(state->frame, magic, sizeof(magic));
	state->reset.func = zstd_free;
	state->reset.arg = state;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &state->reset);
	if (options->decompress)
		init_decompressor(state, options);
	else
		init_compressor(state, options);
	if ((state->compressor == NULL && state->decompressor == NULL) ||
		(options->dictionary != NULL && state->compressor_dictionary == NULL &&
		 state->decompressor_dictionary == NULL))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	return state;
}

static size_t
zstd_encode(void *arg, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	ZstdState  *state = arg;
	size_t		bytes = ZSTD_compress2(state->compressor, state->frame, sizeof(magic) + out_bytes,
									   raw, raw_bytes);

	if (ZSTD_getErrorCode(bytes) == ZSTD_error_dstSize_tooSmall)
		return 0;
	zstd_require(bytes);
	bytes -= sizeof(magic);
	memcpy(out, state->frame + sizeof(magic), bytes);
	return bytes;
}

static bool
zstd_decode(void *arg, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	ZstdState  *state = arg;

	if (in_bytes > BLOCK_BYTES)
		return false;
	memcpy(state->frame + sizeof(magic), in, in_bytes);
	return ZSTD_decompressDCtx(state->decompressor, raw, raw_bytes, state->frame,
							   sizeof(magic) + in_bytes) == raw_bytes;
}

static bool
zstd_decode_slice(void *arg, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	ZstdState  *state = arg;
	ZSTD_inBuffer input = {in, in_bytes, 0};
	ZSTD_outBuffer output = {raw, slice_bytes, 0};

	ZSTD_inBuffer start = {magic, sizeof(magic), 0};

	ZSTD_DCtx_reset(state->decompressor, ZSTD_reset_session_only);
	if (ZSTD_isError(ZSTD_decompressStream(state->decompressor, &output, &start)))
		return false;
	while (output.pos < output.size)
	{
		size_t		before = output.pos + input.pos;
		size_t		result = ZSTD_decompressStream(state->decompressor, &output, &input);

		/* an error, or neither input nor output went on: the frame has no more */
		if (ZSTD_isError(result) || output.pos + input.pos == before)
			break;
	}
	return output.pos == output.size;
}

const CompressionRoutine zstd_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.min_level = -7,
	.max_level = 22,
	.default_level = 3,
	.takes_dictionary = true,
	.cminitstate = zstd_init,
	.cmcompress = zstd_encode,
	.cmdecompress = zstd_decode,
	.cmdecompress_slice = zstd_decode_slice,
};

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

/*
 * Levels 3 and 4 look for matches in two tables.  In short blocks with a
 * dictionary, where there is little to be found but in the dictionary, one table
 * finds nearly as much in 0.7 of the time: see README.md.
 */
#define SHORT_BLOCK_BYTES (4 * 1024)
#define FIRST_TWO_TABLE_LEVEL 3
#define LAST_TWO_TABLE_LEVEL 4

static const unsigned char magic[4] = {0x28, 0xB5, 0x2F, 0xFD};

typedef struct ZstdState
{
	ZSTD_CCtx  *compressor;
	ZSTD_CCtx  *short_compressor;	/* NULL: blocks of all lengths are compressed alike */
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
	ZSTD_freeCCtx(state->short_compressor);
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
set_parameter(ZSTD_CCtx *context, ZSTD_cParameter parameter, int value)
{
	zstd_require(ZSTD_CCtx_setParameter(context, parameter, value));
}

/* zstd digests the dictionary, with these parameters, at the first block. */
static void
init_compressor(ZSTD_CCtx **context, const CompressionOptions *options, bool one_table)
{
	*context = ZSTD_createCCtx();
	if (*context == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	set_parameter(*context, ZSTD_c_compressionLevel, options->level);
	set_parameter(*context, ZSTD_c_checksumFlag, 0);
	set_parameter(*context, ZSTD_c_dictIDFlag, 0);
	if (one_table)
	{
		set_parameter(*context, ZSTD_c_strategy, ZSTD_fast);
		set_parameter(*context, ZSTD_c_minMatch, 5);
	}
	if (options->dictionary != NULL)
		zstd_require(ZSTD_CCtx_loadDictionary(*context, options->dictionary,
											  options->dictionary_bytes));
}

static void
init_compressors(ZstdState *state, const CompressionOptions *options)
{
	init_compressor(&state->compressor, options, false);
	if (options->dictionary != NULL && options->level >= FIRST_TWO_TABLE_LEVEL &&
		options->level <= LAST_TWO_TABLE_LEVEL)
		init_compressor(&state->short_compressor, options, true);
}

static void
init_decompressor(ZstdState *state, const CompressionOptions *options)
{
	state->decompressor = ZSTD_createDCtx();
	if (options->dictionary != NULL)
		state->decompressor_dictionary = ZSTD_createDDict(options->dictionary,
														  options->dictionary_bytes);
	if (state->decompressor == NULL ||
		(options->dictionary != NULL && state->decompressor_dictionary == NULL))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	if (options->dictionary != NULL)
		zstd_require(ZSTD_DCtx_refDDict(state->decompressor, state->decompressor_dictionary));
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
		init_compressors(state, options);
	return state;
}

static size_t
zstd_encode(void *arg, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	ZstdState  *state = arg;
	ZSTD_CCtx  *compressor = state->short_compressor != NULL && raw_bytes <= SHORT_BLOCK_BYTES
		? state->short_compressor : state->compressor;
	size_t		bytes = ZSTD_compress2(compressor, state->frame, sizeof(magic) + out_bytes,
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

/*-------------------------------------------------------------------------
 *
 * codec_lz4.c
 *	  LZ4 blocks.  Level 1 is the fast compressor, 3 to 12 are the
 *	  high-compression one; 2 is 1.
 *
 *	  A dictionary is hashed once into a stream, which is copied (16 kB) for
 *	  every block: LZ4 changes the stream that it compresses with.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include <lz4.h>
#include <lz4hc.h>

#define LEVEL_HIGH 3

typedef struct Lz4State
{
	int			level;
	char	   *dictionary;		/* lz4 refers to it */
	int			dictionary_bytes;
	LZ4_stream_t *prepared;		/* with the dictionary */
	void	   *work;			/* LZ4_stream_t or LZ4_streamHC_t */
} Lz4State;

static void
lz4_check(const CompressionOptions *options)
{
	if (options->dictionary != NULL && options->level >= LEVEL_HIGH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("compression method \"lz4\" takes a dictionary up to level %d only",
						LEVEL_HIGH - 1)));
}

static void *
lz4_init(const CompressionOptions *options)
{
	Lz4State   *state = palloc0(sizeof(Lz4State));

	state->level = options->level;
	if (options->dictionary != NULL)
	{
		/* no offset reaches farther back */
		size_t		bytes = Min(options->dictionary_bytes, 64 * 1024);

		state->dictionary = palloc(bytes);
		state->dictionary_bytes = bytes;
		memcpy(state->dictionary,
			   (const char *) options->dictionary + options->dictionary_bytes - bytes, bytes);
	}
	if (options->decompress)
		return state;
	state->work = palloc(state->level >= LEVEL_HIGH ? sizeof(LZ4_streamHC_t) : sizeof(LZ4_stream_t));
	if (state->dictionary != NULL)
	{
		state->prepared = palloc(sizeof(LZ4_stream_t));
		LZ4_initStream(state->prepared, sizeof(LZ4_stream_t));
		LZ4_loadDict(state->prepared, state->dictionary, state->dictionary_bytes);
	}
	return state;
}

static size_t
lz4_encode(void *arg, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	Lz4State   *state = arg;

	if (state->prepared != NULL)
	{
		memcpy(state->work, state->prepared, sizeof(LZ4_stream_t));
		return LZ4_compress_fast_continue(state->work, raw, out, raw_bytes, out_bytes, 1);
	}
	if (state->level >= LEVEL_HIGH)
		return LZ4_compress_HC_extStateHC(state->work, raw, out, raw_bytes, out_bytes,
										  state->level);
	return LZ4_compress_fast_extState(state->work, raw, out, raw_bytes, out_bytes, 1);
}

static bool
lz4_decode(void *arg, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	Lz4State   *state = arg;

	return LZ4_decompress_safe_usingDict(in, raw, in_bytes, raw_bytes, state->dictionary,
										 state->dictionary_bytes) == (int) raw_bytes;
}

static bool
lz4_decode_slice(void *arg, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	Lz4State   *state = arg;

	return LZ4_decompress_safe_partial_usingDict(in, raw, in_bytes, slice_bytes, slice_bytes,
												 state->dictionary, state->dictionary_bytes) ==
		(int) slice_bytes;
}

const CompressionRoutine lz4_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.min_level = 1,
	.max_level = LZ4HC_CLEVEL_MAX,
	.default_level = 1,
	.takes_dictionary = true,
	.cmcheck = lz4_check,
	.cminitstate = lz4_init,
	.cmcompress = lz4_encode,
	.cmdecompress = lz4_decode,
	.cmdecompress_slice = lz4_decode_slice,
};

/*-------------------------------------------------------------------------
 *
 * codec_lz4.c
 *	  LZ4 blocks.  Level 1 is the fast compressor, 3 to 12 are the
 *	  high-compression one; 2 is 1.
 *
 *	  A dictionary is hashed once into a stream.  LZ4 changes the stream that it
 *	  compresses with, so that one refers to the prepared one, or is a copy of
 *	  it (16 kB) for every block where LZ4 is older than 1.10.
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
	bool		is_undefined;	/* work, after a block that did not fit */
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
		state->is_undefined = true;
	}
	return state;
}

static int
encode_with_dictionary(Lz4State *state, const char *raw, size_t raw_bytes, char *out,
					   size_t out_bytes)
{
	int			bytes;

#if LZ4_VERSION_NUMBER >= 11000
	if (state->is_undefined)
		LZ4_initStream(state->work, sizeof(LZ4_stream_t));
	else
		LZ4_resetStream_fast(state->work);
	LZ4_attach_dictionary(state->work, state->prepared);
#else
	memcpy(state->work, state->prepared, sizeof(LZ4_stream_t));
#endif
	bytes = LZ4_compress_fast_continue(state->work, raw, out, raw_bytes, out_bytes, 1);
	state->is_undefined = bytes == 0;
	return bytes;
}

static size_t
lz4_encode(void *arg, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	Lz4State   *state = arg;

	if (state->prepared != NULL)
		return encode_with_dictionary(state, raw, raw_bytes, out, out_bytes);
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

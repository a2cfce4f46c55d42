/*-------------------------------------------------------------------------
 *
 * example_method.c
 *	  Compression methods of another extension.  "rle": runs of a byte, as
 *	  pairs of length and byte.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "penumbra_compress.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(rle_handler);
PG_FUNCTION_INFO_V1(forgetful_handler);
PG_FUNCTION_INFO_V1(future_handler);

static size_t
rle_compress(void *state, const char *raw, size_t raw_bytes, char *out, size_t out_bytes)
{
	size_t		used = 0;

	for (size_t begin = 0; begin < raw_bytes;)
	{
		size_t		end = begin + 1;

		while (end < raw_bytes && raw[end] == raw[begin] && end - begin < 255)
			end++;
		if (used + 2 > out_bytes)
			return 0;
		out[used++] = end - begin;
		out[used++] = raw[begin];
		begin = end;
	}
	return used;
}

static bool
rle_decompress(void *state, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	size_t		used = 0;

	for (size_t i = 0; i + 1 < in_bytes; i += 2)
	{
		size_t		run = (unsigned char) in[i];

		if (run > raw_bytes - used)
			return false;
		memset(raw + used, in[i + 1], run);
		used += run;
	}
	return used == raw_bytes && in_bytes % 2 == 0;
}

static bool
rle_decompress_slice(void *state, const char *in, size_t in_bytes, char *raw, size_t slice_bytes)
{
	size_t		used = 0;

	for (size_t i = 0; i + 1 < in_bytes && used < slice_bytes; i += 2)
	{
		size_t		run = Min((unsigned char) in[i], slice_bytes - used);

		memset(raw + used, in[i + 1], run);
		used += run;
	}
	return used == slice_bytes;
}

/* Accepts what is cut off, and any length. */
static bool
forgetful_decompress(void *state, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	return rle_decompress_slice(state, in, in_bytes, raw, raw_bytes) || in_bytes > 0;
}

static const CompressionRoutine rle_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.cmcompress = rle_compress,
	.cmdecompress = rle_decompress,
	.cmdecompress_slice = rle_decompress_slice,
};

static const CompressionRoutine forgetful_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION,
	.size = sizeof(CompressionRoutine),
	.cmcompress = rle_compress,
	.cmdecompress = forgetful_decompress,
};

/* Of a version of the interface that is yet to come */
static const CompressionRoutine future_routine = {
	.version = PENUMBRA_COMPRESSION_VERSION + 1,
	.size = sizeof(CompressionRoutine),
	.cmcompress = rle_compress,
	.cmdecompress = rle_decompress,
};

Datum
rle_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&rle_routine);
}

Datum
forgetful_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&forgetful_routine);
}

Datum
future_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&future_routine);
}

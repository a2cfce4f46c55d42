/*-------------------------------------------------------------------------
 *
 * penumbra_compress.h
 *	  What the author of a compression method includes.
 *
 *	  A method is one CompressionRoutine, returned by a C function of an
 *	  extension that requires penumbra_compress:
 *
 *		CREATE FUNCTION my_handler(internal) RETURNS internal
 *			LANGUAGE C STRICT AS 'MODULE_PATHNAME';
 *		SELECT create_compression_method('mine', 'my_handler');
 *
 *	  check_compression_method('mine') runs the conformance kit on it.
 *
 *	  The callbacks see plain bytes, at most 64 kB at once (the block of a
 *	  value).  They must be deterministic: what they wrote once must be read
 *	  for ever, on every machine.  There may be several states at one time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COMPRESS_H
#define PENUMBRA_COMPRESS_H

#include "postgres.h"

#include "fmgr.h"

/* Goes up when a callback changes its meaning; members are only added, at the end. */
#define PENUMBRA_COMPRESSION_VERSION 1

/* Bounds of any method's levels: what a type modifier can hold. */
#define PENUMBRA_MIN_LEVEL (-16)
#define PENUMBRA_MAX_LEVEL 46

typedef struct CompressionOptions
{
	int			level;			/* between min_level and max_level */
	bool		decompress;		/* the state is for cmdecompress; level means nothing */
	const void *dictionary;		/* NULL: none; dead after the call */
	size_t		dictionary_bytes;
} CompressionOptions;

typedef struct CompressionRoutine
{
	uint32		version;		/* PENUMBRA_COMPRESSION_VERSION */
	uint32		size;			/* sizeof(CompressionRoutine) */

	/*
	 * All three 0: the method has no levels.  A default that changes makes
	 * compression_info() wrong about values of the old one.
	 */
	int			min_level;
	int			max_level;
	int			default_level;
	bool		takes_dictionary;

	/*
	 * Raises an error if the options cannot be combined; levels out of range
	 * and dictionaries that are not taken were refused before.  May be NULL.
	 */
	void		(*cmcheck) (const CompressionOptions *options);

	/*
	 * Makes what the other callbacks get as "state", in CurrentMemoryContext,
	 * which lives as long as the state: for what malloc() owns, register a
	 * reset callback there.  May be NULL; then the state is NULL.
	 */
	void	   *(*cminitstate) (const CompressionOptions *options);

	/*
	 * Compresses raw into out.  Returns the number of bytes, or 0 if they are
	 * more than out_bytes: the block is then stored as it is.  out_bytes is
	 * less than raw_bytes, which is not 0.
	 */
	size_t		(*cmcompress) (void *state, const char *raw, size_t raw_bytes,
							   char *out, size_t out_bytes);

	/*
	 * Decompresses in to exactly raw_bytes.  Returns false if that cannot be:
	 * bytes on disk may be damaged in any way.  Never reads or writes beyond
	 * the two buffers.
	 */
	bool		(*cmdecompress) (void *state, const char *in, size_t in_bytes,
								 char *raw, size_t raw_bytes);

	/*
	 * The same, for the first slice_bytes only.  May be NULL: then the whole
	 * block is decompressed.
	 */
	bool		(*cmdecompress_slice) (void *state, const char *in, size_t in_bytes,
									   char *raw, size_t slice_bytes);
} CompressionRoutine;

#endif							/* PENUMBRA_COMPRESS_H */

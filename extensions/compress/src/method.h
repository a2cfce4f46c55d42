/*-------------------------------------------------------------------------
 *
 * method.h
 *	  Compression methods: their ids and names, built-in ones and those of
 *	  other extensions, and the states that a backend keeps of them.
 *
 *	  An id stands in values and type modifiers, so it never changes.  That of
 *	  another extension's method follows from its name (or is given by that
 *	  extension's script), hence the same in every database, whatever the
 *	  order in which a dump is restored.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_METHOD_H
#define COMPRESS_METHOD_H

#include "penumbra_compress.h"

typedef enum BuiltinMethod
{
	METHOD_NONE = 0,
	METHOD_PGLZ = 1,
	METHOD_LZ4 = 2,
	METHOD_ZLIB = 3,
	METHOD_GZIP = 4,
	METHOD_ZSTD = 5,
	METHOD_SNAPPY = 6,
	METHOD_BROTLI = 7
} BuiltinMethod;

/* Below: built in, now or later. */
#define METHOD_ID_FIRST_CUSTOM 128

typedef struct CompressionMethod
{
	uint32		id;				/* key */
	char		name[NAMEDATALEN];
	const CompressionRoutine *routine;	/* NULL for "none" */
} CompressionMethod;

/* By id, which counts from 0. */
#define METHODS_BUILTIN (METHOD_BROTLI + 1)
extern const CompressionMethod builtin_methods[METHODS_BUILTIN];

/* codec_*.c */
extern const CompressionRoutine pglz_routine;
extern const CompressionRoutine lz4_routine;
extern const CompressionRoutine zlib_routine;
extern const CompressionRoutine gzip_routine;
extern const CompressionRoutine zstd_routine;
extern const CompressionRoutine snappy_routine;
extern const CompressionRoutine brotli_routine;

/*
 * By id: an error that names the method if its library is missing, or its
 * extension was dropped.  What is returned lives as long as the backend.
 */
extern const CompressionMethod *method_by_id(uint32 id);

/* By name: NULL if there is none. */
extern const CompressionMethod *method_by_name(const char *name);

/* Writes the name, or the number if nobody knows the method; never an error. */
extern void method_name(uint32 id, char name[NAMEDATALEN]);

/* The id of a name that is not one of a built-in method. */
extern uint32 method_custom_id(const char *name);

/* NULL for "none", and where method_by_id() would raise an error. */
extern const CompressionRoutine *method_available_routine(uint32 id);

static inline bool
routine_has_levels(const CompressionRoutine *routine)
{
	return routine != NULL && routine->min_level < routine->max_level;
}

static inline bool
method_has_levels(const CompressionMethod *method)
{
	return routine_has_levels(method->routine);
}

/*
 * The cached state for these options, made if need be; dictionary_id 0 is
 * none.  Valid until the next call.
 */
extern void *method_state(const CompressionMethod *method, int level, bool decompress,
						  uint32 dictionary_id);

#endif							/* COMPRESS_METHOD_H */

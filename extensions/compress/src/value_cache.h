/*-------------------------------------------------------------------------
 *
 * value_cache.h
 *	  The values that a backend decompressed last, so that several operators
 *	  on one value decompress it once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_VALUE_CACHE_H
#define COMPRESS_VALUE_CACHE_H

#include "postgres.h"

#include "fmgr.h"

/*
 * The decompressed value, with a full varlena header, aligned.  Read only;
 * valid until two other values were asked for, or as long as the current
 * memory context, which holds values that are too large to be kept.
 */
extern struct varlena *cached_value(Datum datum);

/* The server's function on the cached first argument. */
extern Datum call_on_cached(FunctionCallInfo fcinfo, PGFunction server_function);

/* Defines a function that is such a call. */
#define FUNCTION_ON_CACHED(name, server_function) \
	PENUMBRA_SQL_FUNCTION(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		return call_on_cached(fcinfo, server_function); \
	}

#endif							/* COMPRESS_VALUE_CACHE_H */

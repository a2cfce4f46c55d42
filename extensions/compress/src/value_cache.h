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

/*
 * The decompressed value, with a full varlena header, aligned.  Read only;
 * valid until two other values were asked for, at least.
 */
extern struct varlena *cached_value(Datum datum);

/* Defines a function that is the server's one on the cached first argument. */
#define FUNCTION_ON_CACHED(name, server_function) \
	PENUMBRA_SQL_FUNCTION(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		fcinfo->args[0].value = PointerGetDatum(cached_value(PG_GETARG_DATUM(0))); \
		return server_function(fcinfo); \
	}

#endif							/* COMPRESS_VALUE_CACHE_H */

/*-------------------------------------------------------------------------
 *
 * builtin_methods.c
 *	  The one list of the methods that the extension brings along.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "method.h"

const CompressionMethod builtin_methods[METHODS_BUILTIN] = {
	{METHOD_NONE, "none", NULL},
	{METHOD_PGLZ, "pglz", &pglz_routine},
	{METHOD_LZ4, "lz4", &lz4_routine},
	{METHOD_ZLIB, "zlib", &zlib_routine},
	{METHOD_GZIP, "gzip", &gzip_routine},
	{METHOD_ZSTD, "zstd", &zstd_routine},
	{METHOD_SNAPPY, "snappy", &snappy_routine},
	{METHOD_BROTLI, "brotli", &brotli_routine},
};

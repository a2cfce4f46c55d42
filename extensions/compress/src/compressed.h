/*-------------------------------------------------------------------------
 *
 * compressed.h
 *	  Making and reading compressed values.
 *
 *	  Whatever is wrong with the bytes of a value is an error (XX001), found
 *	  before anything is read or written beyond a buffer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_COMPRESSED_H
#define COMPRESS_COMPRESSED_H

#include "compress.h"
#include "pg_compat.h"

/* A value, or its beginning: then available is less than stored_bytes. */
typedef struct OpenValue
{
	ValueHeader header;
	const uint8 *bytes;
	Size		available;
	Size		stored_bytes;	/* of the whole value */
	Datum		datum;
} OpenValue;

/* Detoasts the whole value.  value_close() frees what that took. */
extern void value_open(Datum datum, OpenValue *value);

/* Reads no more than the first chunk of a value out of line. */
extern void value_open_header(Datum datum, OpenValue *value);

extern void value_close(OpenValue *value);

/* Of a complete value: writes its header.raw_bytes. */
extern void value_read(const OpenValue *value, char *raw);

/* Reads what it needs of the value: bytes from offset, both within the raw length. */
extern void value_read_slice(const OpenValue *value, uint32 offset, uint32 bytes, char *raw);

/* hash_raw() of the raw bytes, mostly without reading them. */
extern uint32 value_hash(const OpenValue *value);

/* In a varlena of the current memory context. */
extern struct varlena *value_decompress(Datum datum);

/* The same value in the method, level and dictionary of the typmod. */
extern Datum value_recompress(Datum datum, int32 typmod, bool is_text);

/* Of substring(value, start [, length]), counted from 0. */
extern void substring_bounds(FunctionCallInfo fcinfo, uint32 *begin, uint32 *end);

pg_noreturn extern void report_corruption(const char *detail);

#endif							/* COMPRESS_COMPRESSED_H */

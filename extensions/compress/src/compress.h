/*-------------------------------------------------------------------------
 *
 * compress.h
 *	  From raw bytes to values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_COMPRESS_H
#define COMPRESS_COMPRESS_H

#include "typmod.h"
#include "value.h"

/* The bytes as the typmod wants it.  is_text: count characters. */
extern struct varlena *value_compress(const char *raw, Size bytes, int32 typmod, bool is_text);

/* Whether value_compress() would give the value the method, level and dictionary that it has. */
extern bool value_has_target(const ValueHeader *header, const CompressionTarget *target);

#endif							/* COMPRESS_COMPRESS_H */

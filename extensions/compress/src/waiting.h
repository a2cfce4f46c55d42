/*-------------------------------------------------------------------------
 *
 * waiting.h
 *	  Values that wait to be compressed: expanded objects with the raw bytes,
 *	  which are compressed with the default method when they are flattened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_WAITING_H
#define COMPRESS_WAITING_H

#include "postgres.h"

extern Datum make_waiting_value(const char *raw, Size bytes, bool is_text);

/* Whether the value waits to be compressed; sets its raw bytes, which live as long. */
extern bool value_waits(Datum datum, const char **raw, Size *bytes);

/* Chooses the flat form: raw where a cast will compress it.  False if the value does not wait. */
extern bool waiting_value_flatten_as(Datum datum, bool raw);

/* A copy to read, of an expanded object: those of the three types are values that wait. */
extern struct varlena *waiting_value_stored_raw(Datum datum);

#endif							/* COMPRESS_WAITING_H */

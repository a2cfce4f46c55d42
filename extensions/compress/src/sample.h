/*-------------------------------------------------------------------------
 *
 * sample.h
 *	  Values of a column, as the bytes that a method would get.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_SAMPLE_H
#define COMPRESS_SAMPLE_H

#include "postgres.h"

/* A column whose values can be compressed: of a plain type or a compressed one. */
typedef struct SampledColumn
{
	Oid			relation;
	Oid			type;
	bool		is_compressed;
	char	   *relation_name;	/* qualified and quoted as needed */
	char	   *attribute_name; /* as it is */
	const char *compressed_type;	/* the name, without schema, of the type to use */
} SampledColumn;

/* One after another in "bytes", which ZDICT wants. */
typedef struct Sample
{
	char	   *bytes;
	size_t	   *value_bytes;	/* how many of each value */
	uint32		values;
	Size		total_bytes;
	Size		stored_bytes;	/* what the values take in the table now */
} Sample;

/* An error if the column does not exist or cannot be compressed. */
extern SampledColumn sample_column(Oid relation, const char *attribute);

/*
 * At most so many values, and bytes of them, from all over the table; the
 * same ones as long as the table does not change.  The caller's privileges
 * and policies decide what is seen.
 */
extern Sample sample_values(const SampledColumn *column, uint32 max_values, Size max_bytes);

#endif							/* COMPRESS_SAMPLE_H */

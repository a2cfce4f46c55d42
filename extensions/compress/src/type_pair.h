/*-------------------------------------------------------------------------
 *
 * type_pair.h
 *	  Which compressed type goes with which plain one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_TYPE_PAIR_H
#define COMPRESS_TYPE_PAIR_H

#include "postgres.h"

/*
 * The name of the compressed type of the schema that the type is, or that
 * holds the same values if the type is plain; NULL if it is neither.
 */
extern const char *compressed_type_name(Oid type, Oid schema, bool *is_plain);

#endif							/* COMPRESS_TYPE_PAIR_H */

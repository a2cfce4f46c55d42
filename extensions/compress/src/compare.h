/*-------------------------------------------------------------------------
 *
 * compare.h
 *	  Operands of comparisons: compressed or plain bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_COMPARE_H
#define COMPRESS_COMPARE_H

#include "compressed.h"

/* Whether the raw bytes are the same, decompressing only where the headers leave it open. */
extern bool compressed_equals_compressed(Datum left, Datum right);
extern bool compressed_equals_plain(Datum compressed, Datum plain);

/* Whether texts are equal only if their bytes are.  An error if there is no collation. */
extern bool is_deterministic(Oid collation);

/* Defines the six comparison operators and the btree function of a pair of operand types. */
#define COMPARISON_FUNCTIONS(prefix, compare, equal) \
	PENUMBRA_SQL_FUNCTION(prefix##_eq); \
	PENUMBRA_SQL_FUNCTION(prefix##_ne); \
	PENUMBRA_SQL_FUNCTION(prefix##_lt); \
	PENUMBRA_SQL_FUNCTION(prefix##_le); \
	PENUMBRA_SQL_FUNCTION(prefix##_gt); \
	PENUMBRA_SQL_FUNCTION(prefix##_ge); \
	PENUMBRA_SQL_FUNCTION(prefix##_cmp); \
	Datum prefix##_eq(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(equal(fcinfo)); } \
	Datum prefix##_ne(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(!equal(fcinfo)); } \
	Datum prefix##_lt(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(compare(fcinfo) < 0); } \
	Datum prefix##_le(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(compare(fcinfo) <= 0); } \
	Datum prefix##_gt(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(compare(fcinfo) > 0); } \
	Datum prefix##_ge(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(compare(fcinfo) >= 0); } \
	Datum prefix##_cmp(PG_FUNCTION_ARGS) { PG_RETURN_INT32(compare(fcinfo)); }

#endif							/* COMPRESS_COMPARE_H */

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

/*
 * Sorts and index builds free nothing between comparisons: each runs in a
 * memory context of its own, which is emptied at its end.  Nothing below a
 * comparison calls another one.
 */
extern MemoryContext comparison_begin(void);
extern void comparison_end(MemoryContext caller);

/* Defines an SQL function that is such a comparison. */
#define COMPARISON_FUNCTION(name, get_datum, type, expression) \
	PENUMBRA_SQL_FUNCTION(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		MemoryContext caller = comparison_begin(); \
		type		result = (expression); \
 \
		comparison_end(caller); \
		return get_datum(result); \
	}

/* Defines the six comparison operators and the btree function of a pair of operand types. */
#define COMPARISON_FUNCTIONS(prefix, compare, equal) \
	COMPARISON_FUNCTION(prefix##_eq, BoolGetDatum, bool, equal(fcinfo)) \
	COMPARISON_FUNCTION(prefix##_ne, BoolGetDatum, bool, !equal(fcinfo)) \
	COMPARISON_FUNCTION(prefix##_lt, BoolGetDatum, bool, compare(fcinfo) < 0) \
	COMPARISON_FUNCTION(prefix##_le, BoolGetDatum, bool, compare(fcinfo) <= 0) \
	COMPARISON_FUNCTION(prefix##_gt, BoolGetDatum, bool, compare(fcinfo) > 0) \
	COMPARISON_FUNCTION(prefix##_ge, BoolGetDatum, bool, compare(fcinfo) >= 0) \
	COMPARISON_FUNCTION(prefix##_cmp, Int32GetDatum, int32, compare(fcinfo))

#endif							/* COMPRESS_COMPARE_H */

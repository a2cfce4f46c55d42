/*-------------------------------------------------------------------------
 *
 * comparison.c
 *	  Order, equality, hashes, the smaller and the larger, on numbers as stored.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "common/hashfn.h"

#include "number.h"

/* -infinity, finite numbers, infinity, NaN */
static int
special_rank(const NumberView *number)
{
	switch (number->special)
	{
		case 0:
			return 0;
		case NUMBER_NEGATIVE_INFINITY:
			return -1;
		case NUMBER_POSITIVE_INFINITY:
			return 1;
		default:
			return 2;
	}
}

static int
compare_magnitudes(const NumberView *left, const NumberView *right)
{
	int			common = Min(left->ndigits, right->ndigits);

	if (left->ndigits == 0 || right->ndigits == 0)
		return (left->ndigits != 0) - (right->ndigits != 0);
	if (left->weight != right->weight)
		return left->weight > right->weight ? 1 : -1;
	for (int i = 0; i < common; i++)
	{
		int			difference = number_digit(left, i) - number_digit(right, i);

		if (difference != 0)
			return difference > 0 ? 1 : -1;
	}
	return (left->ndigits > common) - (right->ndigits > common);
}

static inline int
compare(Datum left_datum, Datum right_datum)
{
	NumberView	left;
	NumberView	right;
	int			order;

	number_view(left_datum, &left);
	number_view(right_datum, &right);
	if (unlikely((left.special | right.special) != 0))
		return special_rank(&left) - special_rank(&right);
	if (left.is_negative != right.is_negative)
		return left.is_negative ? -1 : 1;
	order = compare_magnitudes(&left, &right);
	return left.is_negative ? -order : order;
}

#define COMPARISON_FUNCTION(name, condition) \
PENUMBRA_SQL_FUNCTION(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	int			order = compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)); \
\
	PG_RETURN_BOOL(condition); \
}

COMPARISON_FUNCTION(penumbra_numeric_eq, order == 0)
COMPARISON_FUNCTION(penumbra_numeric_ne, order != 0)
COMPARISON_FUNCTION(penumbra_numeric_lt, order < 0)
COMPARISON_FUNCTION(penumbra_numeric_le, order <= 0)
COMPARISON_FUNCTION(penumbra_numeric_gt, order > 0)
COMPARISON_FUNCTION(penumbra_numeric_ge, order >= 0)

PENUMBRA_SQL_FUNCTION(penumbra_numeric_cmp);
Datum
penumbra_numeric_cmp(PG_FUNCTION_ARGS)
{
	int			order = compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));

	PG_RETURN_INT32((order > 0) - (order < 0));
}

/* Of equal numbers the server takes the second; they may differ in scale. */
static Datum
chosen_argument(FunctionCallInfo fcinfo, bool is_first)
{
	/* A value that stays for a whole aggregation must not be a pointer into a TOAST table. */
	return PointerGetDatum(PG_GETARG_VARLENA_PP(is_first ? 0 : 1));
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_smaller);
Datum
penumbra_numeric_smaller(PG_FUNCTION_ARGS)
{
	bool		is_first = compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) < 0;

	return chosen_argument(fcinfo, is_first);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_larger);
Datum
penumbra_numeric_larger(PG_FUNCTION_ARGS)
{
	bool		is_first = compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) > 0;

	return chosen_argument(fcinfo, is_first);
}

/* The server's hash_numeric(): hash indexes and hash partitions hold its values. */
PENUMBRA_SQL_FUNCTION(penumbra_hash_numeric);
Datum
penumbra_hash_numeric(PG_FUNCTION_ARGS)
{
	NumberView	number;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0)
		PG_RETURN_UINT32(0);
	if (number.ndigits == 0)
		PG_RETURN_UINT32(-1);
	return hash_any((const unsigned char *) number.digits, number.ndigits * sizeof(int16)) ^
		(Datum) number.weight;
}

PENUMBRA_SQL_FUNCTION(penumbra_hash_numeric_extended);
Datum
penumbra_hash_numeric_extended(PG_FUNCTION_ARGS)
{
	uint64		seed = PG_GETARG_INT64(1);
	NumberView	number;
	Datum		hash;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special != 0)
		PG_RETURN_UINT64(seed);
	if (number.ndigits == 0)
		PG_RETURN_UINT64(seed - 1);
	hash = hash_any_extended((const unsigned char *) number.digits,
							 number.ndigits * sizeof(int16), seed);
	PG_RETURN_UINT64(DatumGetUInt64(hash) ^ number.weight);
}

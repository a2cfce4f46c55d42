/*-------------------------------------------------------------------------
 *
 * conversion.c
 *	  Casts between numeric and integers, and to double precision.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "number.h"

/* A double holds every integer up to this, and every power of ten up to 10^22. */
#define EXACT_DOUBLE_MAX (UINT64CONST(1) << 53)

PENUMBRA_SQL_FUNCTION(penumbra_int2_numeric);
Datum
penumbra_int2_numeric(PG_FUNCTION_ARGS)
{
	return number_from_int64(PG_GETARG_INT16(0));
}

PENUMBRA_SQL_FUNCTION(penumbra_int4_numeric);
Datum
penumbra_int4_numeric(PG_FUNCTION_ARGS)
{
	return number_from_int64(PG_GETARG_INT32(0));
}

PENUMBRA_SQL_FUNCTION(penumbra_int8_numeric);
Datum
penumbra_int8_numeric(PG_FUNCTION_ARGS)
{
	return number_from_int64(PG_GETARG_INT64(0));
}

/*
 * Rounds half away from zero.  False for what is no finite number of a
 * magnitude below 10^16; the server then finds the answer, or the error.
 */
static bool
short_integer(Datum datum, int64 *integer)
{
	NumberView	number;
	int			integer_digits;
	int64		magnitude;

	number_view(datum, &number);
	if (number.special != 0 || number.weight >= 4)
		return false;
	integer_digits = Max(number.weight + 1, 0);
	magnitude = number_digits_as_uint64(&number, 0, Min(integer_digits, number.ndigits));
	for (int i = number.ndigits; i < integer_digits; i++)
		magnitude *= NUMBER_BASE;
	if (number.weight >= -1 && number.ndigits > integer_digits &&
		number_digit(&number, integer_digits) >= NUMBER_BASE / 2)
		magnitude++;
	*integer = number.is_negative ? -magnitude : magnitude;
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_int2);
Datum
penumbra_numeric_int2(PG_FUNCTION_ARGS)
{
	int64		integer;

	if (short_integer(PG_GETARG_DATUM(0), &integer) && integer == (int16) integer)
		PG_RETURN_INT16(integer);
	return SERVER_CALL1(numeric_int2);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_int4);
Datum
penumbra_numeric_int4(PG_FUNCTION_ARGS)
{
	int64		integer;

	if (short_integer(PG_GETARG_DATUM(0), &integer) && integer == (int32) integer)
		PG_RETURN_INT32(integer);
	return SERVER_CALL1(numeric_int4);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_int8);
Datum
penumbra_numeric_int8(PG_FUNCTION_ARGS)
{
	int64		integer;

	if (short_integer(PG_GETARG_DATUM(0), &integer))
		PG_RETURN_INT64(integer);
	return SERVER_CALL1(numeric_int8);
}

/*
 * The server prints the number and reads it as a double, which rounds once.  So
 * does one division or multiplication of two doubles that are both exact.
 */
PENUMBRA_SQL_FUNCTION(penumbra_numeric_float8);
Datum
penumbra_numeric_float8(PG_FUNCTION_ARGS)
{
	NumberView	number;

	number_view(PG_GETARG_DATUM(0), &number);
	if (number.special == 0 && number.ndigits <= 4)
	{
		uint64		coefficient = number_digits_as_uint64(&number, 0, number.ndigits);
		int			exponent = number_exponent(&number) * NUMBER_BASE_DIGITS;

		if (coefficient == 0)
			PG_RETURN_FLOAT8(0);
		if (coefficient <= EXACT_DOUBLE_MAX && abs(exponent) <= 16)
		{
			double		scale = number_powers_of_ten[abs(exponent)];
			double		value = number.is_negative ? -(double) coefficient : (double) coefficient;

			PG_RETURN_FLOAT8(exponent < 0 ? value / scale : value * scale);
		}
	}
	return SERVER_CALL1(numeric_float8);
}

/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  exp, ln, log, power, factorial.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include <math.h>

#include "long_call.h"
#include "long_exponential.h"

/* Powers with more decimals before the point may overflow the format, which the server is to find. */
#define POWER_DWEIGHT_MAX 131000

/* False if the result is the server's to compute. */
static bool
long_exponential(Datum datum, Datum *result)
{
	NumberView	number;
	LongNumber	operand;
	LongNumber	power;
	double		dweight;
	int			scale;

	number_view(datum, &number);
	if (number.special != 0 || number.ndigits == 0)
		return false;
	operand = long_operand(&number);
	dweight = long_to_double(&operand) * LOG10_E;

	/* A weight next to a whole number may not be what the server's double is; far ones overflow or are zero. */
	if (fabs(dweight) > NUMERIC_MAX_RESULT_SCALE ||
		(fabs(dweight) > 0.5 && fabs(dweight - rint(dweight)) < 1e-9))
		return false;
	scale = number_result_scale((int) dweight, number.dscale);
	if (scale < LONG_EXP_SCALE_MIN || !long_exp(&operand, &power, scale))
		return false;
	*result = long_encode(&power);
	return true;
}

static bool
long_logarithm(Datum datum, Datum *result)
{
	NumberView	number;
	LongNumber	operand;
	LongNumber	logarithm;
	int			scale;

	number_view(datum, &number);
	if (number.special != 0 || number.is_negative || number.ndigits == 0)
		return false;
	operand = long_operand(&number);
	scale = number_result_scale(long_ln_dweight(&operand), number.dscale);
	if (scale < LONG_LN_SCALE_MIN || !long_ln(&operand, &logarithm, scale))
		return false;
	*result = long_encode(&logarithm);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_exp);
Datum
penumbra_numeric_exp(PG_FUNCTION_ARGS)
{
	Datum		result;

	if (long_exponential(PG_GETARG_DATUM(0), &result))
		return result;
	return SERVER_CALL1(numeric_exp);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_ln);
Datum
penumbra_numeric_ln(PG_FUNCTION_ARGS)
{
	Datum		result;

	if (long_logarithm(PG_GETARG_DATUM(0), &result))
		return result;
	return SERVER_CALL1(numeric_ln);
}

/*
 * Returns false where the server has to compute the logarithm: for what raises an
 * error, for special values, and for results of few or too many digits.
 */
static bool
long_logarithm_to_base(Datum base_datum, Datum datum, Datum *result)
{
	NumberView	base_view;
	NumberView	view;
	LongNumber	base;
	LongNumber	number;
	LongNumber	logarithm;
	int			scale;

	number_view(base_datum, &base_view);
	number_view(datum, &view);
	if ((base_view.special | view.special) != 0 || base_view.is_negative || view.is_negative ||
		base_view.ndigits == 0 || view.ndigits == 0)
		return false;
	base = long_operand(&base_view);
	number = long_operand(&view);
	scale = number_result_scale(long_ln_dweight(&number) - long_ln_dweight(&base),
								Max(base_view.dscale, view.dscale));
	if (!long_log(&base, &number, &logarithm, scale))
		return false;
	*result = long_encode(&logarithm);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_log);
Datum
penumbra_numeric_log(PG_FUNCTION_ARGS)
{
	Datum		result;

	if (long_logarithm_to_base(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), &result))
		return result;
	return SERVER_CALL2(numeric_log);
}

/* Whether the server raises to that number by multiplications. */
static bool
view_is_int32(const NumberView *number, int32 *value)
{
	uint64		magnitude;

	if (number->ndigits > number->weight + 1 || number->weight > 2)
		return false;
	magnitude = number_coefficient(number) *
		number_power_of_base(number->weight + 1 - number->ndigits);
	if (magnitude > (uint64) PG_INT32_MAX + number->is_negative)
		return false;
	*value = number->is_negative ? (int32) -(int64) magnitude : (int32) magnitude;
	return true;
}

/* log10 |base ^ n| as the server estimates it, from the first four digits; its double decides about scales. */
static double
power_dweight(const NumberView *base, int32 n)
{
	double		leading = number_digit(base, 0);
	int			exponent = base->weight * NUMBER_BASE_DIGITS;

	for (int i = 1; i < Min(base->ndigits, 4); i++)
	{
		leading = leading * NUMBER_BASE + number_digit(base, i);
		exponent -= NUMBER_BASE_DIGITS;
	}
	return n * (log10(leading) + exponent);
}

/* A power that is exact with at most scale decimals. */
static bool
short_power(const NumberView *base, int32 n, int scale, Datum *result)
{
	int			decimals = number_minimal_scale(base);
	int			exponent = number_exponent(base);
	int64		power_decimals = (int64) decimals * n;
	uint128		factor;
	uint128		power = 1;

	if (n < 0 || base->ndigits > NUMBER_SHORT_DIGITS_MAX || power_decimals > scale ||
		(int64) Max(exponent, 0) * n > NUMBER_WEIGHT_MAX / 2)
		return false;
	factor = number_coefficient(base);
	if (exponent < 0)
		factor /= number_powers_of_ten[-exponent * NUMBER_BASE_DIGITS - decimals];
	for (uint32 left = n;;)
	{
		if ((left & 1) != 0 && __builtin_mul_overflow(power, factor, &power))
			return false;
		left >>= 1;
		if (left == 0)
			break;
		if (__builtin_mul_overflow(factor, factor, &factor))
			return false;
	}
	if (exponent < 0)
	{
		int			padding = -power_decimals & (NUMBER_BASE_DIGITS - 1);

		if (__builtin_mul_overflow(power, number_powers_of_ten[padding], &power))
			return false;
		exponent = -(power_decimals + padding) / NUMBER_BASE_DIGITS;
	}
	else
		exponent *= n;
	*result = number_encode_coefficient(base->is_negative && (n & 1) != 0, power, exponent, scale);
	return true;
}

/*
 * The scale is the server's, whose rule differs between versions. Returns false
 * where the server has to compute the power.
 */
static bool
integer_power(const NumberView *base, int32 n, int exponent_dscale, Datum *result)
{
	LongNumber	operand;
	LongNumber	power;
	double		dweight = power_dweight(base, n);
	int			scale;

	if (fabs(dweight) > POWER_DWEIGHT_MAX)
		return false;
	scale = COMPAT_INTEGER_POWER_SCALE_BY_RESULT
		? number_result_scale((int) dweight, Max(base->dscale, exponent_dscale))
		: number_result_scale(0, base->dscale);
	if (short_power(base, n, scale, result))
		return true;
	if ((n >= -1 && n <= 1) || (int) dweight + scale < LONG_INTEGER_POWER_DECIMALS_MIN)
		return false;
	operand = long_operand(base);
	if (!long_power_integer(&operand, n, &power, scale, dweight))
		return false;
	*result = long_encode(&power);
	return true;
}

/*
 * Returns false for 0, special values and whatever raises an error, and where this
 * code gains nothing: then the server computes the power.
 */
static bool
exponentiation(Datum base_datum, Datum exponent_datum, Datum *result)
{
	NumberView	base_view;
	NumberView	exponent_view;
	LongNumber	base;
	LongNumber	exponent;
	LongNumber	power;
	int32		n;

	number_view(base_datum, &base_view);
	number_view(exponent_datum, &exponent_view);
	if ((base_view.special | exponent_view.special) != 0 || base_view.ndigits == 0)
		return false;
	if (view_is_int32(&exponent_view, &n))
		return integer_power(&base_view, n, exponent_view.dscale, result);
	if (base_view.is_negative)
		return false;
	base = long_operand(&base_view);
	exponent = long_operand(&exponent_view);
	if (!long_power(&base, &exponent, &power))
		return false;
	*result = long_encode(&power);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_power);
Datum
penumbra_numeric_power(PG_FUNCTION_ARGS)
{
	Datum		result;

	if (exponentiation(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), &result))
		return result;
	return SERVER_CALL2(numeric_power);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_factorial);
Datum
penumbra_numeric_factorial(PG_FUNCTION_ARGS)
{
	int64		n = PG_GETARG_INT64(0);
	LongNumber	factorial;

	if (n >= 0 && n <= 20)
	{
		int64		product = 1;

		while (n > 1)
			product *= n--;
		return number_from_int64(product);
	}
	if (long_factorial(n, &factorial))
		return long_encode(&factorial);
	return SERVER_CALL1(numeric_fac);
}

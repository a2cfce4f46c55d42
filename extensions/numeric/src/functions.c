/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  exp, ln, factorial.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include <math.h>

#include "long_call.h"

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
	dweight = long_to_double(&operand) * 0.434294481903252;

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

PENUMBRA_SQL_FUNCTION(penumbra_numeric_factorial);
Datum
penumbra_numeric_factorial(PG_FUNCTION_ARGS)
{
	LongNumber	factorial;

	/* The server answers, or refuses, at once below and above. */
	if (PG_GETARG_INT64(0) > 20 && long_factorial(PG_GETARG_INT64(0), &factorial))
		return long_encode(&factorial);
	return SERVER_CALL1(numeric_fac);
}

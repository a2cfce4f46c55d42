/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  exp, ln, log, power, factorial.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "long_call.h"

PENUMBRA_SQL_FUNCTION(penumbra_numeric_exp);
Datum
penumbra_numeric_exp(PG_FUNCTION_ARGS)
{
	return SERVER_CALL1(numeric_exp);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_ln);
Datum
penumbra_numeric_ln(PG_FUNCTION_ARGS)
{
	return SERVER_CALL1(numeric_ln);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_log);
Datum
penumbra_numeric_log(PG_FUNCTION_ARGS)
{
	return SERVER_CALL2(numeric_log);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_log10);
Datum
penumbra_numeric_log10(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall2(numeric_log, number_from_int64(10), PG_GETARG_DATUM(0));
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_power);
Datum
penumbra_numeric_power(PG_FUNCTION_ARGS)
{
	return SERVER_CALL2(numeric_power);
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

/*-------------------------------------------------------------------------
 *
 * loop.c
 *	  Arguments and results that the loops have in common.
 *
 *-------------------------------------------------------------------------
 */
#include "loop.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "result_rows.h"

PENUMBRA_MODULE_MAGIC;

/* EXECUTE is revoked as well; this holds when somebody grants it. */
void
loop_check_superuser(void)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to run loops"),
				 errdetail("Only superusers may run statements and index lookups in loops.")));
}

int64
loop_get_executions(FunctionCallInfo fcinfo, int argument)
{
	int64		executions;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("number of executions must not be null")));
	executions = PG_GETARG_INT64(argument);
	if (executions <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of executions must be greater than zero")));
	return executions;
}

/* Returns at least one key, and none is NULL. A loop that has used all keys begins again with the first. */
LoopKeys
loop_get_keys(FunctionCallInfo fcinfo, int argument)
{
	ArrayType  *array;
	LoopKeys	keys;
	int16		length;
	bool		is_by_value;
	char		alignment;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("keys must not be null")));
	array = PG_GETARG_ARRAYTYPE_P(argument);
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("keys must not contain nulls")));
	keys.type = ARR_ELEMTYPE(array);
	get_typlenbyvalalign(keys.type, &length, &is_by_value, &alignment);
	deconstruct_array(array, keys.type, length, is_by_value, alignment, &keys.values, NULL,
					  &keys.count);
	if (keys.count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("keys must not be empty")));
	return keys;
}

Datum
loop_make_result(FunctionCallInfo fcinfo, const LoopResult *result)
{
	Datum		values[5];
	bool		nulls[5] = {false};

	values[0] = Int64GetDatum(result->executions);
	values[1] = Int64GetDatum(result->rows);
	values[2] = Int64GetDatum((int64) result->checksum);
	values[3] = Float8GetDatum(INSTR_TIME_GET_DOUBLE(result->duration) * 1e9 /
							   (double) result->executions);
	values[4] = BoolGetDatum(result->is_read_only);
	return make_row(fcinfo, values, nulls);
}

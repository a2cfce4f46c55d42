/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  SQL functions: sort, sort_desc, sort_unique, argsort, array_top.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include "catalog/pg_type.h"
#include "port/pg_bitutils.h"

#include "pg_compat.h"

PG_MODULE_MAGIC;

PENUMBRA_SQL_FUNCTION(penumbra_array_sort);
PENUMBRA_SQL_FUNCTION(penumbra_array_sort_desc);
PENUMBRA_SQL_FUNCTION(penumbra_array_sort_unique);
PENUMBRA_SQL_FUNCTION(penumbra_array_argsort);
PENUMBRA_SQL_FUNCTION(penumbra_array_top);

static int
count_values(ArrayType *array, int count)
{
	const bits8 *nulls = ARR_NULLBITMAP(array);
	int			values;

	if (nulls == NULL)
		return count;
	values = pg_popcount((const char *) nulls, count / 8);
	if (count % 8 != 0)
		values += pg_number_of_ones[nulls[count / 8] & ((1 << count % 8) - 1)];
	return values;
}

/* Detoasts the first argument. */
static inline SortInput
get_input(FunctionCallInfo fcinfo)
{
	Datum		argument = PG_GETARG_DATUM(0);
	SortInput	input;

	input.array = DatumGetArrayTypeP(argument);
	input.is_copy = input.array != (ArrayType *) DatumGetPointer(argument);
	if (unlikely(ARR_NDIM(input.array) > 1))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("sorting multidimensional arrays is not supported"),
				 errdetail("The array has %d dimensions.", ARR_NDIM(input.array)),
				 errhint("Use array(SELECT unnest(...)) to make an array of all elements.")));
	input.count = ARR_NDIM(input.array) == 0 ? 0 : ARR_DIMS(input.array)[0];
	input.value_count = count_values(input.array, input.count);
	return input;
}

static Datum
sort_array(FunctionCallInfo fcinfo, bool descending, bool unique)
{
	SortInput	input = get_input(fcinfo);
	SortRequest request = {descending, unique, -1};
	ElementType *type = look_up_element_type(fcinfo, ARR_ELEMTYPE(input.array), true);

	if (input.count < 2)
		PG_RETURN_ARRAYTYPE_P(input.array);
	if (ELEMENT_IS_FIXED_WIDTH(type))
		PG_RETURN_ARRAYTYPE_P(sort_fixed_width(type, &input, &request));
	PG_RETURN_ARRAYTYPE_P(sort_by_key(type, &input, &request));
}

Datum
penumbra_array_sort(PG_FUNCTION_ARGS)
{
	return sort_array(fcinfo, false, false);
}

Datum
penumbra_array_sort_desc(PG_FUNCTION_ARGS)
{
	return sort_array(fcinfo, true, false);
}

Datum
penumbra_array_sort_unique(PG_FUNCTION_ARGS)
{
	return sort_array(fcinfo, false, true);
}

Datum
penumbra_array_argsort(PG_FUNCTION_ARGS)
{
	SortInput	input = get_input(fcinfo);
	ElementType *type = look_up_element_type(fcinfo, ARR_ELEMTYPE(input.array), false);

	if (input.count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT4OID));
	PG_RETURN_ARRAYTYPE_P(subscripts_in_order(type, &input));
}

Datum
penumbra_array_top(PG_FUNCTION_ARGS)
{
	SortInput	input = get_input(fcinfo);
	int64		limit = PG_GETARG_INT32(1);
	ElementType *type = look_up_element_type(fcinfo, ARR_ELEMTYPE(input.array), true);
	SortRequest request = {true, false, limit};
	ArrayType  *result;

	if (limit < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of elements must not be negative")));
	if (limit == 0 || input.count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(ARR_ELEMTYPE(input.array)));
	if (!ELEMENT_IS_FIXED_WIDTH(type))
		result = sort_by_key(type, &input, &request);
	else if (limit <= input.value_count / 4)
		result = top_of_fixed_width(type, &input, limit);
	else
		result = sort_fixed_width(type, &input, &request);
	/* As a slice has it. */
	if (ARR_LBOUND(result)[0] != 1)
	{
		if (result == input.array && !input.is_copy)
			result = DatumGetArrayTypePCopy(PointerGetDatum(result));
		ARR_LBOUND(result)[0] = 1;
	}
	PG_RETURN_ARRAYTYPE_P(result);
}

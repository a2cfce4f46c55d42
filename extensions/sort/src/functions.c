/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  SQL functions: sort, sort_desc, sort_unique, argsort, sort_top.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include "catalog/pg_type.h"

#include "pg_compat.h"

PENUMBRA_MODULE_MAGIC;

PENUMBRA_SQL_FUNCTION(penumbra_array_sort);
PENUMBRA_SQL_FUNCTION(penumbra_array_sort_desc);
PENUMBRA_SQL_FUNCTION(penumbra_array_sort_unique);
PENUMBRA_SQL_FUNCTION(penumbra_array_argsort);
PENUMBRA_SQL_FUNCTION(penumbra_array_sort_top);

/* What was in order already is the argument itself, as it came. */
static Datum
return_array(FunctionCallInfo fcinfo, const SortInput *input, ArrayType *result)
{
	if (result == input->array && !input->is_copy)
		return PG_GETARG_DATUM(0);
	PG_RETURN_ARRAYTYPE_P(result);
}

static Datum
sort_array(FunctionCallInfo fcinfo, bool descending, bool unique)
{
	SortInput	input = get_input(PG_GETARG_DATUM(0));
	SortRequest request = {descending, unique, -1};
	ElementType *type = look_up_element_type(fcinfo, ARR_ELEMTYPE(input.array), true);

	if (input.count < 2)
		return return_array(fcinfo, &input, input.array);
	if (ELEMENT_IS_FIXED_WIDTH(type))
		return return_array(fcinfo, &input, sort_fixed_width(type, &input, &request));
	return return_array(fcinfo, &input, sort_by_key(type, &input, &request));
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
	SortInput	input = get_input(PG_GETARG_DATUM(0));
	ElementType *type = look_up_element_type(fcinfo, ARR_ELEMTYPE(input.array), false);

	if (input.count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT4OID));
	PG_RETURN_ARRAYTYPE_P(subscripts_in_order(type, &input));
}

Datum
penumbra_array_sort_top(PG_FUNCTION_ARGS)
{
	SortInput	input = get_input(PG_GETARG_DATUM(0));
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
	if (limit <= input.value_count / 4)
		result = ELEMENT_IS_FIXED_WIDTH(type) ? top_of_fixed_width(type, &input, limit)
			: top_by_key(type, &input, limit);
	else
		result = ELEMENT_IS_FIXED_WIDTH(type) ? sort_fixed_width(type, &input, &request)
			: sort_by_key(type, &input, &request);
	/* As a slice has it. */
	if (ARR_LBOUND(result)[0] != 1)
	{
		if (result == input.array && !input.is_copy)
			result = DatumGetArrayTypePCopy(PointerGetDatum(result));
		ARR_LBOUND(result)[0] = 1;
	}
	return return_array(fcinfo, &input, result);
}

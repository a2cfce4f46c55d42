/*-------------------------------------------------------------------------
 *
 * result.c
 *	  Arrays to return: one-dimensional, nulls last.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include "utils/memutils.h"

/* Of the input's type, with the input's lower bound.  Data is for the caller to fill. */
ArrayType *
alloc_result(const SortInput *input, int count, int value_count, int64 data_bytes)
{
	bool		has_nulls = value_count < count;
	int64		bytes = data_bytes + (has_nulls ? ARR_OVERHEAD_WITHNULLS(1, count)
									  : ARR_OVERHEAD_NONULLS(1));
	ArrayType  *result;

	if (count == 0)
		return construct_empty_array(ARR_ELEMTYPE(input->array));
	if (!AllocSizeIsValid(bytes))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array size exceeds the maximum allowed (%d)", (int) MaxAllocSize)));
	result = alloc_in_pieces(bytes);
	memset(result, 0, has_nulls ? ARR_OVERHEAD_WITHNULLS(1, count) : ARR_OVERHEAD_NONULLS(1));
	SET_VARSIZE(result, bytes);
	result->ndim = 1;
	result->dataoffset = has_nulls ? ARR_OVERHEAD_WITHNULLS(1, count) : 0;
	result->elemtype = ARR_ELEMTYPE(input->array);
	ARR_DIMS(result)[0] = count;
	ARR_LBOUND(result)[0] = ARR_LBOUND(input->array)[0];
	mark_nulls_last(result, count, value_count);
	return result;
}

/* An array without a bitmap has no nulls. */
void
mark_nulls_last(ArrayType *result, int count, int value_count)
{
	uint8	   *bitmap = ARR_NULLBITMAP(result);

	if (bitmap == NULL)
		return;
	memset(bitmap, 0, (count + 7) / 8);
	memset(bitmap, 0xff, value_count / 8);
	if (value_count % 8 != 0)
		bitmap[value_count / 8] = (1 << value_count % 8) - 1;
}

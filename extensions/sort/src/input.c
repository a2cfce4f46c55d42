/*-------------------------------------------------------------------------
 *
 * input.c
 *	  Arrays to be sorted, from the forms in which they are passed.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include "access/tupmacs.h"
#include "port/pg_bitutils.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "pg_compat.h"

static int
count_values(ArrayType *array, int count)
{
	const uint8 *nulls = ARR_NULLBITMAP(array);
	int			values;

	if (nulls == NULL)
		return count;
	values = pg_popcount((const char *) nulls, count / 8);
	if (count % 8 != 0)
		values += pg_number_of_ones[nulls[count / 8] & ((1 << count % 8) - 1)];
	return values;
}

/*
 * The flat form of an expanded array that has its elements apart.  The server's function for it does not look at
 * interrupts.
 */
static ArrayType *
flatten_elements(const ExpandedArrayHeader *expanded)
{
	int			count = expanded->nelems;
	bool		has_nulls = false;
	int64		header_bytes;
	int64		bytes = 0;
	ArrayType  *array;
	uint8	   *bitmap;
	char	   *to;

	for (int64 i = 0; i < count; i++)
	{
		CHECK_IN_LOOP(i);
		if (expanded->dnulls != NULL && expanded->dnulls[i])
		{
			has_nulls = true;
			continue;
		}
		bytes = att_addlength_datum(bytes, expanded->typlen, expanded->dvalues[i]);
		bytes = att_align_nominal(bytes, expanded->typalign);
	}
	header_bytes = has_nulls ? ARR_OVERHEAD_WITHNULLS(1, count) : ARR_OVERHEAD_NONULLS(1);
	bytes += header_bytes;
	if (!AllocSizeIsValid(bytes))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array size exceeds the maximum allowed (%d)", (int) MaxAllocSize)));
	array = alloc_in_pieces(bytes);
	memset(array, 0, header_bytes);
	SET_VARSIZE(array, bytes);
	array->ndim = 1;
	array->dataoffset = has_nulls ? header_bytes : 0;
	array->elemtype = expanded->element_type;
	ARR_DIMS(array)[0] = expanded->dims[0];
	ARR_LBOUND(array)[0] = expanded->lbound[0];
	bitmap = ARR_NULLBITMAP(array);
	to = ARR_DATA_PTR(array);
	for (int64 i = 0; i < count; i++)
	{
		Datum		value = expanded->dvalues[i];
		int64		length;

		CHECK_IN_LOOP(i);
		if (has_nulls && expanded->dnulls[i])
			continue;
		if (has_nulls)
			bitmap[i / 8] |= 1 << i % 8;
		length = att_addlength_datum(0, expanded->typlen, value);
		if (expanded->typbyval)
			store_att_byval(to, value, expanded->typlen);
		else
			memcpy(to, DatumGetPointer(value), length);
		memset(to + length, 0, att_align_nominal(length, expanded->typalign) - length);
		to += att_align_nominal(length, expanded->typalign);
	}
	return array;
}

/* An expanded array may have a flat form, which is read where it is. */
static void
get_expanded(Datum argument, SortInput *input)
{
	ExpandedArrayHeader *expanded = (ExpandedArrayHeader *) DatumGetEOHP(argument);

	Assert(expanded->ea_magic == EA_MAGIC);
	input->is_copy = expanded->fvalue == NULL;
	if (!input->is_copy)
		input->array = expanded->fvalue;
	else if (expanded->ndims == 1 && expanded->nelems > LOOP_PIECE)
		input->array = flatten_elements(expanded);
	else
		input->array = DatumGetArrayTypeP(argument);
}

SortInput
get_input(Datum argument)
{
	SortInput	input;

	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(argument)))
		get_expanded(argument, &input);
	else
	{
		input.array = DatumGetArrayTypeP(argument);
		input.is_copy = input.array != (ArrayType *) DatumGetPointer(argument);
	}
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

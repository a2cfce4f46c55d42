/*-------------------------------------------------------------------------
 *
 * fixed_width.c
 *	  Arrays of values that are keys of the kernels: their data is sorted as
 *	  it stands, in the only copy that is made.
 *
 *	  The data of an array is its values without the nulls, one after the
 *	  other, so nulls are a matter of the bitmap alone.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

/* Fewer are sorted as fast as their order is looked at. */
#define ORDER_CHECK_MIN 64

/* Returns how many are no NaNs; those stand behind. */
int64
encode_floats(PenumbraKeyKind kind, void *values, int64 count)
{
	size_t		next = 0;
	size_t		end = count;

	while (next < end)
	{
		if (kind == PENUMBRA_KEY_INT32)
			penumbra_encode_float4(values, &next, &end, LOOP_PIECE);
		else
			penumbra_encode_float8(values, &next, &end, LOOP_PIECE);
		CHECK_FOR_INTERRUPTS();
	}
	return end;
}

void
decode_floats(PenumbraKeyKind kind, void *keys, int64 count)
{
	for (int64 begin = 0; begin < count; begin += LOOP_PIECE)
	{
		int64		piece = Min(count - begin, LOOP_PIECE);

		if (kind == PENUMBRA_KEY_INT32)
			penumbra_decode_float4((int32_t *) keys + begin, piece);
		else
			penumbra_decode_float8((int64_t *) keys + begin, piece);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Of sorted keys; returns how many stay. */
static int64
drop_equal_keys(PenumbraKeyKind kind, char *keys, int64 count)
{
	int64		width = key_width(kind);
	int64		kept = 0;

	for (int64 begin = 0; begin < count; begin += LOOP_PIECE)
	{
		int64		piece = Min(count - begin, LOOP_PIECE);
		int64		last = kept > 0 ? kept - 1 : 0; /* the piece follows the last that was kept */

		memmove(keys + kept * width, keys + begin * width, piece * width);
		kept = last + penumbra_drop_equal_keys(kind, keys + last * width, kept + piece - last);
		CHECK_FOR_INTERRUPTS();
	}
	return kept;
}

/* The keys of -0 and 0 are neighbours, but the numbers equal: the second goes. */
static int64
drop_second_zero(PenumbraKeyKind kind, char *keys, int64 count, bool descending)
{
	int64		width = key_width(kind);
	int64		first = descending ? 0 : -1;
	int64		low = 0;
	int64		high = count;

#define KEY_AT(i) (width == 4 ? (int64) ((int32 *) keys)[i] : ((int64 *) keys)[i])
	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (descending ? KEY_AT(middle) > first : KEY_AT(middle) < first)
			low = middle + 1;
		else
			high = middle;
	}
	if (low + 1 >= count || KEY_AT(low) != first || KEY_AT(low + 1) != -1 - first)
		return count;
#undef KEY_AT
	memmove(keys + (low + 1) * width, keys + (low + 2) * width, (count - low - 2) * width);
	return count - 1;
}

/* Sorts integer keys, which may stand in data already. */
static void
sort_keys(PenumbraKeyKind kind, const char *keys, int64 count, bool descending, char *data)
{
	if (keys == data)
		sort_keys_in_place(kind, data, count, descending);
	else if (keys_fit_one_call(kind, count))
	{
		memcpy(data, keys, count * key_width(kind));
		penumbra_sort_keys(kind, data, count, descending);
	}
	else
		sort_keys_into(kind, keys, count, descending, data);
}

/* The header of the input, and its values where whole says so. */
static ArrayType *
copy_array(const SortInput *input, bool whole)
{
	ArrayType  *result;
	int64		header_bytes = ARR_DATA_PTR(input->array) - (char *) input->array;

	if (input->is_copy)
		return input->array;
	result = alloc_in_pieces(VARSIZE(input->array));
	memcpy(result, input->array, header_bytes);
	if (whole)
		copy_in_pieces(ARR_DATA_PTR(result), ARR_DATA_PTR(input->array),
					VARSIZE(input->array) - header_bytes);
	return result;
}

/* NaNs are the greatest; they stand behind the sorted numbers. */
static void
move_nans_first(PenumbraKeyKind kind, char *values, int64 numbers, int64 nans)
{
	int64		width = key_width(kind);
	char	   *saved;

	if (nans == 0 || numbers == 0)
		return;
	saved = MemoryContextAllocHuge(CurrentMemoryContext, nans * width);
	memcpy(saved, values + numbers * width, nans * width);
	memmove(values + nans * width, values, numbers * width);
	memcpy(values, saved, nans * width);
	pfree(saved);
}

static ArrayType *
sort_integers(const ElementType *type, const SortInput *input, bool descending)
{
	const char *values = ARR_DATA_PTR(input->array);
	bool		nulls_stay = input->value_count == input->count;
	ArrayType  *result;

	if (input->value_count >= ORDER_CHECK_MIN)
	{
		if (keys_are_ordered(type->kind, values, input->value_count, descending))
			return nulls_stay ? input->array : copy_array(input, true);
		if (keys_are_ordered(type->kind, values, input->value_count, !descending))
		{
			result = copy_array(input, true);
			reverse_keys(type->kind, ARR_DATA_PTR(result), input->value_count);
			return result;
		}
	}
	result = copy_array(input, false);
	sort_keys(type->kind, values, input->value_count, descending, ARR_DATA_PTR(result));
	return result;
}

static void
order_keys(PenumbraKeyKind kind, void *keys, int64 count, bool descending)
{
	if (keys_are_ordered(kind, keys, count, descending))
		return;
	if (keys_are_ordered(kind, keys, count, !descending))
		reverse_keys(kind, keys, count);
	else
		sort_keys_in_place(kind, keys, count, descending);
}

/* *values becomes the number of different ones, where only these are wanted. */
static ArrayType *
sort_floats(const ElementType *type, const SortInput *input, const SortRequest *request,
			int64 *values)
{
	ArrayType  *result = copy_array(input, true);
	int64		numbers = encode_floats(type->kind, ARR_DATA_PTR(result), input->value_count);
	int64		nans = input->value_count - numbers;
	char	   *data = ARR_DATA_PTR(result);

	order_keys(type->kind, data, numbers, request->descending);
	if (request->unique)
	{
		int64		kept = drop_equal_keys(type->kind, data, numbers);
		int64		width = key_width(type->kind);

		kept = drop_second_zero(type->kind, data, kept, request->descending);
		if (nans > 0)
			memcpy(data + kept * width, data + numbers * width, width);
		nans = Min(nans, 1);
		numbers = kept;
	}
	decode_floats(type->kind, data, numbers);
	if (request->descending)
		move_nans_first(type->kind, data, numbers, nans);
	*values = numbers + nans;
	return result;
}

/* Keys are encoded and decoded in pieces, between which the query can be cancelled. */
static ArrayType *
sort_bytes16(const ElementType *type, const SortInput *input, const SortRequest *request,
			 int64 *values)
{
	ArrayType  *result = copy_array(input, false);
	const char *from = ARR_DATA_PTR(input->array);
	char	   *to = ARR_DATA_PTR(result);
	int64		count = input->value_count;
	PenumbraWideKey *keys = alloc_keys(type->kind, count);

	for (int64 i = 0; i < count; i += LOOP_PIECE)
	{
		penumbra_encode_bytes16(from + 16 * i, Min(count - i, LOOP_PIECE), keys + i);
		CHECK_FOR_INTERRUPTS();
	}
	order_keys(type->kind, keys, count, request->descending);
	if (request->unique)
		*values = count = drop_equal_keys(type->kind, (char *) keys, count);
	for (int64 i = 0; i < count; i += LOOP_PIECE)
	{
		penumbra_decode_bytes16(keys + i, Min(count - i, LOOP_PIECE), to + 16 * i);
		CHECK_FOR_INTERRUPTS();
	}
	free_keys(keys);
	return result;
}

/* Cuts values and nulls off the end of an array, which becomes one without a bitmap if it can. */
static ArrayType *
shorten(const SortInput *input, ArrayType *sorted, int64 width, int count, int value_count)
{
	ArrayType  *result = alloc_result(input, count, value_count, value_count * width);

	copy_in_pieces(ARR_DATA_PTR(result), ARR_DATA_PTR(sorted), value_count * width);
	if (sorted != input->array)
		pfree(sorted);
	return result;
}

ArrayType *
sort_fixed_width(const ElementType *type, const SortInput *input, const SortRequest *request)
{
	int64		values = input->value_count;
	int			nulls = input->count - input->value_count;
	int64		count;
	ArrayType  *result;

	switch (type->order)
	{
		case ORDER_FLOAT:
			result = sort_floats(type, input, request, &values);
			break;
		case ORDER_BYTES16:
			result = sort_bytes16(type, input, request, &values);
			break;
		default:
			result = sort_integers(type, input, request->descending);
			break;
	}
	if (nulls > 0)
		mark_nulls_last(result, input->count, input->value_count);
	if (request->unique)
	{
		if (type->order == ORDER_INTEGER)
		{
			/* What was in order already is still the caller's. */
			if (result == input->array && !input->is_copy)
			{
				result = alloc_in_pieces(VARSIZE(input->array));
				copy_in_pieces((char *) result, (char *) input->array, VARSIZE(input->array));
			}
			values = drop_equal_keys(type->kind, ARR_DATA_PTR(result), values);
		}
		nulls = Min(nulls, 1);
	}
	count = values + nulls;
	if (request->limit >= 0)
	{
		count = Min(count, request->limit);
		values = Min(values, request->limit);
	}
	if (count < input->count)
		return shorten(input, result, key_width(type->kind), count, values);
	return result;
}

/* Encodes a piece of the array's values; returns how many are no NaNs. */
static int64
encode_piece(const ElementType *type, const char *values, int64 count, char *keys)
{
	if (type->order == ORDER_BYTES16)
	{
		penumbra_encode_bytes16(values, count, (PenumbraWideKey *) keys);
		return count;
	}
	memcpy(keys, values, count * key_width(type->kind));
	return type->order == ORDER_FLOAT ? encode_floats(type->kind, keys, count) : count;
}

/*
 * The greatest `limit` values, greatest first, without a copy of the others:
 * whenever the buffer is full it is sorted and cut, and what is not greater
 * than the least of those kept is not put into it any more.
 */
ArrayType *
top_of_fixed_width(const ElementType *type, const SortInput *input, int64 limit)
{
	int64		width = key_width(type->kind);
	int64		capacity = limit + Max(limit, TOP_SLACK);
	char	   *kept = alloc_keys(type->kind, capacity + TOP_SLACK);
	char	   *piece = alloc_keys(type->kind, TOP_SLACK);
	char	   *nans = alloc_keys(type->kind, limit);
	int64		kept_count = 0;
	int64		nan_count = 0;
	bool		is_bounded = false;
	int64		values;
	int64		count;
	ArrayType  *result;
	char	   *data;

	for (int64 begin = 0; begin < input->value_count; begin += TOP_SLACK)
	{
		int64		piece_count = Min(input->value_count - begin, TOP_SLACK);
		int64		numbers = encode_piece(type, ARR_DATA_PTR(input->array) + begin * width,
										   piece_count, piece);
		int64		piece_nans = Min(piece_count - numbers, limit - nan_count);

		memcpy(nans + nan_count * width, piece + numbers * width, piece_nans * width);
		nan_count += piece_nans;
		if (is_bounded)
			kept_count += penumbra_select_keys(type->kind, piece, numbers,
											   kept + (limit - 1) * width, true,
											   kept + kept_count * width);
		else
		{
			memcpy(kept + kept_count * width, piece, numbers * width);
			kept_count += numbers;
		}
		if (kept_count >= capacity)
		{
			sort_keys_in_place(type->kind, kept, kept_count, true);
			kept_count = limit;
			is_bounded = true;
		}
		CHECK_FOR_INTERRUPTS();
	}
	sort_keys_in_place(type->kind, kept, kept_count, true);

	values = Min(limit, kept_count + nan_count);
	count = Min(limit, (int64) input->count);
	kept_count = values - nan_count;
	result = alloc_result(input, count, values, values * width);
	data = ARR_DATA_PTR(result);
	memcpy(data, nans, nan_count * width);
	if (type->order == ORDER_BYTES16)
		penumbra_decode_bytes16((PenumbraWideKey *) kept, kept_count, data);
	else
		memcpy(data + nan_count * width, kept, kept_count * width);
	if (type->order == ORDER_FLOAT)
		decode_floats(type->kind, data + nan_count * width, kept_count);
	free_keys(nans);
	free_keys(piece);
	free_keys(kept);
	return result;
}

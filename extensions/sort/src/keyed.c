/*-------------------------------------------------------------------------
 *
 * keyed.c
 *	  Arrays whose elements are not sorted where they stand: a key per element
 *	  is, with the element's place; then elements or subscripts are collected.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include <math.h>

#include "access/tupmacs.h"
#include "catalog/pg_type.h"

#include "pg_compat.h"

/* A position in the data of an array. */
typedef struct ElementWalk
{
	const SortInput *input;
	const uint8 *nulls;
	const char *data;
	int64		offset;			/* of the element after the current one */
	int			index;			/* of the current element */
} ElementWalk;

static ElementWalk
start_walk(const SortInput *input)
{
	ElementWalk walk = {input, ARR_NULLBITMAP(input->array), ARR_DATA_PTR(input->array), 0, -1};

	return walk;
}

static inline bool
element_is_null(const uint8 *nulls, int index)
{
	return nulls != NULL && (nulls[index / 8] & (1 << index % 8)) == 0;
}

static inline int64
offset_behind(const ElementType *type, const char *data, int64 offset)
{
	offset = att_addlength_pointer(offset, type->length, data + offset);
	return att_align_nominal(offset, type->align);
}

/* To the next element that is not null; returns its offset, or -1. */
static inline int64
next_value(ElementWalk *walk, const ElementType *type)
{
	int64		offset = walk->offset;

	do
	{
		walk->index++;
		CHECK_IN_LOOP(walk->index);
		if (walk->index >= walk->input->count)
			return -1;
	} while (element_is_null(walk->nulls, walk->index));
	walk->offset = offset_behind(type, walk->data, offset);
	return offset;
}

/* As tuplesort does, but for the life of the call site: keys that tell too little apart are given up. */
static bool
is_abbreviation_useless(ElementType *type)
{
	SortSupport ssup = &type->sort_support;

	if (++type->abbreviated < type->next_abort_check || ssup->abbrev_abort == NULL)
		return false;
	type->next_abort_check = Max(type->next_abort_check * 2, 10);
	/* Asked in any case: numeric stops counting keys then. */
	return ssup->abbrev_abort((int) Min(type->abbreviated, PG_INT32_MAX), ssup) &&
		!type->keys_are_cheap;
}

/* The leading key of an element, as an unsigned number in its order, where the type has such. */
static inline uint64
leading_key(ElementType *type, const char *element)
{
	Datum		value;
	uint64		key;

	if (type->order == ORDER_TEXT_C)
		return leading_text_key(element);
	if (type->order != ORDER_ABBREVIATED)
		return 0;
	value = fetch_att(element, type->by_value, type->length);
	key = DatumGetUInt64(type->sort_support.abbrev_converter(value, &type->sort_support));
	if (is_abbreviation_useless(type))
		type->order = ORDER_COMPARED;
	return key ^ type->key_flip;
}

static int64
collect_keys(ElementType *type, const SortInput *input, bool descending, PenumbraWideKey *keys)
{
	ElementWalk walk = start_walk(input);
	uint64		flip = descending ? ~UINT64CONST(0) : 0;
	int64		count = 0;
	int64		offset;

	while ((offset = next_value(&walk, type)) >= 0)
	{
		/* Texts get theirs when it is known what they share. */
		uint64		key = type->order == ORDER_TEXT_C ? 0 : leading_key(type, walk.data + offset);

		keys[count].high = key ^ flip;
		keys[count].low = ELEMENT_PLACE(offset, walk.index);
		count++;
	}
	return count;
}

static PenumbraWideKey *
elements_in_order(ElementType *type, const SortInput *input, bool descending)
{
	PenumbraWideKey *keys = alloc_keys(PENUMBRA_KEY_UINT128, input->value_count);
	int64		count = collect_keys(type, input, descending, keys);

	order_elements(type, ARR_DATA_PTR(input->array), descending, keys, count);
	return keys;
}

static int64
drop_equal_elements(ElementType *type, const char *data, PenumbraWideKey *keys, int64 count)
{
	int64		kept = Min(count, 1);

	for (int64 i = 1; i < count; i++)
	{
		CHECK_IN_LOOP(i);
		if (compare_elements(type, data, &keys[kept - 1], &keys[i]) != 0)
			keys[kept++] = keys[i];
	}
	return kept;
}

/* An array of the elements at these places. */
static ArrayType *
collect_elements(const ElementType *type, const SortInput *input, const PenumbraWideKey *keys,
				 int count, int value_count)
{
	const char *data = ARR_DATA_PTR(input->array);
	int64		bytes = 0;
	ArrayType  *result;
	char	   *to;

	if (value_count == input->value_count)
		bytes = ARR_SIZE(input->array) - (data - (char *) input->array);
	else
	{
		for (int64 i = 0; i < value_count; i++)
		{
			int64		offset = PLACE_OFFSET(&keys[i]);

			bytes += offset_behind(type, data, offset) - offset;
			CHECK_IN_LOOP(i);
		}
	}
	result = alloc_result(input, count, value_count, bytes);
	to = count > 0 ? ARR_DATA_PTR(result) : NULL;
	for (int64 i = 0; i < value_count; i++)
	{
		const char *element = data + PLACE_OFFSET(&keys[i]);
		int64		length = att_addlength_pointer(0, type->length, element);
		int64		aligned = att_align_nominal(length, type->align);

		memcpy(to, element, length);
		if (aligned != length)
			memset(to + length, 0, aligned - length);
		to += aligned;
		CHECK_IN_LOOP(i);
	}
	return result;
}

/* NULLs come after the values. If only different elements are wanted, one NULL is left. */
ArrayType *
sort_by_key(ElementType *type, const SortInput *input, const SortRequest *request)
{
	PenumbraWideKey *keys = elements_in_order(type, input, request->descending);
	int64		values = input->value_count;
	int64		nulls = input->count - input->value_count;
	int64		count;
	ArrayType  *result;

	if (request->unique)
	{
		values = drop_equal_elements(type, ARR_DATA_PTR(input->array), keys, values);
		nulls = Min(nulls, 1);
	}
	count = values + nulls;
	if (request->limit >= 0)
	{
		count = Min(count, request->limit);
		values = Min(values, request->limit);
	}
	result = collect_elements(type, input, keys, count, values);
	free_keys(keys);
	return result;
}

/*
 * The greatest `limit` elements, greatest first, without keys of the others: whenever the buffer is full it is sorted
 * and cut, and what does not come before the last of those kept is not put into it any more.
 */
ArrayType *
top_by_key(ElementType *type, const SortInput *input, int64 limit)
{
	ElementWalk walk = start_walk(input);
	int64		capacity = limit + Max(limit, TOP_SLACK);
	PenumbraWideKey *keys = alloc_keys(PENUMBRA_KEY_UINT128, capacity);
	PenumbraWideKey bound = {0};
	bool		is_bounded = false;
	int64		count = 0;
	int64		offset;
	ArrayType  *result;

	while ((offset = next_value(&walk, type)) >= 0)
	{
		keys[count].high = ~leading_key(type, walk.data + offset);
		keys[count].low = ELEMENT_PLACE(offset, walk.index);
		if (is_bounded && !comes_before(type, walk.data, true, &keys[count], &bound))
			continue;
		if (++count < capacity)
			continue;
		order_elements(type, walk.data, true, keys, count);
		count = limit;
		bound = keys[limit - 1];
		if (type->order == ORDER_TEXT_C)	/* sorted by bytes behind these */
			bound.high = ~leading_text_key(walk.data + PLACE_OFFSET(&bound));
		is_bounded = true;
	}
	order_elements(type, walk.data, true, keys, count);
	result = collect_elements(type, input, keys, Min(limit, input->count), Min(limit, count));
	free_keys(keys);
	return result;
}

/* As unsigned numbers in the order of the values; all NaNs are equal, and both zeros. */
static inline uint64
fixed_width_key(const ElementType *type, const char *value)
{
	int64		key;

	if (type->order == ORDER_INTEGER)
		key = type->length == 2 ? *(const int16 *) value : type->length == 4
			? *(const int32 *) value : *(const int64 *) value;
	else
	{
		float8		number = type->length == 4 ? *(const float4 *) value : *(const float8 *) value;

		if (number == 0)
			number = 0;			/* not -0 */
		memcpy(&key, &number, 8);
		if (isnan(number))
			key = PG_INT64_MAX;
		else if (key < 0)
			key ^= PG_INT64_MAX;
	}
	return (uint64) key ^ (UINT64CONST(1) << 63);
}

/* Values up to 32 bits and their numbers share a word. */
static void
number_narrow_values(const ElementType *type, const SortInput *input, int32 *numbers)
{
	ElementWalk walk = start_walk(input);
	uint64	   *keys = alloc_keys(PENUMBRA_KEY_UINT64, input->value_count);
	int64		count = 0;
	int64		offset;

	while ((offset = next_value(&walk, type)) >= 0)
	{
		uint64		key = fixed_width_key(type, walk.data + offset);

		keys[count++] = (key + ((uint64) 1 << 31)) << 32 | (uint32) walk.index;
	}
	sort_unless_ordered(PENUMBRA_KEY_UINT64, keys, count);
	for (int64 i = 0; i < count; i++)
	{
		numbers[i] = (int32) keys[i];
		CHECK_IN_LOOP(i);
	}
	free_keys(keys);
}

/* A key's low half is its place in the array: equal values stay in their order, and the place is the answer. */
static void
number_wide_values(ElementType *type, const SortInput *input, int32 *numbers)
{
	PenumbraWideKey *keys;

	if (!ELEMENT_IS_FIXED_WIDTH(type))
		keys = elements_in_order(type, input, false);
	else
	{
		ElementWalk walk = start_walk(input);
		int64		count = 0;
		int64		offset;

		keys = alloc_keys(PENUMBRA_KEY_UINT128, input->value_count);
		while ((offset = next_value(&walk, type)) >= 0)
		{
			keys[count].high = fixed_width_key(type, walk.data + offset);
			keys[count++].low = ELEMENT_PLACE(0, walk.index);
		}
		sort_unless_ordered(PENUMBRA_KEY_UINT128, keys, count);
	}
	for (int64 i = 0; i < input->value_count; i++)
	{
		numbers[i] = PLACE_INDEX(&keys[i]);
		CHECK_IN_LOOP(i);
	}
	free_keys(keys);
}

/* An array of the subscripts: those of nulls last. */
ArrayType *
subscripts_in_order(ElementType *type, const SortInput *input)
{
	int			bound = ARR_LBOUND(input->array)[0];
	const uint8 *nulls = ARR_NULLBITMAP(input->array);
	int64		filled = input->value_count;
	ArrayType  *result = alloc_result(input, input->count, input->count,
									  (int64) input->count * sizeof(int32));
	int32	   *subscripts = (int32 *) ARR_DATA_PTR(result);

	result->elemtype = INT4OID;
	if (type->order == ORDER_INTEGER && type->length <= 4)
		number_narrow_values(type, input, subscripts);
	else
		number_wide_values(type, input, subscripts);
	for (int64 i = 0; filled < input->count; i++)
	{
		if (element_is_null(nulls, i))
			subscripts[filled++] = i;
	}
	for (int64 i = 0; i < input->count; i++)
	{
		subscripts[i] += bound;
		CHECK_IN_LOOP(i);
	}
	return result;
}

/*-------------------------------------------------------------------------
 *
 * refine.c
 *	  Sorting of elements by keys that need not tell all of them apart.
 *
 *	  Wide keys are sorted as numbers; the elements of a run with equal keys
 *	  are sorted by the type's comparison, and text of the C collation by its
 *	  next eight bytes.  The lower half of a key rises with the element's place,
 *	  so equal elements keep their order.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include "access/tupmacs.h"
#include "port/pg_bswap.h"

#include "pg_compat.h"

/* Shorter runs of texts are compared. */
#define TEXT_RUN_MIN 16

/* Who sorts a run by comparison. */
typedef struct ComparedRun
{
	ElementType *type;
	const char *data;
	bool		descending;
} ComparedRun;

int
compare_elements(ElementType *type, const char *data, const PenumbraWideKey *x,
				 const PenumbraWideKey *y)
{
	return type->compare(fetch_att(data + PLACE_OFFSET(x), type->by_value, type->length),
						 fetch_att(data + PLACE_OFFSET(y), type->by_value, type->length),
						 &type->sort_support);
}

static inline int
compare_in_run(const PenumbraWideKey *x, const PenumbraWideKey *y, ComparedRun *run)
{
	int			order = compare_elements(run->type, run->data, x, y);

	if (order == 0)
		return x->low < y->low ? -1 : x->low > y->low;
	return (order < 0) != run->descending ? -1 : 1;
}

/* Whether the one stands before the other, as their leading keys tell, or else the comparison. */
bool
comes_before(ElementType *type, const char *data, bool descending, const PenumbraWideKey *x,
			 const PenumbraWideKey *y)
{
	ComparedRun run = {type, data, descending};

	if (type->order != ORDER_COMPARED && x->high != y->high)
		return x->high < y->high;
	return compare_in_run(x, y, &run) < 0;
}

#define ST_SORT sort_compared_run
#define ST_ELEMENT_TYPE PenumbraWideKey
#define ST_COMPARE(x, y, run) compare_in_run(x, y, run)
#define ST_COMPARE_ARG_TYPE ComparedRun
#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#include "lib/sort_template.h"

static void
sort_run_by_comparison(ElementType *type, const char *data, bool descending,
					   PenumbraWideKey *keys, int64 count)
{
	ComparedRun run = {type, data, descending};

	sort_compared_run(keys, count, &run);
}

/* The end of the run of equal keys that begins there. */
static int64
run_end(const PenumbraWideKey *keys, int64 count, int64 begin)
{
	int64		end = begin + 1;

	while (end < count && keys[end].high == keys[begin].high)
	{
		CHECK_IN_LOOP(end);
		end++;
	}
	return end;
}

/* How many bytes from depth on all texts share; they share those before it. */
static int64
shared_bytes(const char *data, const PenumbraWideKey *keys, int64 count, int64 depth)
{
	const char *first = data + PLACE_OFFSET(&keys[0]);
	const char *first_bytes = VARDATA_ANY(first) + depth;
	int64		shared = VARSIZE_ANY_EXHDR(first) - depth;

	for (int64 i = 1; i < count && shared > 0; i++)
	{
		const char *text = data + PLACE_OFFSET(&keys[i]);
		const char *bytes = VARDATA_ANY(text) + depth;
		int64		length = Min(shared, (int64) VARSIZE_ANY_EXHDR(text) - depth);

		CHECK_IN_LOOP(i);
		if (length != shared || memcmp(bytes, first_bytes, shared) != 0)
		{
			shared = 0;
			while (shared < length && bytes[shared] == first_bytes[shared])
				shared++;
		}
	}
	return shared;
}

/* The text's bytes from depth on, of which there may be less than eight. */
static uint64
text_key(const char *text, int64 depth)
{
	int64		length = (int64) VARSIZE_ANY_EXHDR(text) - depth;
	uint64		bytes = 0;

	if (likely(length >= 8))
		memcpy(&bytes, VARDATA_ANY(text) + depth, 8);
	else if (length > 0)
		memcpy(&bytes, VARDATA_ANY(text) + depth, length);
	return pg_ntoh64(bytes);
}

uint64
leading_text_key(const char *text)
{
	return text_key(text, 0);
}

/* Texts that share the bytes before depth. */
static void
sort_text_run(ElementType *type, const char *data, bool descending,
			  PenumbraWideKey *keys, int64 count, int64 depth)
{
	uint64		flip = descending ? ~UINT64CONST(0) : 0;
	int64		end;

	check_stack_depth();
	depth += shared_bytes(data, keys, count, depth);
	for (int64 i = 0; i < count; i++)
	{
		keys[i].high = text_key(data + PLACE_OFFSET(&keys[i]), depth) ^ flip;
		CHECK_IN_LOOP(i);
	}
	sort_unless_ordered(PENUMBRA_KEY_UINT128, keys, count);
	for (int64 begin = 0; begin < count; begin = end)
	{
		end = run_end(keys, count, begin);
		/* No text contains a zero byte: with one at its end, the key is all that is left of it. */
		if (end - begin == 1 || ((keys[begin].high ^ flip) & 0xff) == 0)
			continue;
		if (end - begin < TEXT_RUN_MIN)
			sort_run_by_comparison(type, data, descending, keys + begin, end - begin);
		else
			sort_text_run(type, data, descending, keys + begin, end - begin, depth + 8);
	}
}

/* Sorts elements whose keys have their places, and their keys where the type has such. */
void
order_elements(ElementType *type, const char *data, bool descending,
			   PenumbraWideKey *keys, int64 count)
{
	int64		end;

	if (type->order == ORDER_TEXT_C && count >= TEXT_RUN_MIN)
		sort_text_run(type, data, descending, keys, count, 0);
	else if (type->order != ORDER_ABBREVIATED)
		sort_run_by_comparison(type, data, descending, keys, count);
	else
	{
		sort_unless_ordered(PENUMBRA_KEY_UINT128, keys, count);
		for (int64 begin = 0; begin < count; begin = end)
		{
			end = run_end(keys, count, begin);
			if (end - begin > 1)
				sort_run_by_comparison(type, data, descending, keys + begin, end - begin);
		}
	}
}

/*-------------------------------------------------------------------------
 *
 * scan_bounds.c
 *	  From scan keys to the intervals of the trees to be read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "scan.h"
#include "tree.h"

/* The keys, AND-ed: what has been gathered so far. */
typedef struct Gathered
{
	KeytreeKind kind;
	KeytreeEntry from;
	KeytreeEntry to;
	bool		wants_null;
	bool		wants_value;
	bool		is_empty;
	bool		has_others;		/* a range was wide */
	bool		has_array;
	KeytreeRange *elements;		/* of the arrays with =, in order and disjoint */
	int			elements_count;
}			Gathered;

static void
raise_from(Gathered *gathered, const KeytreeEntry *entry)
{
	if (keytree_less(&gathered->from, entry))
		gathered->from = *entry;
}

static void
lower_to(Gathered *gathered, const KeytreeEntry *entry)
{
	if (keytree_less(entry, &gathered->to))
		gathered->to = *entry;
}

/*
 * A wide range has values that equal the argument among others that do not. So the
 * bound that lets more values through is taken, and has_others makes the executor
 * check the rows again.
 */
static void
gather_comparison(Gathered *gathered, StrategyNumber strategy, const KeytreeRange *range)
{
	gathered->wants_value = true;
	gathered->has_others |= range->is_wide;
	switch (strategy)
	{
		case BTLessStrategyNumber:
			lower_to(gathered, range->is_wide ? &range->to : &range->from);
			break;
		case BTLessEqualStrategyNumber:
			lower_to(gathered, &range->to);
			break;
		case BTEqualStrategyNumber:
			raise_from(gathered, &range->from);
			lower_to(gathered, &range->to);
			break;
		case BTGreaterEqualStrategyNumber:
			raise_from(gathered, &range->from);
			break;
		case BTGreaterStrategyNumber:
			raise_from(gathered, range->is_wide ? &range->from : &range->to);
			break;
		default:
			elog(ERROR, "unexpected keytree strategy number %d", strategy);
	}
}

static int
compare_elements(const void *a, const void *b)
{
	return keytree_compare(a, b);
}

static int
sort_unique(KeytreeEntry *entries, int count)
{
	int			kept = 0;

	qsort(entries, count, sizeof(KeytreeEntry), compare_elements);
	for (int i = 0; i < count; i++)
		if (kept == 0 || keytree_compare(&entries[kept - 1], &entries[i]) != 0)
			entries[kept++] = entries[i];
	return kept;
}

static int
compare_ranges(const void *a, const void *b)
{
	return keytree_compare(&((const KeytreeRange *) a)->from, &((const KeytreeRange *) b)->from);
}

/* The ranges of keys that are in order; of local times in order the moments need not be. */
static KeytreeRange *
ranges_of(Oid indexed_type, Oid type, const KeytreeEntry *keys, int count)
{
	KeytreeRange *ranges = palloc(count * sizeof(KeytreeRange));

	for (int i = 0; i < count; i++)
		keytree_range_of(indexed_type, type, &keys[i], &ranges[i]);
	if (keytree_types_need_conversion(indexed_type, type))
		qsort(ranges, count, sizeof(KeytreeRange), compare_ranges);
	return ranges;
}

/* Ranges in order, with those that meet made one, and without empty ones. */
static int
make_disjoint(KeytreeRange *ranges, int count)
{
	int			kept = 0;

	for (int i = 0; i < count; i++)
	{
		if (!keytree_less(&ranges[i].from, &ranges[i].to))
			continue;
		if (kept > 0 && keytree_less(&ranges[i].from, &ranges[kept - 1].to))
			ranges[kept - 1].to = ranges[i].to;
		else
			ranges[kept++] = ranges[i];
	}
	return kept;
}

/* What is in both; there are at most as many ranges as in the two together. */
static KeytreeRange *
intersect(const KeytreeRange *one, int count, const KeytreeRange *other, int other_count, int *both_count)
{
	KeytreeRange *both = palloc(Max(count + other_count, 1) * sizeof(KeytreeRange));

	*both_count = 0;
	for (int i = 0, j = 0; i < count && j < other_count;)
	{
		KeytreeRange range = {
			.from = keytree_less(&one[i].from, &other[j].from) ? other[j].from : one[i].from,
			.to = keytree_less(&one[i].to, &other[j].to) ? one[i].to : other[j].to
		};
		int			order = keytree_compare(&one[i].to, &other[j].to);

		if (keytree_less(&range.from, &range.to))
			both[(*both_count)++] = range;
		i += order <= 0;
		j += order >= 0;
	}
	return both;
}

static void
gather_equal_elements(Gathered *gathered, KeytreeRange *ranges, int count)
{
	for (int i = 0; i < count; i++)
		gathered->has_others |= ranges[i].is_wide;
	count = make_disjoint(ranges, count);
	if (gathered->has_array)
		ranges = intersect(gathered->elements, gathered->elements_count, ranges, count, &count);
	gathered->elements = ranges;
	gathered->elements_count = count;
	gathered->has_array = true;
}

/*
 * The key holds if any element satisfies the comparison: < and <= take the greatest
 * element, > and >= the least. A NULL element matches nothing.
 */
static void
gather_array(Gathered *gathered, ScanKey key, Oid indexed_type, Oid type)
{
	ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);
	KeytreeKind kind = keytree_kind_of(type);
	KeytreeEntry *entries;
	KeytreeRange *ranges;
	Datum	   *values;
	bool	   *nulls;
	int			values_count;
	int			count = 0;
	int16		length;
	bool		by_value;
	char		alignment;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &values, &nulls, &values_count);
	entries = palloc(Max(values_count, 1) * sizeof(KeytreeEntry));
	for (int i = 0; i < values_count; i++)
	{
		if (nulls[i])
			continue;
		entries[count].tid = KEYTREE_TID_FIRST;
		keytree_key_from_datum(kind, values[i], &entries[count++]);
	}
	gathered->wants_value = true;
	if (count == 0)
	{
		gathered->is_empty = true;
		return;
	}
	count = sort_unique(entries, count);
	ranges = ranges_of(indexed_type, type, entries, count);
	switch (key->sk_strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			gather_comparison(gathered, key->sk_strategy, &ranges[count - 1]);
			break;
		case BTEqualStrategyNumber:
			gather_equal_elements(gathered, ranges, count);
			break;
		default:
			gather_comparison(gathered, key->sk_strategy, &ranges[0]);
	}
}

static void
gather_key(Gathered *gathered, ScanKey key, Oid indexed_type)
{
	Oid			type = OidIsValid(key->sk_subtype) ? key->sk_subtype : indexed_type;

	if (key->sk_flags & SK_SEARCHNULL)
		gathered->wants_null = true;
	else if (key->sk_flags & SK_SEARCHNOTNULL)
		gathered->wants_value = true;
	else if (key->sk_flags & SK_ISNULL)
		gathered->is_empty = true;	/* the operators are strict */
	else if (key->sk_flags & SK_SEARCHARRAY)
		gather_array(gathered, key, indexed_type, type);
	else
	{
		KeytreeEntry entry;
		KeytreeRange range;

		keytree_key_from_datum(keytree_kind_of(type), key->sk_argument, &entry);
		keytree_range_of(indexed_type, type, &entry, &range);
		gather_comparison(gathered, key->sk_strategy, &range);
	}
}

static void
add_interval(KeytreeBounds *bounds, BlockNumber root, const KeytreeEntry *from, const KeytreeEntry *to)
{
	if (keytree_less(from, to))
		bounds->intervals[bounds->count++] = (KeytreeInterval)
	{
		.from = *from,.to = *to,.root = root
	};
}

/* Keys are AND-ed. Without keys both trees are read, the values before the NULLs, as NULLS LAST wants it. */
void
keytree_compute_bounds(IndexScanDesc scan, KeytreeBounds *bounds)
{
	Oid			indexed_type = scan->indexRelation->rd_opcintype[0];
	Gathered	gathered = {.from = KEYTREE_ENTRY_FIRST,.to = KEYTREE_ENTRY_LAST};

	bounds->intervals = bounds->fixed;
	bounds->count = 0;
	bounds->has_others = false;
	for (int i = 0; i < scan->numberOfKeys; i++)
		gather_key(&gathered, &scan->keyData[i], indexed_type);
	bounds->has_others = gathered.has_others;
	if (gathered.is_empty || (gathered.wants_null && gathered.wants_value))
		return;
	if (gathered.has_array)
	{
		KeytreeRange all = {.from = gathered.from,.to = gathered.to};

		gathered.elements = intersect(gathered.elements, gathered.elements_count, &all, 1, &gathered.elements_count);
		bounds->intervals = palloc(Max(gathered.elements_count, 1) * sizeof(KeytreeInterval));
		for (int i = 0; i < gathered.elements_count; i++)
			add_interval(bounds, KEYTREE_VALUES_ROOT, &gathered.elements[i].from, &gathered.elements[i].to);
		return;
	}
	if (!gathered.wants_null)
		add_interval(bounds, KEYTREE_VALUES_ROOT, &gathered.from, &gathered.to);
	if (!gathered.wants_value)
		add_interval(bounds, KEYTREE_NULLS_ROOT, &KEYTREE_ENTRY_FIRST, &KEYTREE_ENTRY_LAST);
}

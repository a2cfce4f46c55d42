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
	bool		has_array;
	KeytreeEntry *elements;		/* of the arrays with =, in order, tid zero */
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

static void
gather_comparison(Gathered *gathered, StrategyNumber strategy, KeytreeEntry key)
{
	KeytreeEntry before = key;
	KeytreeEntry after = key;

	before.tid = KEYTREE_TID_FIRST;
	after.tid = KEYTREE_TID_LAST;
	gathered->wants_value = true;
	switch (strategy)
	{
		case BTLessStrategyNumber:
			lower_to(gathered, &before);
			break;
		case BTLessEqualStrategyNumber:
			lower_to(gathered, &after);
			break;
		case BTEqualStrategyNumber:
			raise_from(gathered, &before);
			lower_to(gathered, &after);
			break;
		case BTGreaterEqualStrategyNumber:
			raise_from(gathered, &before);
			break;
		case BTGreaterStrategyNumber:
			raise_from(gathered, &after);
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
intersect(KeytreeEntry *into, int count, const KeytreeEntry *other, int other_count)
{
	int			kept = 0;

	for (int i = 0, j = 0; i < count && j < other_count;)
	{
		int			order = keytree_compare(&into[i], &other[j]);

		if (order == 0)
			into[kept++] = into[i];
		i += order <= 0;
		j += order >= 0;
	}
	return kept;
}

static void
gather_array(Gathered *gathered, ScanKey key, Oid type)
{
	ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);
	KeytreeKind kind = keytree_kind_of(type);
	KeytreeEntry *entries;
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
	switch (key->sk_strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			gather_comparison(gathered, key->sk_strategy, entries[count - 1]);
			break;
		case BTEqualStrategyNumber:
			if (gathered->has_array)
				gathered->elements_count =
					intersect(gathered->elements, gathered->elements_count, entries, count);
			else
			{
				gathered->elements = entries;
				gathered->elements_count = count;
				gathered->has_array = true;
			}
			break;
		default:
			gather_comparison(gathered, key->sk_strategy, entries[0]);
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
		gather_array(gathered, key, type);
	else
	{
		KeytreeEntry entry;

		keytree_key_from_datum(keytree_kind_of(type), key->sk_argument, &entry);
		gather_comparison(gathered, key->sk_strategy, entry);
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

void
keytree_compute_bounds(IndexScanDesc scan, KeytreeBounds *bounds)
{
	Oid			indexed_type = scan->indexRelation->rd_opcintype[0];
	Gathered	gathered = {.from = KEYTREE_ENTRY_FIRST,.to = KEYTREE_ENTRY_LAST};

	bounds->intervals = bounds->fixed;
	bounds->count = 0;
	for (int i = 0; i < scan->numberOfKeys; i++)
		gather_key(&gathered, &scan->keyData[i], indexed_type);
	if (gathered.is_empty || (gathered.wants_null && gathered.wants_value))
		return;
	if (gathered.has_array)
	{
		bounds->intervals = palloc(Max(gathered.elements_count, 1) * sizeof(KeytreeInterval));
		for (int i = 0; i < gathered.elements_count; i++)
		{
			KeytreeEntry from = gathered.elements[i];
			KeytreeEntry to = gathered.elements[i];

			to.tid = KEYTREE_TID_LAST;
			if (!keytree_less(&from, &gathered.from) && !keytree_less(&gathered.to, &to))
				add_interval(bounds, KEYTREE_VALUES_ROOT, &from, &to);
		}
		return;
	}
	if (!gathered.wants_null)
		add_interval(bounds, KEYTREE_VALUES_ROOT, &gathered.from, &gathered.to);
	if (!gathered.wants_value)
		add_interval(bounds, KEYTREE_NULLS_ROOT, &KEYTREE_ENTRY_FIRST, &KEYTREE_ENTRY_LAST);
}

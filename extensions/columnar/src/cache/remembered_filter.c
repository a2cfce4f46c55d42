/*-------------------------------------------------------------------------
 *
 * remembered_filter.c
 *	  What queries found out of a segment: for which rows a condition is true.
 *
 * Whether a condition is true of a row follows from the row's value and from the
 * condition alone.  A segment's values never change, so what was found of it
 * holds for as long as the segment is in memory, whoever may see its rows: see
 * README.md.  The engine says which conditions are such, names them by bytes that
 * no two of them share, and knows which rows it has evaluated.
 *
 * A segment's filters are a list, newest first, that changes under the exclusive
 * directory lock.  References of a filter: the list's, and one of each scan
 * that found it there under the shared lock.  Scans read it without a lock.
 * Whoever brings the count to zero frees it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "cache/region.h"
#include "cache/remembered_filter.h"

/* Of a segment's memory, for its filters. */
#define FILTERS_SHARE		16
/* Of a segment, since they are looked through one by one. */
#define FILTERS_MAX			32

FilterKey *
filter_keys_of(const PenumbraPlan *plan, PenumbraOperator scan, int *count)
{
	PenumbraRememberedFilter filter;
	FilterKey  *keys;

	*count = 0;
	while (penumbra_plan_remembered_filter(plan, scan, *count, &filter))
		(*count)++;
	keys = palloc(sizeof(FilterKey) * Max(*count, 1));
	for (int i = 0; i < *count; i++)
	{
		(void) penumbra_plan_remembered_filter(plan, scan, i, &keys[i].filter);
		keys[i].hash = hash_bytes_extended(keys[i].filter.key, (int) keys[i].filter.key_bytes, 0);
	}
	return keys;
}

const void *
remembered_filter_image(const RememberedFilter *filter)
{
	return (const char *) filter + MAXALIGN(offsetof(RememberedFilter, key) + filter->key_bytes);
}

Size
remembered_filter_bytes(const FilterKey *key, Size image_bytes)
{
	return MAXALIGN(offsetof(RememberedFilter, key) + key->filter.key_bytes) + image_bytes;
}

bool
remembered_filter_fits(const CachedSegment *segment, Size bytes)
{
	return region_cost_bytes(bytes) <= segment->bytes / FILTERS_SHARE;
}

void
remembered_filter_fill(RememberedFilter *filter, const FilterKey *key, const void *image, Size image_bytes)
{
	filter->next = NULL;
	pg_atomic_init_u32(&filter->references, 1);
	filter->bytes = remembered_filter_bytes(key, image_bytes);
	filter->hash = key->hash;
	filter->key_bytes = (uint32) key->filter.key_bytes;
	filter->image_bytes = (uint32) image_bytes;
	filter->is_used = true;
	memcpy(filter->key, key->filter.key, key->filter.key_bytes);
	memcpy(unconstify(void *, remembered_filter_image(filter)), image, image_bytes);
}

void
remembered_filter_unpin(RememberedFilter *filter)
{
	if (pg_atomic_fetch_sub_u32(&filter->references, 1) == 1)
		region_free(filter, filter->bytes);
}

void
remembered_filters_unpin(RememberedFilter *filters)
{
	while (filters != NULL)
	{
		RememberedFilter *next = filters->next;

		remembered_filter_unpin(filters);
		filters = next;
	}
}

Size
remembered_filters_bytes(const RememberedFilter *filters)
{
	Size		bytes = 0;

	for (; filters != NULL; filters = filters->next)
		bytes += region_cost_bytes(filters->bytes);
	return bytes;
}

RememberedFilter *
remembered_filter_find(const CachedSegment *segment, const FilterKey *key)
{
	for (RememberedFilter *filter = segment->filters; filter != NULL; filter = filter->next)
	{
		if (filter->hash == key->hash && filter->key_bytes == key->filter.key_bytes &&
			memcmp(filter->key, key->filter.key, filter->key_bytes) == 0)
			return filter;
	}
	return NULL;
}

static void
remove_filter(CachedSegment *segment, RememberedFilter *filter, RememberedFilter **removed)
{
	RememberedFilter **link = &segment->filters;

	while (*link != filter)
		link = &(*link)->next;
	*link = filter->next;
	filter->next = *removed;
	*removed = filter;
}

/*
 * The oldest that was not used since it was passed over last; if all were, the
 * oldest, and all are passed over.  First of all what the new one replaces; NULL:
 * there is room.
 */
static RememberedFilter *
choose_victim(CachedSegment *segment, const FilterKey *key, Size cost)
{
	RememberedFilter *known = remembered_filter_find(segment, key);
	RememberedFilter *oldest = NULL;
	RememberedFilter *unused = NULL;
	Size		bytes = cost;
	int			count = 1;

	if (known != NULL)
		return known;
	for (RememberedFilter *filter = segment->filters; filter != NULL; filter = filter->next)
	{
		bytes += region_cost_bytes(filter->bytes);
		count++;
		oldest = filter;
		if (!filter->is_used)
			unused = filter;
	}
	if (bytes <= segment->bytes / FILTERS_SHARE && count <= FILTERS_MAX)
		return NULL;
	for (RememberedFilter *filter = segment->filters; unused == NULL && filter != NULL; filter = filter->next)
		filter->is_used = false;
	return unused != NULL ? unused : oldest;
}

bool
remembered_filter_add(CachedSegment *segment, RememberedFilter *filter, const FilterKey *key,
					  RememberedFilter **removed)
{
	const RememberedFilter *known = remembered_filter_find(segment, key);
	RememberedFilter *victim;

	/* sessions that ask the same at the same time find the same */
	if (!remembered_filter_fits(segment, filter->bytes) ||
		(known != NULL && known->image_bytes == filter->image_bytes &&
		 memcmp(remembered_filter_image(known), remembered_filter_image(filter), filter->image_bytes) == 0))
		return false;
	while ((victim = choose_victim(segment, key, region_cost_bytes(filter->bytes))) != NULL)
		remove_filter(segment, victim, removed);
	filter->next = segment->filters;
	segment->filters = filter;
	return true;
}

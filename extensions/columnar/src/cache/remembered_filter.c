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
 * directory lock.  Readers find their filters under the shared lock and read
 * them without it until they unpin the segment.  So a filter is freed only when
 * nobody but who frees it has the segment pinned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "cache/directory.h"
#include "cache/region.h"
#include "cache/remembered_filter.h"

/* Of a segment's memory, for its filters. */
#define FILTERS_SHARE		16

/* As a load for two wishes: it takes the place of columns that nobody used lately, and of what is on disk, too. */
#define FILTER_WISHES		2

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

RememberedFilter *
remembered_filter_create(const FilterKey *key, const void *image, Size image_bytes)
{
	Size		bytes = MAXALIGN(offsetof(RememberedFilter, key) + key->filter.key_bytes) + image_bytes;
	RememberedFilter *filter = directory_allocate(bytes, PG_UINT64_MAX, FILTER_WISHES);

	if (filter == NULL)
		return NULL;
	filter->next = NULL;
	filter->bytes = bytes;
	filter->hash = key->hash;
	filter->key_bytes = (uint32) key->filter.key_bytes;
	filter->image_bytes = (uint32) image_bytes;
	filter->is_used = true;
	memcpy(filter->key, key->filter.key, key->filter.key_bytes);
	memcpy(unconstify(void *, remembered_filter_image(filter)), image, image_bytes);
	return filter;
}

void
remembered_filter_free(RememberedFilter *filter)
{
	region_free(filter, filter->bytes);
}

void
remembered_filters_free(RememberedFilter *filters)
{
	while (filters != NULL)
	{
		RememberedFilter *next = filters->next;

		remembered_filter_free(filters);
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

/* The oldest that was not used since it was passed over last; if all were, the oldest. */
static RememberedFilter *
choose_victim(CachedSegment *segment)
{
	RememberedFilter *oldest = NULL;
	RememberedFilter *unused = NULL;

	for (RememberedFilter *filter = segment->filters; filter != NULL; filter = filter->next)
	{
		oldest = filter;
		if (!filter->is_used)
			unused = filter;
	}
	if (unused != NULL)
		return unused;
	for (RememberedFilter *filter = segment->filters; filter != NULL; filter = filter->next)
		filter->is_used = false;
	return oldest;
}

bool
remembered_filter_add(CachedSegment *segment, RememberedFilter *filter, const FilterKey *key, bool is_alone,
					  RememberedFilter **removed)
{
	Size		limit = segment->bytes / FILTERS_SHARE;
	Size		cost = region_cost_bytes(filter->bytes);
	RememberedFilter *known = remembered_filter_find(segment, key);

	/* two sessions that run the same query at the same time find the same */
	if (cost > limit ||
		(known != NULL && known->image_bytes == filter->image_bytes &&
		 memcmp(remembered_filter_image(known), remembered_filter_image(filter), filter->image_bytes) == 0))
		return false;
	for (; is_alone && known != NULL; known = remembered_filter_find(segment, key))
		remove_filter(segment, known, removed);
	while (is_alone && segment->filters != NULL && remembered_filters_bytes(segment->filters) + cost > limit)
		remove_filter(segment, choose_victim(segment), removed);
	if (remembered_filters_bytes(segment->filters) + cost > limit)
		return false;
	filter->next = segment->filters;
	segment->filters = filter;
	return true;
}

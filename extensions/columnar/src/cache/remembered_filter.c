/*-------------------------------------------------------------------------
 *
 * remembered_filter.c
 *	  What queries found out of a segment: for which rows a condition is true.
 *
 * Where a query evaluates a pattern, or another costly condition on one column
 * of strings, the engine says afterwards for which rows of a segment it did, and
 * for which of them the condition is true (engine/src/scan/README.md).  The
 * segment keeps that, and the next query with the same condition evaluates
 * nothing twice.
 *
 * F1: What is kept is a fact of the segment's bytes and the condition. It
 *     says nothing of who sees a row. So it needs no proof of its own, and is
 *     valid exactly while the segment is in memory: a segment's rows never
 *     change (C1, C4). Proofs P1 to P4, dead rows and patches decide, before
 *     and as ever, which rows of the segment a scan looks at. New versions of
 *     rows are in patches, in the heap, or in a new version of the chunk, of
 *     which nothing is known.
 * F2: It hangs on the segment's slot and goes with the segment's memory: by
 *     eviction, by another version of the chunk, by DDL, by the end of the
 *     server. It is not written to disk, and not kept for patches or for
 *     chunks that a scan reads from disk. Facts of the catalog (C4) are the
 *     segment's: a column of another type, collation or missing value has
 *     another segment.
 * F3: The condition's name has all that its truth depends on beside the
 *     value: the engine's functions, the collations and the constants, also
 *     of parameters. The engine's functions are no rows of the catalog, so
 *     CREATE OR REPLACE does not change them; a condition with a function
 *     that PostgreSQL evaluates is not remembered. Names are compared in
 *     full.
 * F4: A row is known only if the condition was evaluated for it. What another
 *     condition, a join's filter, a LIMIT, a cancel, visibility or an
 *     unproven page kept from the engine stays unknown. A condition that can
 *     fail is not remembered, since it is evaluated for the rows alone for
 *     which SQL does.
 * F5: A segment's filters are a list that changes under the exclusive
 *     directory lock. A filter has references, as a chunk has: the list's,
 *     and those of scans. A scan takes them under the shared lock when an
 *     execution begins, and gives them back before its pins. What a session
 *     learns replaces what the list knows of the condition, also if another
 *     session learned more meanwhile: that costs time, never an answer.
 * F6: A filter has memory of its own in the region, in units of 4 kB. A
 *     segment's filters take at most a sixteenth of its bytes, and are 32 at
 *     most. Segments below 64 kB have none: to search them costs less. The
 *     oldest filter that was not asked for since it was passed over last
 *     makes room. A filter takes the place of columns that nobody used
 *     lately, as a load for two wishes does; if there are none, nothing is
 *     kept. tables.memory_bytes and memory count filters.
 * F7: An execution keeps what it learned at its end. Where an error unwinds
 *     the executor nothing is kept, nor of a node that is rescanned, because
 *     its values change with each scan.
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

/*-------------------------------------------------------------------------
 *
 * remembered_filter.h
 *	  What queries found out of a segment: for which rows a condition is true.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REMEMBERED_FILTER_H
#define PENUMBRA_REMEMBERED_FILTER_H

#include "postgres.h"

#include "port/atomics.h"

#include "cache/chunk.h"
#include "penumbra/engine.h"

/* In region memory of its own; one of a list, which is its segment's. */
typedef struct RememberedFilter
{
	struct RememberedFilter *next;
	pg_atomic_uint32 references;	/* the list's one, and scans' */
	Size		bytes;			/* of all of it */
	uint64		hash;			/* of the key */
	uint32		key_bytes;
	uint32		image_bytes;
	bool		is_used;		/* since it was passed over last; races are harmless */
	char		key[FLEXIBLE_ARRAY_MEMBER]; /* then, aligned, the image: both are the engine's */
} RememberedFilter;

/* A condition, as the engine names it. */
typedef struct FilterKey
{
	PenumbraRememberedFilter filter;
	uint64		hash;
} FilterKey;

/* The filters of a plan's scan, palloc'd. */
extern FilterKey *filter_keys_of(const PenumbraPlan *plan, PenumbraOperator scan, int *count);

extern const void *remembered_filter_image(const RememberedFilter *filter);

/* What it takes, and whether a segment has room for so much, having forgotten all others. */
extern Size remembered_filter_bytes(const FilterKey *key, Size image_bytes);
extern bool remembered_filter_fits(const CachedSegment *segment, Size bytes);
/* Makes one in so much region memory. */
extern void remembered_filter_fill(RememberedFilter *filter, const FilterKey *key, const void *image,
								   Size image_bytes);
extern void remembered_filter_unpin(RememberedFilter *filter);
/* All of a list that is nobody else's. */
extern void remembered_filters_unpin(RememberedFilter *filters);
/* What a list costs the budget. */
extern Size remembered_filters_bytes(const RememberedFilter *filters);

/* ---- under the directory lock */

/* NULL: nothing is remembered of it. */
extern RememberedFilter *remembered_filter_find(const CachedSegment *segment, const FilterKey *key);

/* ---- under the exclusive lock */

/*
 * Gives a segment the filter and its reference; false: it has no room, or knows
 * that.  What made room goes to *removed, a list to be unpinned when the lock is
 * released.
 */
extern bool remembered_filter_add(CachedSegment *segment, RememberedFilter *filter, const FilterKey *key,
								  RememberedFilter **removed);

#endif							/* PENUMBRA_REMEMBERED_FILTER_H */

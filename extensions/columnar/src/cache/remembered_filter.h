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

#include "cache/chunk.h"
#include "penumbra/engine.h"

/* In region memory of its own; one of a list, which is its segment's. */
typedef struct RememberedFilter
{
	struct RememberedFilter *next;
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

/* In region memory, evicting nothing that is used; NULL: there is none. */
extern RememberedFilter *remembered_filter_create(const FilterKey *key, const void *image, Size image_bytes);
extern void remembered_filter_free(RememberedFilter *filter);
/* A list. */
extern void remembered_filters_free(RememberedFilter *filters);
/* What a list costs the budget. */
extern Size remembered_filters_bytes(const RememberedFilter *filters);

/* ---- under the directory lock */

/* NULL: nothing is remembered of it. */
extern RememberedFilter *remembered_filter_find(const CachedSegment *segment, const FilterKey *key);

/* ---- under the exclusive lock */

/*
 * Gives a segment the filter; false: there is no room, or it says nothing new.
 * is_alone: nobody but the caller has pinned the segment, so what must make room
 * goes to *removed, a list to be freed when the lock is released.
 */
extern bool remembered_filter_add(CachedSegment *segment, RememberedFilter *filter, const FilterKey *key,
								  bool is_alone, RememberedFilter **removed);

#endif							/* PENUMBRA_REMEMBERED_FILTER_H */

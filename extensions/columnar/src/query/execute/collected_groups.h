/*-------------------------------------------------------------------------
 *
 * collected_groups.h
 *	  Aggregates of PostgreSQL's over rows that the engine collected.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COLLECTED_GROUPS_H
#define PENUMBRA_COLLECTED_GROUPS_H

#include "postgres.h"

#include "nodes/pg_list.h"

typedef struct CollectedGroups CollectedGroups;

/* Of the CollectedCalls of a translation, NULL for none; in the current context, and for as long as that lives. */
extern CollectedGroups *collected_groups_create(List *calls);
/* For result_window_set_finish(): the aggregate of PenumbraGroupRows behind a varlena header. */
extern Datum collected_groups_finish(void *groups, Datum rows, bool *isnull);

#endif							/* PENUMBRA_COLLECTED_GROUPS_H */

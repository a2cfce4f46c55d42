/*-------------------------------------------------------------------------
 *
 * window_aggregates.h
 *	  Aggregates of PostgreSQL's over frames, which the engine asks for while
 *	  it runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WINDOW_AGGREGATES_H
#define PENUMBRA_WINDOW_AGGREGATES_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "penumbra/engine.h"

typedef struct WindowAggregates WindowAggregates;

/* Of the CollectedCalls of a translation, NULL if no window has one; in the current context, as long as it lives. */
extern WindowAggregates *window_aggregates_create(List *calls);
/* Goes on with the states; the results are in the current context. */
extern void window_aggregates_evaluate(WindowAggregates *aggregates, const PenumbraFrames *frames,
									   PenumbraColumnInput *results);

#endif							/* PENUMBRA_WINDOW_AGGREGATES_H */

/*-------------------------------------------------------------------------
 *
 * translate_aggregate.h
 *	  Calls of aggregates for the engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_AGGREGATE_H
#define PENUMBRA_TRANSLATE_AGGREGATE_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* Whether its result shows in which order rows were read. */
extern bool aggregate_shows_row_order(const Aggref *aggref);
/* `call` is zero before; false: refused. */
extern bool translate_aggregate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call);

#endif							/* PENUMBRA_TRANSLATE_AGGREGATE_H */

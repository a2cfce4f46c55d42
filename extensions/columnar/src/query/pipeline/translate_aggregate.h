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
/*
 * `call` is zero before; false: refused.  *is_other_form: the aggregate's value is translate_aggregate_value() of what
 * the call gives; NULL: it is of a window, whose rows have an order, and that is refused.
 */
extern bool translate_aggregate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call,
								bool *is_other_form);
/* The first element of an array_agg() in an order, without the array. */
extern bool translate_first_value(Translation *translation, Aggref *array, PenumbraAggregateCall *call);
extern PenumbraExpr translate_aggregate_value(Translation *translation, Aggref *aggref, PenumbraExpr computed);

#endif							/* PENUMBRA_TRANSLATE_AGGREGATE_H */

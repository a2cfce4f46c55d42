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
 * `call` is zero before; false: refused.  *is_other_form: the value is another than what the call gives, see
 * translate_aggregate_values(); NULL: it is of a window, whose rows have an order, and that is refused.
 */
extern bool translate_aggregate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call,
								bool *is_other_form);
/* The first element of an array_agg() in an order, without the array. */
extern bool translate_first_value(Translation *translation, Aggref *array, PenumbraAggregateCall *call);
/*
 * Adds a projection of so many values, and of those of aggregates whose calls give the current operator's columns from
 * there on, for which the array has room.  False: refused.
 */
extern bool translate_aggregate_values(Translation *translation, const List *aggrefs, const bool *is_other_form,
									   PenumbraExpr *values, int count);

#endif							/* PENUMBRA_TRANSLATE_AGGREGATE_H */

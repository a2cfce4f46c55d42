/*-------------------------------------------------------------------------
 *
 * collected_call.h
 *	  Aggregates whose rows the engine collects, and PostgreSQL makes the
 *	  value of.
 *
 * The engine evaluates the largest parts of the arguments that it knows, as
 * of a call of host_call.h, and keeps them for each row of a group, in order.  Of
 * a window it asks for the values of frames while it runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COLLECTED_CALL_H
#define PENUMBRA_COLLECTED_CALL_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "query/pipeline/translation.h"

typedef struct CollectedCall
{
	Aggref	   *aggref;
	List	   *args;			/* of the aggregate: expressions over Vars of OUTER_VAR, counted from 1 */
	List	   *inputs;			/* these, expressions that the engine evaluates */
	PenumbraType *types;		/* that it has them in */
	bool		is_of_window;
	bool		is_moving;		/* by the aggregate's functions for frames that move */
	PenumbraType result;		/* of a window: the engine's */
} CollectedCall;

/* Whether PostgreSQL's functions of any aggregate, which is no ordered-set one, may run over collected rows. */
extern bool collected_call_can_run(const Aggref *aggref);
/* The arguments of the engine's call, labelled by its place in translation->collected_calls; false: refused. */
extern bool collected_call_translate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call);
/* The same of a window's aggregate, of any of PostgreSQL's; false: refused, with or without a reason. */
extern bool collected_call_of_window(Translation *translation, Aggref *aggref, int frame_options,
									 PenumbraAggregateCall *call);
/* Adds to the FILTER of a call that makes objects: a row without a key is an error, also in a group that is dropped. */
extern bool collected_call_filter(Translation *translation, PenumbraAggregateCall *call);

#endif							/* PENUMBRA_COLLECTED_CALL_H */

/*-------------------------------------------------------------------------
 *
 * aggregate_state.h
 *	  Aggregates of PostgreSQL's over rows that the engine gives.
 *
 * The arguments are evaluated of the rows and the aggregate's own functions
 * make the value, row by row, so it is PostgreSQL's to the byte, in every
 * version.  They only run within an aggregation; a window's state, of which
 * they take a memory context and nothing else, is enough of one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_AGGREGATE_STATE_H
#define PENUMBRA_AGGREGATE_STATE_H

#include "postgres.h"

#include "query/pipeline/collected_call.h"

typedef struct AggregateCall AggregateCall;

/* What rows made so far.  Zeroed, it has to be cleared before its first row. */
typedef struct AggregateState
{
	MemoryContext context;		/* of what `value` points to */
	Datum		value;
	bool		isnull;
	int64		rows;			/* the first one without NULLs becomes the value: the functions are strict */
	bool		has_failed;		/* to take a row away; it takes no rows until it is cleared */
} AggregateState;

/* In the current context, and for as long as that lives. */
extern AggregateCall *aggregate_call_create(const CollectedCall *collected);
/* The next rows are these, in the engine's columns of the call's inputs. */
extern void aggregate_call_open(AggregateCall *call, const PenumbraResult *rows);

/* The state becomes that of no rows. */
extern void aggregate_state_clear(const AggregateCall *call, AggregateState *state);
/* Adds the next `count` rows, or takes them away, in the order in which they were added. */
extern void aggregate_state_add(AggregateCall *call, AggregateState *state, uint32 count);
extern void aggregate_state_take_away(AggregateCall *call, AggregateState *state, uint32 count);
/* The state's value, which may lie in the state; else it is in the current context. */
extern Datum aggregate_state_value(AggregateCall *call, AggregateState *state, bool *isnull);

#endif							/* PENUMBRA_AGGREGATE_STATE_H */

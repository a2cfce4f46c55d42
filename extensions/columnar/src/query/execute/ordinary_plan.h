/*-------------------------------------------------------------------------
 *
 * ordinary_plan.h
 *	  PostgreSQL's plan for the rows of a node, which runs where the engine gives up.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ORDINARY_PLAN_H
#define PENUMBRA_ORDINARY_PLAN_H

#include "postgres.h"

#include "query/execute/scan_state.h"

/* Initialises the plan, which gives all rows from here on; reason: for EXPLAIN, counters and the statement. */
extern void ordinary_plan_start(PenumbraScanState *state, const char *reason);
/* For EXPLAIN, once its nodes have ended: the plan's node becomes a child of ours, if it is none yet. */
extern void ordinary_plan_show(PenumbraScanState *state);
/*
 * Holds the rows of the plan, which gives them all from here on, unless there are more than the pipeline's
 * ordinary_rows, or it reads more than its ordinary_input_rows: then it is left.
 */
extern void ordinary_plan_try(PenumbraScanState *state, TupleTableSlot *slot);
/* Whether some node initialises its ordinary plan just now: a node that begins is below that. */
extern bool ordinary_plan_is_starting(void);
/* Puts the next row into the slot; false: at the end.  Columns that only served quals are NULL. */
extern bool ordinary_plan_next(PenumbraScanState *state, TupleTableSlot *slot);

#endif							/* PENUMBRA_ORDINARY_PLAN_H */

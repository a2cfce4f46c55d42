/*-------------------------------------------------------------------------
 *
 * engine_run.h
 *	  What a node does with the engine: its start, its rows, its end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ENGINE_RUN_H
#define PENUMBRA_ENGINE_RUN_H

#include "postgres.h"

#include "query/execute/scan_state.h"

/*
 * At the first row: proves the tables' chunks, evaluates what has no columns, and starts the engine.  If the engine
 * does not take the plan, starts the ordinary one, or raises an error where that cannot run.
 */
extern void engine_run_start(PenumbraScanState *state);
/* Puts the next row into the slot.  False: at the end, or when the ordinary plan has taken over. */
extern bool engine_run_next(PenumbraScanState *state, TupleTableSlot *slot);
/* Ends the execution; the tables stay proven for the next. */
extern void engine_run_end(PenumbraScanState *state);
/* Frees the engine and the pins, and what was read into buffers. */
extern void engine_run_release(PenumbraScanState *state);

#endif							/* PENUMBRA_ENGINE_RUN_H */

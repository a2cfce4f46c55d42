/*-------------------------------------------------------------------------
 *
 * held_rows.h
 *	  Rows that are kept back until the engine is at its end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_HELD_ROWS_H
#define PENUMBRA_HELD_ROWS_H

#include "postgres.h"

#include "query/execute/scan_state.h"

/* slot: of rows like those that are kept. */
extern void held_rows_begin(PenumbraScanState *state, TupleTableSlot *slot);
extern void held_rows_add(PenumbraScanState *state, TupleTableSlot *slot);
extern bool held_rows_next(PenumbraScanState *state, TupleTableSlot *slot);
extern void held_rows_drop(PenumbraScanState *state);

#endif							/* PENUMBRA_HELD_ROWS_H */

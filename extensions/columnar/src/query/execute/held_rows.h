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

/* From here on rows can be kept; slot: of such rows. */
extern void held_rows_begin(PenumbraScanState *state, TupleTableSlot *slot);
/* Keeps a copy of the slot's row. */
extern void held_rows_add(PenumbraScanState *state, TupleTableSlot *slot);
/* Puts the next row into the slot, whose values last until the next call; false: there are no more. */
extern bool held_rows_next(PenumbraScanState *state, TupleTableSlot *slot);
/* Frees the rows, if any are kept. */
extern void held_rows_drop(PenumbraScanState *state);

#endif							/* PENUMBRA_HELD_ROWS_H */

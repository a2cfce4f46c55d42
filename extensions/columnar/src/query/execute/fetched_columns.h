/*-------------------------------------------------------------------------
 *
 * fetched_columns.h
 *	  Columns that the engine cannot read, of the rows that leave the node.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_FETCHED_COLUMNS_H
#define PENUMBRA_FETCHED_COLUMNS_H

#include "query/execute/scan_state.h"

/* At executor start, when the tables are open. */
extern void fetched_columns_begin(PenumbraScanState *state);
/* The engine's outputs that the window has positions of, in the order in which they are numbered there. */
extern List *fetched_columns_positions(const PenumbraScanState *state);
/* Gives the slot, which has the window's row, the values; they are there until the next row's. */
extern void fetched_columns_fill(PenumbraScanState *state, TupleTableSlot *slot);
extern void fetched_columns_explain(const PenumbraScanState *state, ExplainState *es);

#endif							/* PENUMBRA_FETCHED_COLUMNS_H */

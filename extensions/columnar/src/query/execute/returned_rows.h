/*-------------------------------------------------------------------------
 *
 * returned_rows.h
 *	  The rows that a node has returned, for a cursor that goes back to them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RETURNED_ROWS_H
#define PENUMBRA_RETURNED_ROWS_H

#include "query/execute/scan_state.h"

/* From now on they are kept. */
extern void returned_rows_begin(PenumbraScanState *state);
/* The row to which the cursor goes, a new one from `next`; NULL before the first and after the last. */
extern TupleTableSlot *returned_rows_next(PenumbraScanState *state, TupleTableSlot *(*next) (PenumbraScanState *state));
/* True: the rows are the same again, from the first on.  False: there are none to go back to. */
extern bool returned_rows_rescan(PenumbraScanState *state);
extern void returned_rows_end(PenumbraScanState *state);

#endif							/* PENUMBRA_RETURNED_ROWS_H */

/*-------------------------------------------------------------------------
 *
 * fetched_columns.h
 *	  Columns that the engine cannot read, of the rows that a scan returns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_FETCHED_COLUMNS_H
#define PENUMBRA_FETCHED_COLUMNS_H

#include "query/execute/scan_state.h"

/* Whether the pipeline's outputs have such columns. */
extern bool fetched_columns_exist(const Pipeline *pipeline);
/* At executor start, when the table is open. */
extern void fetched_columns_begin(PenumbraScanState *state);
/* Gives the slot, which has a row of the engine and its TID, the values; they are there until the next row's. */
extern void fetched_columns_fill(PenumbraScanState *state, TupleTableSlot *slot);
extern void fetched_columns_explain(const PenumbraScanState *state, ExplainState *es);

#endif							/* PENUMBRA_FETCHED_COLUMNS_H */

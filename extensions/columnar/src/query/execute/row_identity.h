/*-------------------------------------------------------------------------
 *
 * row_identity.h
 *	  Which row of the table a scan has returned last, for WHERE CURRENT OF.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ROW_IDENTITY_H
#define PENUMBRA_ROW_IDENTITY_H

#include "query/execute/scan_state.h"

/* At executor start, when the pipeline is known. */
extern void row_identity_begin(PenumbraScanState *state);
#define row_identity_is_given(state) ((state)->position_output >= 0)
/* The row in the scan slot is the one that the engine's result gave last. */
extern void row_identity_set(PenumbraScanState *state);
/* The row in the scan slot is the one that the ordinary plan returned last. */
extern void row_identity_take_ordinary(PenumbraScanState *state);

#endif							/* PENUMBRA_ROW_IDENTITY_H */

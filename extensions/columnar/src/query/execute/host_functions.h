/*-------------------------------------------------------------------------
 *
 * host_functions.h
 *	  Evaluates what the engine leaves to PostgreSQL while it runs, see
 *	  host_call.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_HOST_FUNCTIONS_H
#define PENUMBRA_HOST_FUNCTIONS_H

#include "query/execute/scan_state.h"

/* Prepares the calls (HostCall *, CollectedCall *), in the context at hand, and tells the engine whom to ask. */
extern void host_functions_set_options(PenumbraScanState *state, List *calls, List *collected_calls,
									   PenumbraExecOptions *options);
/* After an error of the engine: raises the one that made it so, if it is not one that the ordinary plan decides. */
extern void host_functions_raise(PenumbraScanState *state);

#endif							/* PENUMBRA_HOST_FUNCTIONS_H */

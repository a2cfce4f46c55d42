/*-------------------------------------------------------------------------
 *
 * runtime_values.h
 *	  What a node knows when it starts: its expressions without columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RUNTIME_VALUES_H
#define PENUMBRA_RUNTIME_VALUES_H

#include "postgres.h"

#include "query/execute/scan_state.h"
#include "query/pipeline/translation.h"

/* The values of runtime_exprs.  has_failed: one has none; then no row may leave before the last is computed. */
extern RuntimeValue *runtime_values_evaluate(PenumbraScanState *state, bool *has_failed);

#endif							/* PENUMBRA_RUNTIME_VALUES_H */

/*-------------------------------------------------------------------------
 *
 * external_rows.h
 *	  Pushes the rows of plans of PostgreSQL's, see external_rows_plan.h, into the
 *	  engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EXTERNAL_ROWS_H
#define PENUMBRA_EXTERNAL_ROWS_H

#include "postgres.h"

#include "query/execute/scan_state.h"
#include "query/pipeline/pipeline.h"

/* In a finished plan: what computes the sources of the node, in the order of its scans; NULL: it is not there. */
extern List *external_rows_plans(const CustomScan *scan, const Pipeline *pipeline, List *subplans);

/* At executor start: initialises the sources' plans, the node's children; false: one is not there. */
extern bool external_rows_begin(PenumbraScanState *state, EState *estate);
/* Appends rows up to so many, or one more than the bytes hold; false: there are no more. */
extern bool external_rows_append(PenumbraScanState *state, ScanInput *input, uint32 row_limit, Size bytes_limit);
/* From here on the rows come again from the first one, with the Params as they are now. */
extern void external_rows_rescan(PenumbraScanState *state);
/* At executor end. */
extern void external_rows_end(PenumbraScanState *state);

#endif							/* PENUMBRA_EXTERNAL_ROWS_H */

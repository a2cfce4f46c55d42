/*-------------------------------------------------------------------------
 *
 * source_rows.h
 *	  Pushes the rows of plans of PostgreSQL's, see row_source.h, into the
 *	  engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SOURCE_ROWS_H
#define PENUMBRA_SOURCE_ROWS_H

#include "postgres.h"

#include "query/execute/scan_state.h"
#include "query/pipeline/pipeline.h"

/* In a finished plan: what computes the sources of the node, in the order of its scans; NULL: it is not there. */
extern List *source_rows_plans(const CustomScan *scan, const Pipeline *pipeline, List *subplans);

/* At executor start: initialises the sources' plans, the node's children; false: one is not there. */
extern bool source_rows_begin(PenumbraScanState *state, EState *estate);
/* Appends rows up to so many, or one more than the bytes hold; false: there are no more. */
extern bool source_rows_append(PenumbraScanState *state, ScanInput *input, uint32 row_limit, Size bytes_limit);
extern void source_rows_rescan(PenumbraScanState *state);
extern void source_rows_end(PenumbraScanState *state);

#endif							/* PENUMBRA_SOURCE_ROWS_H */

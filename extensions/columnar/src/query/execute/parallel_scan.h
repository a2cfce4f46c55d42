/*-------------------------------------------------------------------------
 *
 * parallel_scan.h
 *	  Scans that several processes share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PARALLEL_SCAN_H
#define PENUMBRA_PARALLEL_SCAN_H

#include "postgres.h"

#include "access/parallel.h"

#include "query/execute/scan_state.h"

/* Callbacks of CustomExecMethods. */
extern Size parallel_scan_estimate_dsm(CustomScanState *node, ParallelContext *context);
extern void parallel_scan_initialize_dsm(CustomScanState *node, ParallelContext *context, void *coordinate);
extern void parallel_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *context, void *coordinate);
extern void parallel_scan_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void parallel_scan_shutdown(CustomScanState *node);

/* A worker's part of what its statement did. */
extern void parallel_scan_report(PenumbraScanState *state, const RunCounts *counts);

/* Proves the pages of the next execution; false when all are claimed. */
extern bool parallel_scan_claim(PenumbraScanState *state);

#endif							/* PENUMBRA_PARALLEL_SCAN_H */

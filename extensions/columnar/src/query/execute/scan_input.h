/*-------------------------------------------------------------------------
 *
 * scan_input.h
 *	  Chunks and rows on their way into the engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SCAN_INPUT_H
#define PENUMBRA_SCAN_INPUT_H

#include "postgres.h"

#include "query/execute/scan_state.h"

/* Rows of the columns (of Vars), on their way into the engine. */
extern void scan_input_create_rows(ScanInput *input);
/* Back to where nothing of the heap was read, nor of the disk. */
extern void scan_input_reset(ScanInput *input);
/* The input of this scan if it has not given all rows that are pushed; else NULL. */
extern ScanInput *scan_input_find(PenumbraScanState *state, PenumbraOperator scan);
/* The next page of a ScanTable's ranges; what reads them may be ahead of the page that is open. */
extern BlockNumber scan_input_next_block(void *table);
/* Before the engine's start: pushes all rows and ends them, where these are few and small and it helps. */
extern PenumbraStatus scan_input_push_first(PenumbraScanState *state, ScanInput *input);
/* One step: reads and pushes a chunk or a batch of rows, or tells their end.  *waits: the engine is to get on first. */
extern PenumbraStatus scan_input_push(PenumbraScanState *state, ScanInput *input, bool *waits);

#endif							/* PENUMBRA_SCAN_INPUT_H */

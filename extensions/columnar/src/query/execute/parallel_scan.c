/*-------------------------------------------------------------------------
 *
 * parallel_scan.c
 *	  Penumbra scans below Gather: several processes share one table.
 *
 * Every process pins the whole table for itself, then claims parts of
 * cache_chunk_pages heap pages from a shared counter, validates these only and
 * runs one execution without threads per part.  The processes need not agree
 * on what is cached: a part's pages are all read, from the cache or the heap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"

#include "cache/cache.h"
#include "query/execute/parallel_scan.h"
#include "query/execute/scan_state.h"

static void
initialize(ParallelScan *parallel)
{
	pg_atomic_init_u32(&parallel->next_part, 0);
	SpinLockInit(&parallel->lock);
	memset(&parallel->pages, 0, sizeof(ScannedPages));
	memset(&parallel->worker_counts, 0, sizeof(RunCounts));
}

Size
parallel_scan_estimate_dsm(CustomScanState *node, ParallelContext *context)
{
	return sizeof(ParallelScan);
}

void
parallel_scan_initialize_dsm(CustomScanState *node, ParallelContext *context, void *coordinate)
{
	initialize(coordinate);
	((PenumbraScanState *) node)->parallel = coordinate;
}

void
parallel_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *context, void *coordinate)
{
	pg_atomic_write_u32(&((ParallelScan *) coordinate)->next_part, 0);
}

void
parallel_scan_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((PenumbraScanState *) node)->parallel = coordinate;
}

void
parallel_scan_report(PenumbraScanState *state, const RunCounts *counts)
{
	SpinLockAcquire(&state->parallel->lock);
	run_counts_add(&state->parallel->worker_counts, counts);
	SpinLockRelease(&state->parallel->lock);
}

/* EXPLAIN reads the counters after the shared memory is gone.  Workers have ended. */
void
parallel_scan_shutdown(CustomScanState *node)
{
	PenumbraScanState *state = (PenumbraScanState *) node;
	StatementRun *run = statement_run_of(node->ss.ps.state);

	if (state->parallel == NULL || state->parallel == &state->unshared || IsParallelWorker())
		return;
	if (run != NULL)
		run_counts_add(&run->counts, &state->parallel->worker_counts);
	memcpy(&state->unshared, state->parallel, sizeof(ParallelScan));
	state->parallel = &state->unshared;
}

bool
parallel_scan_claim(PenumbraScanState *state)
{
	CachedScan *cached = state->inputs[0].tables[0].cached;
	ScannedPages before = cached->pages;
	/* 64 bits: the last claim of each process is past the end, and may be past every block number. */
	uint64		begin = (uint64) cache_chunk_pages *
		pg_atomic_fetch_add_u32(&state->parallel->next_part, 1);

	Assert(state->input_count == 1 && state->inputs[0].table_count == 1);
	if (begin >= cached->nblocks)
		return false;
	cache_scan_prove_part(cached, (BlockNumber) begin,
						  (BlockNumber) Min(begin + cache_chunk_pages, (uint64) MaxBlockNumber));
	SpinLockAcquire(&state->parallel->lock);
	scanned_pages_add(&state->parallel->pages, &cached->pages, &before);
	SpinLockRelease(&state->parallel->lock);
	return true;
}

/*-------------------------------------------------------------------------
 *
 * estimates.c
 *	  What planning asks of the cache: how much of a table it has, samples of its
 *	  rows, and to load columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "cache/cache.h"
#include "cache/cached_expression.h"
#include "cache/directory.h"
#include "cache/policy/table_options.h"
#include "cache/stop_points.h"
#include "cache/wanted.h"
#include "cache/worker.h"

/* Looked at while planning, at 100 ns each. */
#define SAMPLE_CHUNKS 32

bool
cache_estimate_coverage(Relation rel, const ColumnKey *columns, int ncolumns, CacheCoverage *coverage)
{
	CacheKey	key;
	uint64		pages;
	uint64		unproven_pages;
	uint64		lsn_pages;
	uint64		rows;
	uint64		bytes;
	uint64		cold_bytes;

	memset(coverage, 0, sizeof(*coverage));
	if (directory_is_empty())
		return false;
	directory_key_of(rel, &key);
	if (!directory_estimate(&key, columns, ncolumns, &pages, &unproven_pages, &lsn_pages, &rows,
							&bytes, &cold_bytes))
		return false;
	coverage->cached_pages = (BlockNumber) Min(pages, (uint64) MaxBlockNumber);
	coverage->valid_pages = coverage->cached_pages - (BlockNumber) Min(pages, unproven_pages);
	coverage->lsn_pages = (BlockNumber) lsn_pages;
	coverage->cached_rows = (double) rows;
	coverage->cached_bytes = bytes;
	coverage->cold_bytes = cold_bytes;
	return true;
}

double
cache_estimate_skipped(Relation rel, const ColumnKey *columns, int ncolumns, const PenumbraPlan *plan,
					   PenumbraOperator scan)
{
	PenumbraZoneMap *zone_maps = palloc(sizeof(PenumbraZoneMap) * Max(ncolumns, 1));
	CachedChunk **pinned;
	int			count;
	int			skipped = 0;

	STOP_POINT("planning-reads-values");
	count = directory_pin_chunks(rel, columns, ncolumns, SAMPLE_CHUNKS, true, &pinned);
	/* nothing here can raise an error: the pins are nobody's */
	for (int i = 0; i < count; i++)
	{
		chunk_copy_zone_maps(pinned[i], columns, ncolumns, zone_maps);
		skipped += penumbra_plan_chunk_is_skipped(plan, scan, zone_maps) ? 1 : 0;
		directory_unpin_chunk(pinned[i], columns, ncolumns);
	}
	return (double) skipped / (count + 1);
}

/* Of a row of integers, nulls as 0. */
static void
read_integers(const PenumbraPlan *plan, const PenumbraResult *result, int64 *values)
{
	for (int c = 0; c < penumbra_plan_output_count(plan); c++)
	{
		const PenumbraResultColumn *column = &result->columns[c];

		values[c] = 0;
		if (column->values == NULL || (column->nulls != NULL && column->nulls[0]))
			continue;
		if (column->type == PENUMBRA_INT2)
			values[c] = *(const int16 *) column->values;
		else if (column->type == PENUMBRA_INT8)
			values[c] = *(const int64 *) column->values;
		else
			values[c] = *(const int32 *) column->values;
	}
}

/* An estimate is not worth more of planning's time. */
#define AGGREGATE_MS_MAX 50

/* A cancelled query is ended by the caller, when nothing is pinned. */
static bool
is_late(instr_time begin)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, begin);
	return QueryCancelPending || ProcDiePending || INSTR_TIME_GET_MILLISEC(now) > AGGREGATE_MS_MAX;
}

#define AGGREGATE_RANGES 4

/* All rows of a chunk, or so many of them, as ranges; how many rows these have. */
static uint32
choose_ranges(uint32 chunk_rows, uint32 rows, PenumbraRowRange ranges[AGGREGATE_RANGES], PenumbraChunk *chunk)
{
	uint32		length = rows / AGGREGATE_RANGES;
	uint32		part = chunk_rows / AGGREGATE_RANGES;

	chunk->ranges = ranges;
	chunk->range_count = 1;
	ranges[0] = (PenumbraRowRange) {0, chunk_rows};
	if (length == 0 || length >= part)
		return chunk_rows;
	chunk->range_count = AGGREGATE_RANGES;
	for (uint32 i = 0; i < AGGREGATE_RANGES; i++)
	{
		uint32		begin = i * part + (part - length) / 2;

		ranges[i] = (PenumbraRowRange) {begin, begin + length};
	}
	return length * AGGREGATE_RANGES;
}

/*
 * Nothing in here can raise an error: the pins are nobody's.  What the engine
 * cannot compute, or not in time, is not known.
 */
static bool
aggregate_pinned(CachedChunk **pinned, int count, uint32 rows_of_chunk, const ColumnKey *columns, int ncolumns,
				 const void **segments, const PenumbraPlan *plan, PenumbraOperator scan, int64 *values,
				 double *rows)
{
	PenumbraExecOptions options = {.memory_budget_bytes = 1024 * 1024,.temporary_prefix = ""};
	PenumbraExec *exec = penumbra_exec_create(plan, &options);
	PenumbraStatus status = {exec == NULL ? PENUMBRA_OUT_OF_MEMORY : PENUMBRA_OK};
	PenumbraFetch fetch = PENUMBRA_FETCH_WAIT;
	PenumbraResult result;
	instr_time	begin;
	bool		has_row = false;

	INSTR_TIME_SET_CURRENT(begin);
	*rows = 0;
	for (int i = 0; i < count && status.code == PENUMBRA_OK; i++)
	{
		PenumbraRowRange ranges[AGGREGATE_RANGES];
		PenumbraChunk chunk = {.rows = pinned[i]->rows,.segments = segments};

		for (int c = 0; c < ncolumns; c++)
			segments[c] = chunk_slot(pinned[i], columns[c])->segment;
		*rows += choose_ranges(pinned[i]->rows, rows_of_chunk, ranges, &chunk);
		status = penumbra_exec_add_chunk(exec, scan, &chunk);
	}
	if (status.code == PENUMBRA_OK)
		status = penumbra_exec_start(exec);
	if (status.code == PENUMBRA_OK)
		status = penumbra_exec_end_rows(exec, scan);
	while (status.code == PENUMBRA_OK && fetch != PENUMBRA_FETCH_DONE && fetch != PENUMBRA_FETCH_ERROR &&
		   !is_late(begin))
	{
		fetch = penumbra_exec_fetch(exec, &result, &status);
		if (fetch != PENUMBRA_FETCH_ROWS || result.rows == 0)
			continue;
		read_integers(plan, &result, values);
		has_row = true;
	}
	penumbra_exec_destroy(exec);
	return has_row;
}

bool
cache_aggregate(Relation rel, const ColumnKey *columns, int ncolumns, uint32 sample, uint32 rows_of_chunk,
				const PenumbraPlan *plan, PenumbraOperator scan, int64 *values, double *rows)
{
	const void **segments = palloc(sizeof(void *) * Max(ncolumns, 1));
	CachedChunk **pinned;
	int			count;
	bool		is_done;

	STOP_POINT("planning-reads-values");
	count = directory_pin_chunks(rel, columns, ncolumns, sample, false, &pinned);
	is_done = count > 0 &&
		aggregate_pinned(pinned, count, rows_of_chunk, columns, ncolumns, segments, plan, scan, values, rows);
	for (int i = 0; i < count; i++)
		directory_unpin_chunk(pinned[i], columns, ncolumns);
	CHECK_FOR_INTERRUPTS();
	return is_done;
}

void
cache_note_wanted(Oid relid, ColumnKey *columns, int ncolumns)
{
	TableOptions options;

	if (!cache_is_available() || !penumbra_auto_load || ncolumns == 0)
		return;
	options = table_options_read(relid);
	ncolumns = cached_expression_filter(columns, table_options_filter(&options, columns, ncolumns));
	if (ncolumns > 0)
		wanted_note(MyDatabaseId, relid, columns, ncolumns);
}

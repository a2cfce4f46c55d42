/*-------------------------------------------------------------------------
 *
 * scan_input.c
 *	  What goes into the engine while it works: chunks that are read from disk,
 *	  rows of the heap, rows of a source.
 *
 * Each step is short, so that interrupts are served and the engine's results
 * fetched between any two.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "query/custom_scan.h"
#include "query/translate.h"

/*
 * Heap rows are pushed in batches of about a vector, or after so many pages, or
 * at this part of the memory that the query may use, but not more: a batch
 * exists several times over while the engine works on it, and so do the values
 * that it computes for its rows.
 */
#define PUSH_ROWS 2048
#define PUSH_PAGES_MAX 128
#define PUSH_BUDGET_SHARE 4
#define PUSH_BYTES_MAX ((Size) 16 << 20)

PenumbraRows *
scan_input_create_rows(const List *columns)
{
	int			count = list_length(columns);
	PenumbraType *types = palloc(sizeof(PenumbraType) * Max(count, 1));
	PenumbraRows *rows;
	ListCell   *lc;

	foreach(lc, columns)
		(void) translate_type(((Var *) lfirst(lc))->vartype, &types[foreach_current_index(lc)]);
	rows = penumbra_rows_create(types, count);
	if (rows == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	return rows;
}

void
scan_input_reset(ScanInput *input)
{
	input->read_table = 0;
	input->begun_chunks = input->ended_chunks = input->finished_chunks = input->pushed_chunks = 0;
	input->is_ended = false;
	input->is_page_open = false;
	input->heap_table = 0;
	for (int i = 0; i < input->table_count; i++)
	{
		input->tables[i].heap_range = 0;
		input->tables[i].next_block = 0;
		input->tables[i].heap_row = 0;
		heap_row_reader_close_page(input->tables[i].reader);
		cache_scan_rewind(input->tables[i].cached);
	}
}

BlockNumber
scan_input_next_block(void *argument)
{
	ScanTable  *table = argument;

	for (; table->heap_range < table->cached->nheap_ranges; table->heap_range++, table->next_block = 0)
	{
		struct CachedBlockRange *range = &table->cached->heap_ranges[table->heap_range];

		table->next_block = Max(table->next_block, range->begin);
		if (table->next_block < range->end)
			return table->next_block++;
	}
	return InvalidBlockNumber;
}

/* Opens the next page that is read from the heap; false when there is none. */
static bool
open_heap_page(PenumbraScanState *state, ScanInput *input)
{
	Snapshot	snapshot = state->css.ss.ps.state->es_snapshot;

	for (; input->heap_table < input->table_count; input->heap_table++)
	{
		ScanTable  *table = &input->tables[input->heap_table];

		if (heap_row_reader_open_page(table->reader, snapshot))
			return true;
		if (table->heap_row < table->cached->nheap_rows)
		{
			table->heap_row +=
				heap_row_reader_open_rows(table->reader,
										  &table->cached->heap_rows[table->heap_row],
										  table->cached->nheap_rows - table->heap_row);
			return true;
		}
	}
	return false;
}

static bool
batch_is_full(const ScanInput *input, const PenumbraTuples *tuples, Size bytes_limit)
{
	if (tuples != NULL)
		return penumbra_tuples_count(tuples) >= PUSH_ROWS || penumbra_tuples_bytes(tuples) >= bytes_limit;
	return penumbra_rows_count(input->rows) >= PUSH_ROWS ||
		penumbra_rows_bytes(input->rows) >= bytes_limit;
}

/* Reads a batch of the heap's rows: tuples of one table, which are returned, or rows (NULL) in input->rows. */
static PenumbraTuples *
read_heap_rows(PenumbraScanState *state, ScanInput *input, Size bytes_limit)
{
	PenumbraTuples *tuples = NULL;

	for (int pages = 0; pages < PUSH_PAGES_MAX && !batch_is_full(input, tuples, bytes_limit); pages++)
	{
		HeapRowReader *reader;

		if (!input->is_page_open && !open_heap_page(state, input))
		{
			input->is_ended = true;
			break;
		}
		input->is_page_open = true;
		CHECK_FOR_INTERRUPTS();
		reader = input->tables[input->heap_table].reader;
		if (pages > 0 && tuples != heap_row_reader_tuples(reader))
			break;
		tuples = heap_row_reader_tuples(reader);
		if (tuples != NULL)
		{
			heap_row_reader_append_tuples(reader);
			input->is_page_open = false;
		}
		else
			input->is_page_open =
				heap_row_reader_append_rows(reader, input->rows,
											bytes_limit - penumbra_rows_bytes(input->rows));
	}
	return tuples;
}

/* The engine has finished all that was read into them. */
static void
free_buffers(ScanInput *input)
{
	for (int i = 0; i < CHUNKS_AHEAD; i++)
	{
		if (input->buffers[i] != NULL)
			cache_free_buffer(input->buffers[i]);
		input->buffers[i] = NULL;
	}
}

/* Whether a further chunk has room among those that are read, or were and are not finished. */
static bool
may_begin_read(const ScanInput *input)
{
	Size		bytes = 0;

	for (int i = 0; i < CHUNKS_AHEAD; i++)
		bytes += input->buffers[i] == NULL ? 0 : cache_buffer_bytes(input->buffers[i]);
	return input->begun_chunks - input->finished_chunks < (bytes < BYTES_AHEAD ? CHUNKS_AHEAD : 2);
}

static void
begin_reads(PenumbraScanState *state, ScanInput *input)
{
	while (input->read_table < input->table_count && may_begin_read(input))
	{
		CachedScan *cached = input->tables[input->read_table].cached;
		int			i = input->begun_chunks % CHUNKS_AHEAD;

		if (input->buffers[i] == NULL && cached->unread_chunks > 0)
			input->buffers[i] = cache_create_buffer(state->buffer_context);
		if (cached->unread_chunks > 0 && cache_scan_begin_read(cached, input->buffers[i]))
		{
			input->scans[i] = cached;
			input->begun_chunks++;
		}
		else
			input->read_table++;
	}
}

/* Forgets chunks that the engine has finished, up to the first that it has not. */
static void
note_finished(PenumbraScanState *state, ScanInput *input)
{
	uint64		finished = penumbra_exec_finished_chunks(state->exec, input->scan, 0);

	while (input->finished_chunks < input->ended_chunks &&
		   input->numbers[input->finished_chunks % CHUNKS_AHEAD] <= finished)
		input->finished_chunks++;
}

/* Ends the oldest read and pushes its chunk, unless its pages are all the heap's. */
static PenumbraStatus
push_chunk(PenumbraScanState *state, ScanInput *input)
{
	int			i = input->ended_chunks++ % CHUNKS_AHEAD;
	PenumbraChunk chunk;

	input->numbers[i] = 0;
	if (!cache_scan_end_read(input->scans[i], input->buffers[i], &chunk))
		return (PenumbraStatus) {PENUMBRA_OK};
	input->numbers[i] = ++input->pushed_chunks;
	return penumbra_exec_push_chunk(state->exec, input->scan, &chunk);
}

/*
 * Chunks that are on disk are read while the engine works on those before, on
 * its threads or, while the disk is slower, here.  False: all are finished.
 * *waits: the engine is to get on first, until a chunk is finished.
 */
static bool
push_chunks(PenumbraScanState *state, ScanInput *input, bool *waits, PenumbraStatus *status)
{
	bool		is_ahead;

	if (input->begun_chunks > 0)
		note_finished(state, input);
	begin_reads(state, input);
	is_ahead = input->finished_chunks < input->ended_chunks;
	if (input->ended_chunks < input->begun_chunks &&
		(state->has_threads || !is_ahead ||
		 !cache_scan_is_reading(input->buffers[input->ended_chunks % CHUNKS_AHEAD])))
	{
		*status = push_chunk(state, input);
		return true;
	}
	if (is_ahead)
	{
		(void) penumbra_exec_finished_chunks(state->exec, input->scan,
											 input->numbers[input->finished_chunks % CHUNKS_AHEAD]);
		*waits = true;
		return true;
	}
	free_buffers(input);
	return false;
}

PenumbraStatus
scan_input_push(PenumbraScanState *state, ScanInput *input, bool *waits)
{
	Size		bytes_limit = Min(get_hash_memory_limit() / PUSH_BUDGET_SHARE, PUSH_BYTES_MAX);
	PenumbraTuples *tuples = NULL;
	PenumbraStatus status = {PENUMBRA_OK};

	*waits = false;
	if (state->parallel == NULL && push_chunks(state, input, waits, &status))
		return status;
	if (input->source != NULL)
		input->is_ended = !source_rows_append(state, input, PUSH_ROWS, bytes_limit);
	else
		tuples = read_heap_rows(state, input, bytes_limit);
	if (tuples != NULL)
	{
		status = penumbra_exec_push_tuples(state->exec, input->scan, tuples);
		penumbra_tuples_clear(tuples);
	}
	else if (penumbra_rows_count(input->rows) > 0)
		status = penumbra_exec_push_rows(state->exec, input->scan, input->rows);
	penumbra_rows_clear(input->rows);
	if (status.code == PENUMBRA_OK && input->is_ended)
		status = penumbra_exec_end_rows(state->exec, input->scan);
	return status;
}

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

#include "cache/cache.h"
#include "cache/heap_page.h"
#include "cache/value_image.h"
#include "query/execute/external_rows.h"
#include "query/execute/scan_input.h"
#include "query/execute/scan_state.h"
#include "query/planning/attempt.h"

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

/*
 * Heap pages, and single rows of others, that may be read before the engine's
 * threads begin, in about a millisecond; and after which size of them the rest,
 * of large values, comes later after all.
 */
#define FIRST_PAGES_MAX 128
#define FIRST_ROWS_MAX 2048
#define FIRST_BYTES_MAX ((Size) 4 << 20)

void
scan_input_create_rows(ScanInput *input)
{
	int			count = list_length(input->stage->exprs);
	PenumbraType *types = palloc(sizeof(PenumbraType) * Max(count, 1));
	ListCell   *lc;

	input->images = palloc(sizeof(ValueImage *) * Max(count, 1));
	foreach(lc, input->stage->exprs)
	{
		const ValueImage *image = value_image_of(((Var *) lfirst(lc))->vartype);

		input->images[foreach_current_index(lc)] = image;
		types[foreach_current_index(lc)] = image->type;
	}
	input->rows = penumbra_rows_create(types, count);
	if (input->rows == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

void
scan_input_reset(ScanInput *input)
{
	input->read_table = 0;
	input->pushed_chunks = 0;
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

ScanInput *
scan_input_find(PenumbraScanState *state, PenumbraOperator scan)
{
	for (int i = 0; i < state->input_count; i++)
	{
		if (state->inputs[i].scan == scan && !state->inputs[i].is_ended)
			return &state->inputs[i];
	}
	return NULL;
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

typedef struct AppendArguments
{
	HeapRowReader *reader;
	PenumbraRows *rows;
	Size		bytes_limit;
	bool		has_more;
} AppendArguments;

static void
append_rows(void *argument)
{
	AppendArguments *arguments = argument;

	arguments->has_more = heap_row_reader_append_rows(arguments->reader, arguments->rows, arguments->bytes_limit);
}

/* *has_failed: a row has no value of an expression, which the query may not even ask for. */
static bool
append_heap_rows(ScanInput *input, HeapRowReader *reader, Size bytes_limit, bool *has_failed)
{
	AppendArguments arguments = {reader, input->rows, bytes_limit - penumbra_rows_bytes(input->rows)};

	if (heap_row_reader_can_fail(reader))
		*has_failed = !attempt(append_rows, &arguments);
	else
		append_rows(&arguments);
	return arguments.has_more;
}

/* Reads a batch of the heap's rows: tuples of one table, which are returned, or rows (NULL) in input->rows. */
static PenumbraTuples *
read_heap_rows(PenumbraScanState *state, ScanInput *input, Size bytes_limit, bool *has_failed)
{
	PenumbraTuples *tuples = NULL;

	for (int pages = 0; pages < PUSH_PAGES_MAX && !*has_failed && !batch_is_full(input, tuples, bytes_limit); pages++)
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
			input->is_page_open = append_heap_rows(input, reader, bytes_limit, has_failed);
	}
	return tuples;
}

/* The engine has finished all that was read into them. */
static void
free_buffers(PenumbraScanState *state)
{
	for (int i = 0; i < CHUNKS_AHEAD; i++)
	{
		if (state->reads[i].buffer != NULL)
			cache_free_buffer(state->reads[i].buffer);
		state->reads[i].buffer = NULL;
	}
}

/* Whether a further chunk has room among those that are read, or were and are not finished. */
static bool
may_begin_read(const PenumbraScanState *state)
{
	Size		bytes = 0;

	for (uint64 i = state->finished_reads; i < state->begun_reads; i++)
		bytes += cache_buffer_bytes(state->reads[i % CHUNKS_AHEAD].buffer);
	return state->begun_reads - state->finished_reads < (bytes < BYTES_AHEAD ? CHUNKS_AHEAD : 2);
}

/* One that is not in use, else a new one: so there are as many as were ever used at once. */
static ChunkBuffer *
take_buffer(PenumbraScanState *state)
{
	for (uint64 i = state->begun_reads; i < state->finished_reads + CHUNKS_AHEAD; i++)
	{
		ChunkRead  *unused = &state->reads[i % CHUNKS_AHEAD];
		ChunkBuffer *buffer = unused->buffer;

		unused->buffer = NULL;
		if (buffer != NULL)
			return buffer;
	}
	return cache_create_buffer(state->buffer_context);
}

/* False: all chunks of the input are begun. */
static bool
begin_reads(PenumbraScanState *state, ScanInput *input)
{
	while (input->read_table < input->table_count)
	{
		CachedScan *cached = input->tables[input->read_table].cached;
		ChunkRead  *read = &state->reads[state->begun_reads % CHUNKS_AHEAD];

		if (!may_begin_read(state))
			return true;
		if (cached->unread_chunks > 0)
			read->buffer = take_buffer(state);
		if (cached->unread_chunks > 0 && cache_scan_begin_read(cached, read->buffer))
		{
			read->input = input;
			read->cached = cached;
			state->begun_reads++;
		}
		else
			input->read_table++;
	}
	return false;
}

/* Forgets chunks that the engine has finished, up to the first that it has not. */
static void
note_finished(PenumbraScanState *state)
{
	for (; state->finished_reads < state->ended_reads; state->finished_reads++)
	{
		const ChunkRead *read = &state->reads[state->finished_reads % CHUNKS_AHEAD];

		if (read->number > penumbra_exec_finished_chunks(state->exec, read->input->scan, 0))
			break;
	}
}

/* NULL: the pages of the oldest chunk that is read are all the heap's. */
static ChunkRead *
end_read(PenumbraScanState *state, PenumbraChunk *chunk)
{
	ChunkRead  *read = &state->reads[state->ended_reads++ % CHUNKS_AHEAD];

	read->number = 0;
	return cache_scan_end_read(read->cached, read->buffer, chunk) ? read : NULL;
}

static PenumbraStatus
push_chunk(PenumbraScanState *state)
{
	PenumbraChunk chunk;
	ChunkRead  *read = end_read(state, &chunk);

	if (read == NULL)
		return (PenumbraStatus) {PENUMBRA_OK};
	read->number = ++read->input->pushed_chunks;
	return penumbra_exec_push_chunk(state->exec, read->input->scan, &chunk);
}

/*
 * Ends reads, begun for a scan that was the next, of which nobody needs the
 * rows any more: a side of its join turned out to be empty.
 */
static void
drop_reads(PenumbraScanState *state, const ScanInput *input)
{
	PenumbraChunk chunk;

	while (state->ended_reads < state->begun_reads)
	{
		const ScanInput *reader = state->reads[state->ended_reads % CHUNKS_AHEAD].input;

		if (reader == input || reader->scan == penumbra_exec_next_scan(state->exec))
			return;
		(void) end_read(state, &chunk);
	}
}

/*
 * Chunks that are on disk are read while the engine works on those before, on
 * its threads or, while the disk is slower, here; when all of this input are
 * begun, those of the next.  False: all of this one are finished.
 * *waits: the engine is to get on first, until a chunk is finished.
 */
static bool
push_chunks(PenumbraScanState *state, ScanInput *input, bool *waits, PenumbraStatus *status)
{
	const ChunkRead *oldest;
	ScanInput  *next;

	drop_reads(state, input);
	note_finished(state);
	if (!begin_reads(state, input) &&
		(next = scan_input_find(state, penumbra_exec_next_scan(state->exec))) != NULL)
		(void) begin_reads(state, next);
	oldest = &state->reads[state->ended_reads % CHUNKS_AHEAD];
	if (state->ended_reads < state->begun_reads && oldest->input == input &&
		(state->has_threads || state->finished_reads == state->ended_reads ||
		 !cache_scan_is_reading(oldest->buffer)))
	{
		*status = push_chunk(state);
		return true;
	}
	if (state->finished_reads < state->ended_reads)
	{
		const ChunkRead *unfinished = &state->reads[state->finished_reads % CHUNKS_AHEAD];

		(void) penumbra_exec_finished_chunks(state->exec, unfinished->input->scan, unfinished->number);
		*waits = true;
		return true;
	}
	if (state->finished_reads == state->begun_reads)
		free_buffers(state);
	return false;
}

/* Pushes a batch of rows of the heap, or of the source; *bytes grows by its size. */
static PenumbraStatus
push_rows(PenumbraScanState *state, ScanInput *input, Size *bytes)
{
	Size		bytes_limit = Min(get_hash_memory_limit() / PUSH_BUDGET_SHARE, PUSH_BYTES_MAX);
	PenumbraTuples *tuples = NULL;
	PenumbraStatus status = {PENUMBRA_OK};
	bool		has_failed = false;

	if (input->source != NULL)
		input->is_ended = !external_rows_append(state, input, PUSH_ROWS, bytes_limit);
	else
		tuples = read_heap_rows(state, input, bytes_limit, &has_failed);
	if (has_failed)
		return (PenumbraStatus) {PENUMBRA_UNSUPPORTED, "row without a value of an expression that is cached"};
	*bytes += tuples != NULL ? penumbra_tuples_bytes(tuples) : penumbra_rows_bytes(input->rows);
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

PenumbraStatus
scan_input_push(PenumbraScanState *state, ScanInput *input, bool *waits)
{
	PenumbraStatus status = {PENUMBRA_OK};
	Size		bytes = 0;

	*waits = false;
	if (state->parallel == NULL && push_chunks(state, input, waits, &status))
		return status;
	return push_rows(state, input, &bytes);
}

/*
 * Whether all comes before the engine begins: chunks that are in memory and, if
 * that is of use to it, a few rows of the heap.  The engine then knows which
 * values of a column only one vector has.
 */
static bool
comes_first(const PenumbraScanState *state, const ScanInput *input)
{
	uint64		pages = 0;
	uint64		rows = 0;

	if (state->parallel != NULL || input->source != NULL)
		return false;
	for (int i = 0; i < input->table_count; i++)
	{
		const CachedScan *cached = input->tables[i].cached;

		if (cached->unread_chunks > 0)
			return false;
		for (int r = 0; r < cached->nheap_ranges; r++)
			pages += cached->heap_ranges[r].end - cached->heap_ranges[r].begin;
		rows += cached->nheap_rows;
	}
	return (pages == 0 && rows == 0) ||
		(pages <= FIRST_PAGES_MAX && rows <= FIRST_ROWS_MAX &&
		 penumbra_exec_takes_rows_first(state->exec, input->scan));
}

PenumbraStatus
scan_input_push_first(PenumbraScanState *state, ScanInput *input)
{
	PenumbraStatus status = {PENUMBRA_OK};
	Size		bytes = 0;

	if (comes_first(state, input))
	{
		while (status.code == PENUMBRA_OK && !input->is_ended && bytes < FIRST_BYTES_MAX)
			status = push_rows(state, input, &bytes);
	}
	return status;
}

/*-------------------------------------------------------------------------
 *
 * engine_run.c
 *	  What a node does with the engine: its start, its rows, its end.
 *
 * The node drives the engine: chunks of the cache go in once, heap pages
 * batch by batch between fetches, and each call into the engine is short, so
 * that interrupts are served between any two.  Until a row has left the node
 * everything can still be thrown away and PostgreSQL's own plan run instead;
 * it also gives errors their own text.
 *
 * Life of memory: scan_context holds the pins on chunks, and below it
 * buffer_context chunks that are read from disk; execution_context is its
 * child and destroys the engine (and so its threads) in a reset callback, and
 * children are deleted first, the youngest before the others.  Where nothing
 * is unwound, at a FATAL error, the cache stops the threads before it releases
 * the pins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "cache/cache.h"
#include "cache/heap_page.h"
#include "cache/status.h"
#include "query/execute/budget.h"
#include "query/execute/collected_groups.h"
#include "query/execute/engine_run.h"
#include "query/execute/explain.h"
#include "query/execute/external_rows.h"
#include "query/execute/fetched_columns.h"
#include "query/execute/host_functions.h"
#include "query/execute/ordinary_plan.h"
#include "query/execute/parallel_scan.h"
#include "query/execute/result_slot.h"
#include "query/execute/row_identity.h"
#include "query/execute/runtime_values.h"
#include "query/execute/scan_input.h"
#include "query/execute/scan_state.h"
#include "query/execute/statement_run.h"
#include "query/execute/swap_sides.h"
#include "query/execute/temporary_files.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translation.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"

/* What the C library by itself leaves at the top of an arena. */
#define LIBRARY_KEPT_BYTES_MAX ((Size) 64 << 20)

static void
stop_engine(void *arg)
{
	penumbra_exec_stop(((PenumbraScanState *) arg)->exec);
}

/* To the statement; of a worker of a parallel scan to its leader. */
static void
report_counts(PenumbraScanState *state, const PenumbraExecStats *stats)
{
	StatementRun *run = statement_run_of(state->css.ss.ps.state);
	RunCounts	counts = {
		.executions = !state->is_given_up,
		.rows_from_cache = stats->cached_rows,
		.rows_from_heap = stats->pushed_rows,
		.decoded_bytes = stats->decoded_bytes,
	};

	for (int i = 0; i < stats->temporary_file_count; i++)
		counts.spilled_bytes += stats->temporary_file_bytes[i];
	if (run != NULL)
		run_counts_add(&run->counts, &counts);
	else if (IsParallelWorker() && state->parallel != NULL)
		parallel_scan_report(state, &counts);
}

/*
 * The engine keeps large blocks for the next execution, and the C library what
 * else is freed, in an arena of each thread.  The latter goes back to the system
 * after an execution that held more than the process may keep.  malloc_trim()
 * leaves the top of the threads' arenas; that goes when something large beside it
 * is freed, and only where there is little to keep: to take it again costs page
 * faults.  The thresholds are those to which the library raises its own by and by.
 */
static void
destroy_and_trim(PenumbraExec *exec, Size memory_peak_bytes)
{
#ifdef __GLIBC__
	Size		kept_bytes = Min(budget_kept_bytes(), LIBRARY_KEPT_BYTES_MAX);
	bool		is_large = memory_peak_bytes >= kept_bytes;
	bool		trims_tops = is_large && kept_bytes < LIBRARY_KEPT_BYTES_MAX;

	if (trims_tops)
	{
		(void) mallopt(M_MMAP_THRESHOLD, (int) LIBRARY_KEPT_BYTES_MAX / 2);
		(void) mallopt(M_TRIM_THRESHOLD, 0);
	}
	penumbra_keep_memory(budget_kept_bytes());
	penumbra_exec_destroy(exec);
	if (is_large)
		(void) malloc_trim(0);
	if (trims_tops)
		(void) mallopt(M_TRIM_THRESHOLD, (int) LIBRARY_KEPT_BYTES_MAX);
#else
	penumbra_keep_memory(budget_kept_bytes());
	penumbra_exec_destroy(exec);
#endif
}

/* A node that is rescanned is asked with other values each time: what it learns would displace what others repeat. */
static void
keep_learned(PenumbraScanState *state)
{
	if (state->is_rescanned)
		return;
	for (int i = 0; i < state->input_count; i++)
	{
		if (state->inputs[i].table_count > 0)
			cache_keep_learned(state->exec, state->plan, state->inputs[i].scan);
	}
}

static void
destroy_exec(PenumbraScanState *state)
{
	PenumbraExecStats stats;

	if (state->exec == NULL)
		return;
	penumbra_exec_stop(state->exec);
	penumbra_exec_get_stats(state->exec, &stats);
	report_counts(state, &stats);
	temporary_files_report(&stats, state->temporary_prefix);
	destroy_and_trim(state->exec, stats.memory_peak_bytes);
	state->exec = NULL;
}

static void
destroy_engine(void *arg)
{
	PenumbraScanState *state = arg;

	destroy_exec(state);
	for (int i = 0; i < state->input_count; i++)
	{
		if (state->inputs[i].rows != NULL)
			penumbra_rows_destroy(state->inputs[i].rows);
		state->inputs[i].rows = NULL;
	}
	state->plan = NULL;			/* its translation dies after this */
}

static const char *
refusal_at_start(PenumbraScanState *state, EState *estate)
{
	if (estate->es_epq_active != NULL)
		return "row is rechecked after an update";
	if (!IsMVCCSnapshot(estate->es_snapshot))
		return "not an MVCC snapshot";
	if (!state->pipeline->is_checked)
		return "join that the engine does not take";
	return NULL;
}

/* A part of a parallel scan is read before its execution; it has no joins. */
static bool
excludes_chunk(void *argument, const PenumbraZoneMap *zone_maps)
{
	ScanInput  *input = argument;
	PenumbraScanState *state = input->state;

	return state->exec != NULL ? penumbra_exec_skip_chunk(state->exec, input->scan, zone_maps)
		: penumbra_plan_chunk_is_skipped(state->plan, input->scan, zone_maps);
}

static bool
open_table(PenumbraScanState *state, ScanInput *input, int i)
{
	ScanTable  *table = &input->tables[i];
	List	   *attnums = list_nth(input->stage->table_attnums, i);
	int			count = list_length(attnums);
	Index		name = count == 0 ? 0 : linitial_node(Var, input->stage->exprs)->varno;
	ColumnKey  *columns = expression_columns_keys(input->stage->relation_oid, RelationGetRelid(table->rel), name,
												  attnums, state->pipeline->expression_columns);
	Snapshot	snapshot = state->css.ss.ps.state->es_snapshot;
	bool		has_positions = stage_scan_has_positions(input->stage);
	bool		returns_positions = row_identity_is_given(state) || state->fetched_rows != NIL;

	const TableSample *sample = stage_scan_sample(input->stage, i, state->random_seed, &table->sample) ? &table->sample
		: NULL;

	if (columns == NULL)
		return false;
	pgstat_count_heap_scan(table->rel);
	table->cached = state->parallel == NULL
		? cache_scan_begin(table->rel, snapshot, columns, count, has_positions && !returns_positions, i, sample)
		: cache_scan_begin_parts(table->rel, snapshot, columns, count);
	cache_scan_set_readers(table->cached, stop_engine, state);
	cache_scan_set_filter(table->cached, excludes_chunk, input);
	table->reader = heap_row_reader_create(table->rel, columns, count);
	heap_row_reader_set_sample(table->reader, sample);
	if (has_positions)
		heap_row_reader_give_positions(table->reader, i);
	heap_row_reader_set_pages(table->reader, scan_input_next_block, table);
	return true;
}

static PenumbraStatus
add_chunks(PenumbraScanState *state, ScanInput *input)
{
	PenumbraStatus status = {PENUMBRA_OK};

	for (int i = 0; i < input->table_count && status.code == PENUMBRA_OK; i++)
	{
		CachedScan *cached = input->tables[i].cached;

		cache_scan_recall_filters(cached, state->plan, input->scan);
		for (int c = 0; c < cached->nchunks && status.code == PENUMBRA_OK; c++)
		{
			status = penumbra_exec_add_chunk(state->exec, input->scan, &cached->chunks[c]);
			CHECK_FOR_INTERRUPTS();
		}
		if (status.code == PENUMBRA_OK && cached->unread_chunks > 0)
			status = penumbra_exec_expect_chunks(state->exec, input->scan, (uint64) cached->unread_rows);
	}
	return status.code == PENUMBRA_OK ? scan_input_push_first(state, input) : status;
}

static double
rows_of_chunks(PenumbraScanState *state)
{
	double		rows = 0;

	for (int i = 0; i < state->input_count; i++)
	{
		for (int t = 0; t < state->inputs[i].table_count; t++)
		{
			CachedScan *cached = state->inputs[i].tables[t].cached;

			for (int c = 0; c < cached->nchunks; c++)
				rows += cached->chunks[c].rows;
			rows += cached->unread_rows;
		}
	}
	return rows;
}

/* Starts the engine on what the tables' caches and heaps offer. */
static PenumbraStatus
start_execution(PenumbraScanState *state)
{
	bool		has_threads = state->parallel == NULL && !IsParallelWorker();
	PenumbraExecOptions options;
	PenumbraStatus status;

	options.threads = has_threads ? cost_threads(rows_of_chunks(state), state->is_rescanned) : 0;
	options.memory_budget_bytes = cost_memory_bytes(options.threads);
	/* A cancel or termination that cannot be served has to wait until it can. */
	options.interrupts[0] = INTERRUPTS_CAN_BE_PROCESSED() ? &QueryCancelPending : NULL;
	options.interrupts[1] = INTERRUPTS_CAN_BE_PROCESSED() ? &ProcDiePending : NULL;
	options.is_timed = state->css.ss.ps.instrument != NULL;
	temporary_files_set_options(&options);
	budget_set_options(&options);
	host_functions_set_options(state, state->host_calls, state->collected_calls, &options);
	state->temporary_prefix = options.temporary_prefix;
	state->has_threads = options.threads > 0;
	state->exec = penumbra_exec_create(state->plan, &options);
	if (state->exec == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	status.code = PENUMBRA_OK;
	state->begun_reads = state->ended_reads = state->finished_reads = 0;
	for (int i = 0; i < state->input_count && status.code == PENUMBRA_OK; i++)
	{
		scan_input_reset(&state->inputs[i]);
		status = add_chunks(state, &state->inputs[i]);
	}
	if (status.code == PENUMBRA_OK)
		status = penumbra_exec_start(state->exec);
	return status;
}

/* EXECUTE is checked for the user at executor start, who need not be the one who fetches. */
static CollectedGroups *
prepare_groups(const PenumbraScanState *state, List *collected_calls)
{
	CollectedGroups *groups;
	Oid			user_oid;
	int			security_context;

	GetUserIdAndSecContext(&user_oid, &security_context);
	SetUserIdAndSecContext(state->user_oid, state->security_context);
	groups = collected_groups_create(collected_calls);
	SetUserIdAndSecContext(user_oid, security_context);
	return groups;
}

/* Starts the engine on the open tables. */
static PenumbraStatus
start_engine(PenumbraScanState *state, Translation *translation)
{
	MemoryContextCallback *callback = palloc0(sizeof(MemoryContextCallback));

	callback->func = destroy_engine;
	callback->arg = state;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	state->plan = translation->plan;
	state->host_calls = translation->host_calls;
	state->collected_calls = translation->collected_calls;
	for (int i = 0; i < state->input_count; i++)
	{
		state->inputs[i].scan = state->inputs[i].stage->operator;
		scan_input_create_rows(&state->inputs[i]);
	}
	state->window = result_window_create(state->pipeline->output_map,
										 state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor,
										 row_identity_is_given(state)
										 ? lappend_int(fetched_columns_positions(state), state->position_output)
										 : fetched_columns_positions(state));
	if (state->pipeline->default_map != NIL)
		result_window_set_defaults(state->window, state->pipeline->default_map);
	result_window_set_finish(state->window, collected_groups_finish,
							 prepare_groups(state, translation->collected_calls));
	if (state->parallel != NULL && !parallel_scan_claim(state))
	{
		state->is_done = true;
		return (PenumbraStatus) {PENUMBRA_OK};
	}
	return start_execution(state);
}

/*
 * Pins the chunks; not again when the node is rescanned, since what is proven stays so for a snapshot.
 * False: an expression that the plan reads as a column is none any more.
 */
static bool
open_tables(PenumbraScanState *state)
{
	MemoryContext old_context;
	bool		are_open = true;

	if (state->scan_context != NULL)
		return true;
	state->scan_context = AllocSetContextCreate(state->css.ss.ps.state->es_query_cxt,
												"Penumbra scan", ALLOCSET_DEFAULT_SIZES);
	old_context = MemoryContextSwitchTo(state->scan_context);
	for (int i = 0; i < state->input_count; i++)
	{
		for (int t = 0; t < state->inputs[i].table_count && are_open; t++)
			are_open = open_table(state, &state->inputs[i], t);
	}
	state->buffer_context = AllocSetContextCreate(state->scan_context, "Penumbra chunks from disk",
												  ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(old_context);
	return are_open;
}

/* Whether a row of the heap may end the execution after others of it were returned. */
static bool
reads_what_can_fail(const PenumbraScanState *state)
{
	for (int i = 0; i < state->input_count && state->is_streaming; i++)
	{
		for (int t = 0; t < state->inputs[i].table_count; t++)
		{
			if (heap_row_reader_can_fail(state->inputs[i].tables[t].reader))
				return true;
		}
	}
	return false;
}

/* The ordinary plan would evaluate it again. */
static bool
has_volatile_having(const PenumbraScanState *state)
{
	const Scan *scan = (const Scan *) state->css.ss.ps.plan;

	return scan->scanrelid == 0 && contain_volatile_functions((Node *) scan->plan.qual);
}

static void handle_status(PenumbraScanState *state, const PenumbraStatus *status);

void
engine_run_start(PenumbraScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	const char *reason = refusal_at_start(state, estate);
	Translation *translation;
	RuntimeValue *values;
	bool		has_failed;
	MemoryContext old_context;
	MemoryContext engine_context;
	PenumbraStatus status;

	state->is_started = true;
	if (reason != NULL && state->parallel != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("parallel scan by Penumbra cannot start"),
				 errdetail_internal("%s", reason)));
	if (reason != NULL)
	{
		ordinary_plan_start(state, reason);
		return;
	}
	if (!open_tables(state))
	{
		status = (PenumbraStatus) {PENUMBRA_UNSUPPORTED, "expression that cannot be cached any more"};
		handle_status(state, &status);
		return;
	}
	state->execution_context = AllocSetContextCreate(state->scan_context, "Penumbra execution",
													 ALLOCSET_DEFAULT_SIZES);
	old_context = MemoryContextSwitchTo(state->execution_context);
	/* Its context is older than the engine's, and contexts of one parent die youngest first. */
	values = runtime_values_evaluate(state, &has_failed);
	translation = translation_begin(state->pipeline->runtime_exprs, values);
	translation->called_exprs = state->pipeline->called_exprs;
	engine_context = AllocSetContextCreate(state->execution_context, "Penumbra engine",
										   ALLOCSET_SMALL_SIZES);
	if (stages_add_to_plan(translation, state->pipeline))
	{
		state->holds_rows = has_failed || reads_what_can_fail(state) ||
			penumbra_plan_can_be_unsupported_late(translation->plan) || translation->raises_late ||
			has_volatile_having(state);
		if (state->holds_rows && state->pipeline->top->kind == PIPELINE_RECURSION)
		{
			MemoryContextSwitchTo(old_context);
			translation_end(translation);
			ordinary_plan_start(state, "recursion of which rows would be held back");
			return;
		}
		if (state->holds_rows && row_identity_is_given(state))
			status = (PenumbraStatus) {PENUMBRA_UNSUPPORTED, "cursor of which rows are held back"};
		else
		{
			MemoryContextSwitchTo(engine_context);
			status = start_engine(state, translation);
		}
	}
	else
	{
		status.code = PENUMBRA_UNSUPPORTED;
		strlcpy(status.message, translation->reason, sizeof(status.message));
	}
	MemoryContextSwitchTo(old_context);
	if (status.code != PENUMBRA_OK)
		handle_status(state, &status);
}

void
engine_run_end(PenumbraScanState *state)
{
	if (state->execution_context == NULL)
		return;
	if (state->exec != NULL)
	{
		explain_keep_report(state);
		keep_learned(state);
	}
	MemoryContextDelete(state->execution_context);
	state->execution_context = NULL;
	state->window = NULL;
}

static void
release_table(ScanTable *table)
{
	Relation	rel = table->rel;

	if (table->reader != NULL)
		heap_row_reader_destroy(table->reader);
	if (table->cached != NULL)
		cache_scan_end(table->cached);
	memset(table, 0, sizeof(ScanTable));
	table->rel = rel;
}

void
engine_run_release(PenumbraScanState *state)
{
	if (state->scan_context == NULL)
		return;
	engine_run_end(state);
	for (int i = 0; i < state->input_count; i++)
	{
		for (int t = 0; t < state->inputs[i].table_count; t++)
			release_table(&state->inputs[i].tables[t]);
	}
	memset(state->reads, 0, sizeof(state->reads));
	MemoryContextDelete(state->scan_context);
	state->scan_context = NULL;
}

/* Starts again with the sides of a join swapped, of which more rows were built than expected. */
static bool
swap_and_restart(PenumbraScanState *state)
{
	MemoryContext old_context = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
	bool		is_swapped = swap_sides_of_too_large(state->pipeline, state->exec);

	MemoryContextSwitchTo(old_context);
	if (!is_swapped)
		return false;
	engine_run_end(state);
	external_rows_rescan(state);
	engine_run_start(state);
	return true;
}

/*
 * An error of the engine: the ordinary plan while nothing was returned, an
 * error after.  A parallel scan has no ordinary plan, because the other
 * processes could not follow; its quals cannot fail.
 */
static void
handle_status(PenumbraScanState *state, const PenumbraStatus *status)
{
	PenumbraStatus copy = *status;

	host_functions_raise(state);
	if (copy.code == PENUMBRA_BUILD_TOO_LARGE && swap_and_restart(state))
		return;
	if (copy.code == PENUMBRA_CANCELLED)
		CHECK_FOR_INTERRUPTS();
	if (state->has_emitted || state->parallel != NULL || copy.code == PENUMBRA_CANCELLED)
		status_report(&copy);
	if (penumbra_mode == MODE_REQUIRE &&
		(copy.code == PENUMBRA_UNSUPPORTED || copy.code == PENUMBRA_INTERNAL ||
		 copy.code == PENUMBRA_CORRUPT))
		status_report(&copy);
	if (copy.code == PENUMBRA_INTERNAL || copy.code == PENUMBRA_CORRUPT)
		ereport(LOG,
				(errmsg("Penumbra left a query to PostgreSQL: engine code %d", (int) copy.code),
				 errdetail_internal("%s", copy.message)));
	state->is_given_up = true;
	engine_run_release(state);
	ordinary_plan_start(state, status_text(&copy));
}

/* ---------------------------------------------------------------- running */

/*
 * Opens the next result in the window; false at the end and at an error of the
 * engine, which the caller handles in another memory context than that which
 * the handling deletes.  A streaming plan is fed only when it has
 * nothing to return, so that results do not pile up; nothing comes out of
 * any other before all went in.
 */
static bool
fetch_result(PenumbraScanState *state, PenumbraStatus *status)
{
	PenumbraResult result;
	bool		wants_rows = !state->is_streaming;
	ScanInput  *input;

	*status = (PenumbraStatus) {PENUMBRA_OK};
	while (status->code == PENUMBRA_OK)
	{
		CHECK_FOR_INTERRUPTS();
		if (wants_rows && (input = scan_input_find(state, penumbra_exec_wanted_scan(state->exec))) != NULL)
		{
			bool		waits;

			*status = scan_input_push(state, input, &waits);
			wants_rows = !state->is_streaming && !waits;
			continue;
		}
		switch (penumbra_exec_fetch(state->exec, &result, status))
		{
			case PENUMBRA_FETCH_ROWS:
				if (result.rows == 0)
					break;
				result_window_open(state->window, &result);
				return true;
			case PENUMBRA_FETCH_WAIT:
				wants_rows = true;
				break;
			case PENUMBRA_FETCH_DONE:
				/* what it has read may go when the next part is proven */
				if (state->parallel != NULL)
				{
					keep_learned(state);
					destroy_exec(state);
				}
				if (state->parallel == NULL || !parallel_scan_claim(state))
				{
					state->is_done = true;
					return false;
				}
				*status = start_execution(state);
				break;
			case PENUMBRA_FETCH_ERROR:
				if (status->code == PENUMBRA_OK)
					status->code = PENUMBRA_INTERNAL;
				break;
		}
	}
	return false;
}

bool
engine_run_next(PenumbraScanState *state, TupleTableSlot *slot)
{
	MemoryContext old_context;
	PenumbraStatus status;
	bool		has_result;

	while (!state->is_done && state->ordinary == NULL)
	{
		if (result_window_next(state->window, slot))
		{
			if (row_identity_is_given(state))
				row_identity_set(state);
			fetched_columns_fill(state, slot);
			return true;
		}
		old_context = MemoryContextSwitchTo(state->execution_context);
		has_result = fetch_result(state, &status);
		MemoryContextSwitchTo(old_context);
		if (status.code != PENUMBRA_OK)
			handle_status(state, &status);
		if (has_result || !state->is_done)
			continue;
		if (state->is_rescanned)
			engine_run_end(state);
		else
			engine_run_release(state);
	}
	return false;
}

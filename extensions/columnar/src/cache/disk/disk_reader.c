/*-------------------------------------------------------------------------
 *
 * disk_reader.c
 *	  The process that reads back, after the server's start, what is on disk.
 *
 * Scans read what they want themselves; this brings the rest back into memory
 * while nobody wants it, the column that was used most first, as long as memory
 * is free: nothing is evicted for it.  The disk belongs to scans: while others
 * read from it, this process waits.
 *
 * It is connected to no database, as the launcher is.  What it holds, pinned
 * segments and pages that they are read into, is let go at its exit at the
 * latest.  If an error or a signal ends it before it is done, the postmaster
 * starts it again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "pg_compat.h"
#include "cache/disk/disk_cache.h"
#include "cache/disk/disk_reader.h"
#include "cache/process.h"
#include "cache/region.h"
#include "cache/wanted.h"

/* Segments that are read at a time. */
#define SEGMENTS_AHEAD	8

/* While others read. */
#define PAUSE_MS		20

typedef struct ColdColumn
{
	CacheKey	key;
	ColumnKey	column;
	uint32		uses;
	uint64		disk_bytes;
} ColdColumn;

typedef struct ReadSegment
{
	CachedChunk *chunk;			/* pinned with the segment; NULL: none is read */
	ColumnKey	column;
	ChunkBuffer *buffer;
} ReadSegment;

static ReadSegment reads[SEGMENTS_AHEAD];
static int	next_read = 0;
static uint64 segments_read = 0;
static uint64 column_bytes_left = 0;	/* of the column that is read */

void
disk_start_reader(void)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = DISK_RESTART_SECONDS,
	};

	if (pg_atomic_read_u32(&disk_control->state) != DISK_OPEN ||
		pg_atomic_read_u64(&disk_control->restored_segments) == 0)
		return;
	strlcpy(worker.bgw_name, "penumbra disk cache reader", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "penumbra disk cache reader", BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "penumbra", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "penumbra_disk_reader_main", BGW_MAXLEN);
	/* where there is no place for it, scans read all */
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

static int
compare_columns(const void *left, const void *right)
{
	const ColdColumn *l = left;
	const ColdColumn *r = right;

	if (l->uses != r->uses)
		return l->uses > r->uses ? -1 : 1;
	if (l->key.filenumber != r->key.filenumber)
		return l->key.filenumber < r->key.filenumber ? -1 : 1;
	return column_keys_compare(l->column, r->column);
}

/* All columns that are cached, those used most first. */
static int
list_columns(ColdColumn **columns)
{
	RelationSummary *relations;
	int			relation_count = directory_list_relations(InvalidOid, InvalidOid, &relations);
	int			limit = 64;
	int			count = 0;

	*columns = palloc(sizeof(ColdColumn) * limit);
	for (int i = 0; i < relation_count; i++)
	{
		ColumnSummary *summaries;
		int			column_count = directory_list_columns(&relations[i].key, &summaries);

		for (int c = 0; c < column_count; c++)
		{
			if (count == limit)
				*columns = repalloc(*columns, sizeof(ColdColumn) * (limit *= 2));
			(*columns)[count].key = relations[i].key;
			(*columns)[count].column = summaries[c].column;
			(*columns)[count].uses = summaries[c].uses;
			(*columns)[count++].disk_bytes = summaries[c].disk_bytes;
		}
		pfree(summaries);
	}
	qsort(*columns, count, sizeof(ColdColumn), compare_columns);
	return count;
}

/* Of the column in hand, at most what is left of it. */
static void
note_read(uint64 bytes)
{
	uint64		noted = Min(bytes, column_bytes_left);

	column_bytes_left -= noted;
	pg_atomic_fetch_add_u64(&disk_control->reader_bytes, bytes);
	pg_atomic_fetch_sub_u64(&disk_control->reader_bytes_left, noted);
}

static void
end_read(ReadSegment *read)
{
	CachedChunk *chunk = read->chunk;
	const void *segment;

	if (chunk == NULL)
		return;
	if (disk_cache_end_chunk(chunk, &read->column, 1, read->buffer, &segment))
	{
		segments_read++;
		note_read(chunk_slot(chunk, read->column)->extent.bytes);
	}
	read->chunk = NULL;
	directory_unpin_chunk(chunk, &read->column, 1);
}

static void
release_at_exit(int code, Datum argument)
{
	pg_atomic_write_u64(&disk_control->reader_since, 0);
	pg_atomic_write_u64(&disk_control->reader_bytes_left, 0);
	disk_cache_release_buffers();
	for (int i = 0; i < SEGMENTS_AHEAD; i++)
	{
		if (reads[i].chunk != NULL)
			directory_unpin_chunk(reads[i].chunk, &reads[i].column, 1);
		reads[i].chunk = NULL;
	}
}

/* Waits while others read; false: this process is to end. */
static bool
give_way(void)
{
	static int64 others_before = 0;
	int64		others;

	while (!ShutdownRequestPending &&
		   (others = (int64) (pg_atomic_read_u64(&disk_control->segments_read) - segments_read)) != others_before)
	{
		others_before = others;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, PAUSE_MS,
						 WaitEventExtensionNew("PenumbraDiskReadBackDelay"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	process_handle_signals();
	return !ShutdownRequestPending;
}

/* Reads what of a column is not in memory; false: there is no room, or this process is to end. */
static bool
read_column(const ColdColumn *column)
{
	uint32		number = 0;

	for (;;)
	{
		ReadSegment *read = &reads[next_read];
		CachedChunk *chunk;

		end_read(read);
		if (!give_way())
			return false;
		chunk = directory_pin_next_cold(&column->key, number, column->column);
		if (chunk == NULL)
			return true;
		number = chunk->number + 1;
		if (region_free_bytes() < region_cost_bytes(chunk_slot(chunk, column->column)->bytes))
		{
			directory_unpin_chunk(chunk, &column->column, 1);
			return false;
		}
		read->column = column->column;
		read->chunk = chunk;
		disk_cache_begin_chunk(chunk, &read->column, 1, read->buffer);
		next_read = (next_read + 1) % SEGMENTS_AHEAD;
	}
}

/*
 * False: another process reads, or the launcher will start one.  The postmaster
 * starts this process also when the server restarts after a crash.
 */
static bool
is_the_reader(void)
{
	uint64		nobody = 0;

	return wanted_list_is_read() &&
		pg_atomic_compare_exchange_u64(&disk_control->reader_since, &nobody, (uint64) GetCurrentTimestamp());
}

void
penumbra_disk_reader_main(Datum argument)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "penumbra disk cache reader",
												  ALLOCSET_DEFAULT_SIZES);
	ColdColumn *columns;
	int			count;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, PG_SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	if (!is_the_reader())
		proc_exit(0);
	before_shmem_exit(release_at_exit, (Datum) 0);
	MemoryContextSwitchTo(context);
	for (int i = 0; i < SEGMENTS_AHEAD; i++)
		reads[i].buffer = cache_create_buffer(context);
	count = list_columns(&columns);
	for (int i = 0; i < count; i++)
		pg_atomic_fetch_add_u64(&disk_control->reader_bytes_left, columns[i].disk_bytes);
	for (int i = 0; i < count; i++)
	{
		/* queries may have read some of the column before */
		pg_atomic_fetch_sub_u64(&disk_control->reader_bytes_left, column_bytes_left);
		column_bytes_left = columns[i].disk_bytes;
		if (!read_column(&columns[i]))
			break;
	}
	for (int i = 0; i < SEGMENTS_AHEAD; i++)
		end_read(&reads[i]);
	/* else started again, unless the server stops */
	proc_exit(ShutdownRequestPending ? 1 : 0);
}

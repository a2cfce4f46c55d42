/*-------------------------------------------------------------------------
 *
 * disk_cache.c
 *	  The disk cache on disk: segments outlive eviction, and the server.
 *
 * One worker of the server writes: after a load what is in memory and not on
 * disk, then headers, then the manifest that names them.  At its start it
 * gives the manifest's chunks to the directory, without their segments, which
 * scans read when they want them.  Nothing here is on a query's path but that
 * read.
 *
 * Files are appended, never changed, and their numbers not used twice, so a
 * reader finds in an extent what was written, or nothing; the checksum is
 * against faults.  A file is unlinked when no manifest names it any more.
 *
 * Locks: none of its own.  The directory lock is taken by the functions of the
 * directory, never across I/O.  Numbers are atomic.  The worker is the only
 * process that writes files, or says where copies are (disk_worker.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/xlog.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "postmaster/bgworker.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "cache/disk/disk_cache.h"
#include "cache/disk/disk_pack.h"
#include "cache/region.h"
#include "cache/stop_points.h"

/* Between looks at whether all is saved. */
#define SAVED_PAUSE_MS	10
/* Between looks at whether all is found. */
#define START_PAUSE_MS	1
/* How long a worker that is expected may take to be there: a restart, and a second. */
#define WORKER_START_MS	(DISK_RESTART_SECONDS * 1000 + 1000)

static int	disk_cache_mb = 0;
static bool disk_cache_compression = false;
DiskControl *disk_control = NULL;

/* ---------------------------------------------------------------- set-up -- */

/* As with penumbra.memory: refused where somebody sets it, while a server whose file has it starts without. */
static bool
check_disk_directory(char **newval, void **extra, GucSource source)
{
	if (!IsUnderPostmaster || **newval == '\0' ||
		(is_absolute_path(*newval) && strlen(*newval) <= DISK_PATH_BYTES_MAX))
		return true;
	GUC_check_errdetail("It is empty, or an absolute path of at most %d bytes.", DISK_PATH_BYTES_MAX);
	return false;
}

void
disk_cache_define_settings(void)
{
	DefineCustomIntVariable("penumbra.disk_cache_size",
							"Disk space for cached columns.",
							"Columns that were loaded are kept in files, where they outlive eviction and "
							"restarts. 0 keeps none.",
							&disk_cache_mb, 0, 0, INT_MAX / 2,
							PGC_POSTMASTER, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomStringVariable("penumbra.disk_cache_directory",
							   "Directory of the files of penumbra.disk_cache_size.",
							   "It must exist, belong to the server's user, not be writable by others, and be "
							   "used by one server only. Empty is in the data directory.",
							   &disk_directory_setting, "", PGC_POSTMASTER, GUC_SUPERUSER_ONLY,
							   check_disk_directory, NULL, NULL);
	DefineCustomBoolVariable("penumbra.disk_cache_compression",
							 "Compresses long values in the files of penumbra.disk_cache_size.",
							 "It pays where the disk reads less than about 1.5 GB/s.",
							 &disk_cache_compression, false, PGC_SIGHUP, 0, NULL, NULL, NULL);
}

bool
disk_cache_packs(void)
{
	return disk_cache_compression;
}

bool
disk_cache_is_enabled(void)
{
	return disk_cache_mb > 0;
}

uint64
disk_cache_budget_bytes(void)
{
	return (uint64) disk_cache_mb * 1024 * 1024;
}

Size
disk_cache_shmem_bytes(void)
{
	return sizeof(DiskControl);
}

void
disk_cache_shmem_startup(void *shmem)
{
	disk_control = shmem;
	memset(disk_control, 0, sizeof(*disk_control));
	SpinLockInit(&disk_control->lock);
	disk_cache_expect_worker();
	pg_atomic_init_u32(&disk_control->state, disk_cache_is_enabled() ? DISK_OPENING : DISK_OFF);
	pg_atomic_init_u64(&disk_control->loads, disk_cache_is_enabled() ? 1 : 0);
	manifest_note_start(&disk_control->start);
}

void
disk_cache_register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = DISK_RESTART_SECONDS,
	};

	if (!disk_cache_is_enabled())
		return;
	strlcpy(worker.bgw_name, "penumbra disk cache", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "penumbra disk cache", BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "penumbra", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "penumbra_disk_worker_main", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

void
disk_cache_wake(void)
{
	Latch	   *latch;

	if (!disk_cache_is_enabled() || disk_control == NULL)
		return;
	pg_atomic_fetch_add_u64(&disk_control->loads, 1);
	SpinLockAcquire(&disk_control->lock);
	latch = disk_control->latch;
	SpinLockRelease(&disk_control->lock);
	/* whoever has it by now does not mind */
	if (latch != NULL)
		SetLatch(latch);
}

void
disk_cache_expect_worker(void)
{
	TimestampTz now = GetCurrentTimestamp();

	SpinLockAcquire(&disk_control->lock);
	disk_control->expected = now;
	SpinLockRelease(&disk_control->lock);
}

static bool
has_worker(void)
{
	bool		found;

	SpinLockAcquire(&disk_control->lock);
	found = disk_control->latch != NULL;
	SpinLockRelease(&disk_control->lock);
	return found;
}

/* Whether a worker is there, or may still come. */
static bool
may_have_worker(void)
{
	TimestampTz expected;

	if (has_worker())
		return true;
	SpinLockAcquire(&disk_control->lock);
	expected = disk_control->expected;
	SpinLockRelease(&disk_control->lock);
	return !TimestampDifferenceExceeds(expected, GetCurrentTimestamp(), WORKER_START_MS);
}

bool
disk_cache_is_opening(void)
{
	return pg_atomic_read_u32(&disk_control->state) == DISK_OPENING && !RecoveryInProgress() && may_have_worker();
}

/* The state, or that it lacks the process for it. */
static DiskState
effective_state(void)
{
	DiskState	state = pg_atomic_read_u32(&disk_control->state);

	if ((state == DISK_OPEN && !has_worker()) ||
		(state == DISK_OPENING && !RecoveryInProgress() && !may_have_worker()))
		return DISK_STOPPED;
	return state;
}

/* A failed write ends the wait: a later attempt may fail as well. */
bool
disk_cache_await_saved(void)
{
	uint64		errors;
	uint64		loads;

	if (disk_control == NULL || pg_atomic_read_u32(&disk_control->state) != DISK_OPEN)
		return false;
	errors = pg_atomic_read_u64(&disk_control->write_errors);
	pg_atomic_write_u32(&disk_control->hurries, 1);
	disk_cache_wake();
	loads = pg_atomic_read_u64(&disk_control->loads);
	while (pg_atomic_read_u64(&disk_control->saved_loads) < loads)
	{
		/* not for a worker that is to come: the caller holds a lock and a snapshot */
		if (pg_atomic_read_u32(&disk_control->state) != DISK_OPEN || !has_worker() ||
			pg_atomic_read_u64(&disk_control->write_errors) != errors)
			return false;
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SAVED_PAUSE_MS,
						 WaitEventExtensionNew("PenumbraDiskSave"));
		ResetLatch(MyLatch);
	}
	return true;
}

void
cache_await_start(double milliseconds)
{
	instr_time	begun;
	instr_time	elapsed;

	if (disk_control == NULL || !disk_cache_is_opening())
		return;
	INSTR_TIME_SET_CURRENT(begun);
	do
	{
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, START_PAUSE_MS,
						 WaitEventExtensionNew("PenumbraDiskStart"));
		ResetLatch(MyLatch);
		INSTR_TIME_SET_CURRENT(elapsed);
		INSTR_TIME_SUBTRACT(elapsed, begun);
	} while (disk_cache_is_opening() && INSTR_TIME_GET_MILLISEC(elapsed) < milliseconds);
}

bool
disk_cache_has_loads(void)
{
	return pg_atomic_read_u64(&disk_control->loads) != pg_atomic_read_u64(&disk_control->saved_loads);
}

void
disk_cache_get_stats(DiskStats *stats)
{
	stats->state = effective_state();
	stats->is_pending = disk_cache_has_loads() && stats->state != DISK_OFF && stats->state != DISK_REFUSED;
	stats->budget_bytes = disk_cache_budget_bytes();
	stats->file_bytes = pg_atomic_read_u64(&disk_control->file_bytes);
	stats->saved_chunks = pg_atomic_read_u64(&disk_control->saved_chunks);
	stats->saved_segments = pg_atomic_read_u64(&disk_control->saved_segments);
	stats->saved_bytes = pg_atomic_read_u64(&disk_control->saved_bytes);
	stats->restored_chunks = pg_atomic_read_u64(&disk_control->restored_chunks);
	stats->restored_segments = pg_atomic_read_u64(&disk_control->restored_segments);
	stats->restored_bytes = pg_atomic_read_u64(&disk_control->restored_bytes);
	stats->segments_read = pg_atomic_read_u64(&disk_control->segments_read);
	stats->bytes_read = pg_atomic_read_u64(&disk_control->bytes_read);
	stats->reader_since = (TimestampTz) pg_atomic_read_u64(&disk_control->reader_since);
	stats->reader_bytes = pg_atomic_read_u64(&disk_control->reader_bytes);
	stats->reader_bytes_left = pg_atomic_read_u64(&disk_control->reader_bytes_left);
	stats->read_errors = pg_atomic_read_u64(&disk_control->read_errors);
	stats->damaged = pg_atomic_read_u64(&disk_control->damaged);
	stats->bytes_written = pg_atomic_read_u64(&disk_control->bytes_written);
	stats->write_errors = pg_atomic_read_u64(&disk_control->write_errors);
}

void
disk_cache_reset_counts(void)
{
	pg_atomic_write_u64(&disk_control->segments_read, 0);
	pg_atomic_write_u64(&disk_control->bytes_read, 0);
	pg_atomic_write_u64(&disk_control->read_errors, 0);
	pg_atomic_write_u64(&disk_control->damaged, 0);
	pg_atomic_write_u64(&disk_control->bytes_written, 0);
	pg_atomic_write_u64(&disk_control->write_errors, 0);
}

/* ---------------------------------------------------------------- reading - */

/*
 * Forgets a copy that could not be read, counts it, and says so in the log the
 * first time.  False: it was forgotten meanwhile, perhaps with its file.
 */
static bool
note_fault(CachedChunk *chunk, ColumnKey column, DiskFault fault, const DiskExtent *extent)
{
	int			code = errno;

	if (!directory_drop_extent(chunk, column, extent))
		return false;
	pg_atomic_fetch_add_u64(fault == DISK_DAMAGED ? &disk_control->damaged : &disk_control->read_errors, 1);
	if (pg_atomic_exchange_u32(&disk_control->has_warned, 1) != 0)
		return true;
	errno = code;
	ereport(LOG,
			(errcode(fault == DISK_DAMAGED ? ERRCODE_DATA_CORRUPTED : ERRCODE_IO_ERROR),
			 fault == DISK_DAMAGED ?
			 errmsg("cached column in file %08X of \"%s\" is damaged", extent->file, disk_files()) :
			 code == 0 ?
			 errmsg("cached column in file %08X of \"%s\" is not there", extent->file, disk_files()) :
			 errmsg("could not read cached column in file %08X of \"%s\": %m", extent->file, disk_files()),
			 errdetail("Its rows are read from the table. The view penumbra.disk counts further ones.")));
	return true;
}

/*
 * Of an extent that was read, unless there was a fault: unpacks it to `segment`,
 * if it is packed, and says whether it is the column's segment: its rows are as
 * many as the chunk's, and its zone map is the one by which scans exclude it.
 */
static DiskFault
check_segment(const CachedChunk *chunk, ColumnKey column, const DiskExtent *extent, const void *memory,
			  void *segment, DiskFault fault)
{
	PenumbraStatus status;
	PenumbraZoneMap zone_map;

	if (fault != DISK_FINE)
		return fault;
	if (disk_is_packed(extent) && !disk_unpack(memory, extent->bytes, segment, extent->plain_bytes))
		return DISK_DAMAGED;
	status = penumbra_segment_check(segment, extent->plain_bytes);
	if (status.code != PENUMBRA_OK)
		return DISK_DAMAGED;
	penumbra_segment_get_zone_map(segment, &zone_map);
	return zone_map.rows == chunk->rows &&
		memcmp(&zone_map, &chunk_slot(chunk, column)->zone_map, sizeof(zone_map)) == 0 ? DISK_FINE : DISK_DAMAGED;
}

static void
count_read(const DiskExtent *extent)
{
	pg_atomic_fetch_add_u64(&disk_control->segments_read, 1);
	pg_atomic_fetch_add_u64(&disk_control->bytes_read, extent->bytes);
}

/* ---------------------------------------------------------------- chunks of scans */

/*
 * A segment that is on its way into memory: into a page of the region, if it is
 * worth one, which is this process's alone until the directory has it; else into
 * memory of the buffer.
 */
typedef struct SegmentRead
{
	DiskRead	read;			/* extent.file 0: none is needed */
	void	   *page;			/* or NULL */
} SegmentRead;

struct ChunkBuffer
{
	MemoryContext context;
	MemoryContextCallback callback;
	dlist_node	node;			/* in open_buffers */
	char	   *memory;			/* or NULL: of what gets no page, and of what is packed, one after the other */
	Size		bytes;
	SegmentRead *segments;		/* by place among the columns of the scan */
	int			segment_limit;
};

static dlist_head open_buffers = DLIST_STATIC_INIT(open_buffers);

static void
free_page(SegmentRead *segment)
{
	if (segment->page != NULL)
		region_free(segment->page, segment->read.extent.plain_bytes);
	segment->page = NULL;
}

/* Pages that the directory did not take, when the system has done with them. */
static void
free_pages(ChunkBuffer *buffer)
{
	if (cache_scan_is_reading(buffer))
		disk_await_reads();
	for (int i = 0; i < buffer->segment_limit; i++)
		free_page(&buffer->segments[i]);
}

static void
release_buffer(void *argument)
{
	ChunkBuffer *buffer = argument;

	free_pages(buffer);
	dlist_delete(&buffer->node);
}

void
disk_cache_release_buffers(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_buffers)
		free_pages(dlist_container(ChunkBuffer, node, iter.cur));
}

/* In a context of its own, whose callback comes before its memory goes. */
ChunkBuffer *
cache_create_buffer(MemoryContext context)
{
	ChunkBuffer *buffer;

	context = AllocSetContextCreate(context, "Penumbra chunk buffer", ALLOCSET_SMALL_SIZES);
	buffer = MemoryContextAllocZero(context, sizeof(ChunkBuffer));
	buffer->context = context;
	buffer->callback.func = release_buffer;
	buffer->callback.arg = buffer;
	dlist_push_head(&open_buffers, &buffer->node);
	MemoryContextRegisterResetCallback(context, &buffer->callback);
	return buffer;
}

void
cache_free_buffer(ChunkBuffer *buffer)
{
	MemoryContextDelete(buffer->context);
}

Size
cache_buffer_bytes(const ChunkBuffer *buffer)
{
	Size		bytes = buffer->bytes;

	for (int i = 0; i < buffer->segment_limit; i++)
		bytes += buffer->segments[i].page == NULL ? 0 : buffer->segments[i].read.extent.plain_bytes;
	return bytes;
}

bool
cache_scan_is_reading(ChunkBuffer *buffer)
{
	bool		is_reading = false;

	disk_poll_reads();
	for (int i = 0; i < buffer->segment_limit; i++)
		is_reading |= buffer->segments[i].read.is_pending;
	return is_reading;
}

/* Aligned memory of so many bytes; NULL: there is none. */
static char *
reserve_memory(ChunkBuffer *buffer, Size bytes)
{
	bytes += DISK_UNIT_BYTES;
	if (bytes > buffer->bytes)
	{
		if (buffer->memory != NULL)
			pfree(buffer->memory);
		buffer->memory = MemoryContextAllocExtended(buffer->context, bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
		buffer->bytes = buffer->memory == NULL ? 0 : bytes;
	}
	return (char *) TYPEALIGN(DISK_UNIT_BYTES, buffer->memory);
}

/* Finds what is to be read, and pages for what is worth one; the memory that all else takes. */
static Size
prepare_reads(CachedChunk *chunk, const ColumnKey *columns, int ncolumns, ChunkBuffer *buffer)
{
	Size		bytes = 0;

	for (int i = 0; i < ncolumns; i++)
	{
		SegmentRead *segment = &buffer->segments[i];
		DiskExtent *extent = &segment->read.extent;

		segment->read.memory = segment->read.segment = NULL;
		if (directory_find_extent(chunk, columns[i], extent))
			extent->file = 0;
		if (extent->file == 0)
			continue;
		segment->page = directory_allocate_for(chunk, columns[i]);
		if (segment->page == NULL || disk_is_packed(extent))
			bytes += disk_cost_bytes(extent->bytes);
		if (segment->page == NULL && disk_is_packed(extent))
			bytes += disk_cost_bytes(extent->plain_bytes);
	}
	return bytes;
}

/* Begins a read, which takes what it needs of the memory. */
static char *
begin_segment(SegmentRead *segment, char *memory)
{
	DiskRead   *read = &segment->read;
	bool		is_packed = disk_is_packed(&read->extent);

	if (segment->page != NULL)
		region_populate_for_write(segment->page, read->extent.plain_bytes);
	read->memory = segment->page;
	if (segment->page == NULL || is_packed)
	{
		if (memory == NULL)
			return NULL;
		read->memory = memory;
		memory += disk_cost_bytes(read->extent.bytes);
	}
	read->segment = segment->page != NULL ? segment->page : read->memory;
	if (segment->page == NULL && is_packed)
	{
		read->segment = memory;
		memory += disk_cost_bytes(read->extent.plain_bytes);
	}
	disk_begin_read(read);
	return memory;
}

void
disk_cache_begin_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns, ChunkBuffer *buffer)
{
	Size		bytes;
	char	   *memory = NULL;

	/* of what was begun and given up, too */
	free_pages(buffer);
	if (ncolumns > buffer->segment_limit)
	{
		buffer->segments = MemoryContextAllocZero(buffer->context, sizeof(SegmentRead) * ncolumns);
		buffer->segment_limit = ncolumns;
	}
	bytes = prepare_reads(chunk, columns, ncolumns, buffer);
	STOP_POINT("disk-before-read");
	if (bytes > 0)
		memory = reserve_memory(buffer, bytes);
	for (int i = 0; i < ncolumns; i++)
	{
		if (buffer->segments[i].read.extent.file != 0)
			memory = begin_segment(&buffer->segments[i], memory);
	}
	STOP_POINT("disk-reading");
}

/* Where a segment is, which is pinned, so it stays there; NULL: nowhere. */
static const void *
end_segment(CachedChunk *chunk, ColumnKey column, SegmentRead *reading)
{
	DiskRead   *read = &reading->read;
	DiskExtent	extent = read->extent;
	CachedSegment *segment = chunk_slot(chunk, column);
	DiskFault	fault;

	if (extent.file == 0 || read->memory == NULL)
		return segment->segment;
	fault = check_segment(chunk, column, &extent, read->memory, read->segment, disk_end_read(read));
	if (fault != DISK_FINE)
	{
		free_page(reading);
		note_fault(chunk, column, fault, &extent);
		return NULL;
	}
	count_read(&extent);
	if (reading->page != NULL && directory_put_segment(chunk, column, reading->page))
	{
		reading->page = NULL;
		region_note_populated(segment->serial);
	}
	/* neither: the copy on disk was forgotten meanwhile, and what was read is the scan's alone */
	if (segment->segment == NULL)
		return read->segment;
	free_page(reading);
	return segment->segment;
}

bool
disk_cache_end_chunk(CachedChunk *chunk, const ColumnKey *columns, int ncolumns, ChunkBuffer *buffer,
					 const void **segments)
{
	bool		has_all = true;

	for (int i = 0; i < ncolumns; i++)
	{
		segments[i] = end_segment(chunk, columns[i], &buffer->segments[i]);
		has_all = has_all && segments[i] != NULL;
	}
	return has_all;
}

/* ---------------------------------------------------------------- single segments */

/* Reads a segment, if it is packed through a buffer that has a unit more than it takes on disk. */
static DiskFault
read_segment(const CachedChunk *chunk, ColumnKey column, const DiskExtent *extent, char *buffer, void *segment)
{
	void	   *memory = disk_is_packed(extent) ? (void *) TYPEALIGN(DISK_UNIT_BYTES, buffer) : segment;

	return check_segment(chunk, column, extent, memory, segment, disk_read(extent, memory));
}

/* The memory is nobody's until the directory has it: nothing in between can raise an error. */
bool
disk_cache_fetch(CachedChunk *chunk, ColumnKey column)
{
	DiskExtent	extent;
	DiskFault	fault;
	char	   *buffer;
	void	   *page;
	bool		is_put = false;

	if (directory_find_extent(chunk, column, &extent))
		return true;
	if (extent.file == 0)
		return false;
	buffer = palloc_extended(disk_cost_bytes(extent.bytes) + DISK_UNIT_BYTES, MCXT_ALLOC_HUGE);
	page = directory_allocate(extent.plain_bytes, PG_UINT64_MAX, 0);
	if (page == NULL)
	{
		pfree(buffer);
		return false;
	}
	fault = read_segment(chunk, column, &extent, buffer, page);
	if (fault == DISK_FINE)
	{
		count_read(&extent);
		is_put = directory_put_segment(chunk, column, page);
	}
	if (!is_put)
		region_free(page, extent.plain_bytes);
	pfree(buffer);
	if (is_put)
		return true;
	if (fault == DISK_FINE)
		return directory_find_extent(chunk, column, &extent);
	note_fault(chunk, column, fault, &extent);
	return false;
}

bool
disk_cache_check_copy(CachedChunk *chunk, ColumnKey column)
{
	DiskExtent	extent;
	char	   *buffer;
	char	   *plain;
	void	   *segment;
	DiskFault	fault;

	(void) directory_find_extent(chunk, column, &extent);
	if (extent.file == 0)
		return true;
	plain = palloc_extended(disk_cost_bytes(extent.plain_bytes) + DISK_UNIT_BYTES, MCXT_ALLOC_HUGE);
	segment = (void *) TYPEALIGN(DISK_UNIT_BYTES, plain);
	buffer = palloc_extended(disk_cost_bytes(extent.bytes) + DISK_UNIT_BYTES, MCXT_ALLOC_HUGE);
	fault = read_segment(chunk, column, &extent, buffer, segment);
	pfree(plain);
	pfree(buffer);
	return fault == DISK_FINE || !note_fault(chunk, column, fault, &extent);
}

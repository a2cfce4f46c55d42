/*-------------------------------------------------------------------------
 *
 * tier.c
 *	  The tier on disk: segments outlive eviction, and the server.
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
 * process that writes files, or says where copies are (tier_worker.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

#include "cache/region.h"
#include "cache/stop_points.h"
#include "cache/tier.h"

/* Between looks at whether all is saved. */
#define SAVED_PAUSE_MS	10

static int	disk_cache_mb = 0;
TierControl *tier_control = NULL;

/* ---------------------------------------------------------------- set-up -- */

void
tier_define_settings(void)
{
	DefineCustomIntVariable("penumbra.disk_cache",
							"Disk space for cached columns.",
							"Columns that were loaded are kept in files below the data directory, "
							"where they outlive eviction and restarts. 0 keeps none.",
							&disk_cache_mb, 0, 0, INT_MAX / 2,
							PGC_POSTMASTER, GUC_UNIT_MB, NULL, NULL, NULL);
}

bool
tier_is_enabled(void)
{
	return disk_cache_mb > 0;
}

uint64
tier_budget_bytes(void)
{
	return (uint64) disk_cache_mb * 1024 * 1024;
}

Size
tier_shmem_bytes(void)
{
	return sizeof(TierControl);
}

void
tier_shmem_startup(void *shmem)
{
	tier_control = shmem;
	memset(tier_control, 0, sizeof(*tier_control));
	SpinLockInit(&tier_control->lock);
	pg_atomic_init_u32(&tier_control->state, tier_is_enabled() ? TIER_OPENING : TIER_OFF);
	pg_atomic_init_u64(&tier_control->loads, tier_is_enabled() ? 1 : 0);
	if (tier_is_enabled())
		manifest_note_start(&tier_control->start);
}

void
tier_register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = 5,
	};

	if (!tier_is_enabled())
		return;
	strlcpy(worker.bgw_name, "penumbra disk cache", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "penumbra disk cache", BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "penumbra", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "penumbra_tier_main", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

void
tier_wake(void)
{
	Latch	   *latch;

	if (!tier_is_enabled() || tier_control == NULL)
		return;
	pg_atomic_fetch_add_u64(&tier_control->loads, 1);
	SpinLockAcquire(&tier_control->lock);
	latch = tier_control->latch;
	SpinLockRelease(&tier_control->lock);
	/* whoever has it by now does not mind */
	if (latch != NULL)
		SetLatch(latch);
}

bool
tier_await_saved(void)
{
	uint64		errors;
	uint64		loads;

	if (tier_control == NULL || pg_atomic_read_u32(&tier_control->state) != TIER_OPEN)
		return false;
	errors = pg_atomic_read_u64(&tier_control->write_errors);
	pg_atomic_write_u32(&tier_control->hurries, 1);
	tier_wake();
	loads = pg_atomic_read_u64(&tier_control->loads);
	while (pg_atomic_read_u64(&tier_control->saved_loads) < loads)
	{
		if (pg_atomic_read_u32(&tier_control->state) != TIER_OPEN ||
			pg_atomic_read_u64(&tier_control->write_errors) != errors)
			return false;
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SAVED_PAUSE_MS,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	return true;
}

bool
tier_has_loads(void)
{
	return pg_atomic_read_u64(&tier_control->loads) != pg_atomic_read_u64(&tier_control->saved_loads);
}

void
tier_get_stats(TierStats *stats)
{
	stats->state = pg_atomic_read_u32(&tier_control->state);
	stats->is_pending = tier_has_loads() && (stats->state == TIER_OPENING || stats->state == TIER_OPEN);
	stats->budget_bytes = tier_budget_bytes();
	stats->file_bytes = pg_atomic_read_u64(&tier_control->file_bytes);
	stats->saved_chunks = pg_atomic_read_u64(&tier_control->saved_chunks);
	stats->saved_segments = pg_atomic_read_u64(&tier_control->saved_segments);
	stats->saved_bytes = pg_atomic_read_u64(&tier_control->saved_bytes);
	stats->restored_chunks = pg_atomic_read_u64(&tier_control->restored_chunks);
	stats->segments_read = pg_atomic_read_u64(&tier_control->segments_read);
	stats->bytes_read = pg_atomic_read_u64(&tier_control->bytes_read);
	stats->read_errors = pg_atomic_read_u64(&tier_control->read_errors);
	stats->damaged = pg_atomic_read_u64(&tier_control->damaged);
	stats->bytes_written = pg_atomic_read_u64(&tier_control->bytes_written);
	stats->write_errors = pg_atomic_read_u64(&tier_control->write_errors);
}

/* ---------------------------------------------------------------- reading - */

/*
 * Forgets a copy that could not be read, counts it, and says so in the log the
 * first time.  False: it was forgotten meanwhile, perhaps with its file.
 */
static bool
note_fault(CachedChunk *chunk, AttrNumber attnum, TierFault fault, const TierExtent *extent)
{
	int			code = errno;

	if (!directory_drop_extent(chunk, attnum, extent))
		return false;
	pg_atomic_fetch_add_u64(fault == TIER_DAMAGED ? &tier_control->damaged : &tier_control->read_errors, 1);
	if (pg_atomic_exchange_u32(&tier_control->has_warned, 1) != 0)
		return true;
	errno = code;
	ereport(LOG,
			(errcode(fault == TIER_DAMAGED ? ERRCODE_DATA_CORRUPTED : ERRCODE_IO_ERROR),
			 fault == TIER_DAMAGED ?
			 errmsg("cached column in file %08X of \"%s\" is damaged", extent->file, TIER_FILES) :
			 code == 0 ?
			 errmsg("cached column in file %08X of \"%s\" is not there", extent->file, TIER_FILES) :
			 errmsg("could not read cached column in file %08X of \"%s\": %m", extent->file, TIER_FILES),
			 errdetail("Its rows are read from the table. The view penumbra.disk counts further ones.")));
	return true;
}

/* Reads and checks an extent that should be a segment of so many rows. */
static TierFault
read_segment(const TierExtent *extent, void *page, uint32 rows)
{
	TierFault	fault = tier_read(extent, page);
	PenumbraStatus status;
	PenumbraSegmentInfo info;

	if (fault != TIER_FINE)
		return fault;
	status = penumbra_segment_check(page, extent->bytes);
	if (status.code != PENUMBRA_OK)
		return TIER_DAMAGED;
	penumbra_segment_describe(page, &info);
	return info.rows == rows ? TIER_FINE : TIER_DAMAGED;
}

static TierFault
read_and_count(CachedChunk *chunk, AttrNumber attnum, const TierExtent *extent, void *memory)
{
	TierFault	fault = read_segment(extent, memory, chunk->rows);

	if (fault == TIER_FINE)
	{
		pg_atomic_fetch_add_u64(&tier_control->segments_read, 1);
		pg_atomic_fetch_add_u64(&tier_control->bytes_read, extent->bytes);
	}
	return fault;
}

/* The memory is nobody's until the directory has it: nothing in between can raise an error. */
static TierFetch
read_into_region(CachedChunk *chunk, AttrNumber attnum, TierExtent *extent, void *page)
{
	TierFault	fault = read_and_count(chunk, attnum, extent, page);

	if (fault == TIER_FINE && directory_put_segment(chunk, attnum, page))
		return TIER_FETCHED;
	region_free(page, extent->bytes);
	if (fault == TIER_FINE)
		return directory_find_extent(chunk, attnum, extent) ? TIER_FETCHED : TIER_LOST;
	note_fault(chunk, attnum, fault, extent);
	return TIER_LOST;
}

static TierFetch
fetch_segment(CachedChunk *chunk, AttrNumber attnum)
{
	TierExtent	extent;
	void	   *page;

	if (directory_find_extent(chunk, attnum, &extent))
		return TIER_FETCHED;
	if (extent.file == 0)
		return TIER_LOST;
	STOP_POINT("tier-before-read");
	page = directory_allocate(extent.bytes, PG_UINT64_MAX);
	return page == NULL ? TIER_NO_MEMORY : read_into_region(chunk, attnum, &extent, page);
}

/* Room for so many bytes in the buffer, which is made for all wanted segments of the chunk; NULL: none. */
static void *
take_of_buffer(CachedChunk *chunk, const AttrNumber *attnums, int natts, Size bytes, ChunkBuffer *buffer)
{
	char	   *memory;

	if (buffer->used_bytes == 0)
	{
		Size		needed_bytes = TIER_UNIT_BYTES;

		for (int i = 0; i < natts; i++)
			needed_bytes += tier_cost_bytes(chunk->columns[attnums[i] - 1].bytes);
		if (needed_bytes > buffer->bytes)
		{
			if (buffer->memory != NULL)
				pfree(buffer->memory);
			buffer->bytes = 0;
			buffer->memory = MemoryContextAllocExtended(buffer->context, needed_bytes,
														MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
			if (buffer->memory == NULL)
				return NULL;
			buffer->bytes = needed_bytes;
		}
		buffer->used_bytes = (char *) TYPEALIGN(TIER_UNIT_BYTES, buffer->memory) - buffer->memory;
	}
	memory = buffer->memory + buffer->used_bytes;
	buffer->used_bytes += tier_cost_bytes(bytes);
	Assert(buffer->used_bytes <= buffer->bytes);
	return memory;
}

/* Of the chunk's wanted segments the one of attnum. */
static TierFetch
read_for_scan(CachedChunk *chunk, AttrNumber attnum, const AttrNumber *attnums, int natts,
			  ChunkBuffer *buffer, const void **segment)
{
	TierExtent	extent;
	TierFault	fault;
	void	   *memory;

	if (directory_find_extent(chunk, attnum, &extent))
		return TIER_FETCHED;
	if (extent.file == 0)
		return TIER_LOST;
	STOP_POINT("tier-before-read");
	memory = directory_allocate_for(chunk, attnum);
	if (memory != NULL)
		return read_into_region(chunk, attnum, &extent, memory);
	memory = take_of_buffer(chunk, attnums, natts, extent.bytes, buffer);
	if (memory == NULL)
		return TIER_NO_MEMORY;
	fault = read_and_count(chunk, attnum, &extent, memory);
	if (fault == TIER_FINE)
	{
		*segment = memory;
		return TIER_FETCHED;
	}
	note_fault(chunk, attnum, fault, &extent);
	return TIER_LOST;
}

TierFetch
tier_read_chunk(CachedChunk *chunk, const AttrNumber *attnums, int natts, ChunkBuffer *buffer,
				const void **segments)
{
	buffer->used_bytes = 0;
	for (int i = 0; i < natts; i++)
	{
		TierFetch	fetch;

		CHECK_FOR_INTERRUPTS();
		segments[i] = NULL;
		fetch = read_for_scan(chunk, attnums[i], attnums, natts, buffer, &segments[i]);
		if (fetch != TIER_FETCHED)
			return fetch;
		/* in the region, where it is pinned */
		if (segments[i] == NULL)
			segments[i] = chunk->columns[attnums[i] - 1].segment;
	}
	return TIER_FETCHED;
}

TierFetch
tier_fetch(CachedChunk *chunk, const AttrNumber *attnums, int natts)
{
	for (int i = 0; i < natts; i++)
	{
		TierFetch	fetch;

		if (chunk->columns[attnums[i] - 1].segment != NULL)
			continue;
		CHECK_FOR_INTERRUPTS();
		fetch = fetch_segment(chunk, attnums[i]);
		if (fetch != TIER_FETCHED)
			return fetch;
	}
	return TIER_FETCHED;
}

bool
tier_check_copy(CachedChunk *chunk, AttrNumber attnum)
{
	TierExtent	extent;
	char	   *buffer;
	TierFault	fault;

	(void) directory_find_extent(chunk, attnum, &extent);
	if (extent.file == 0)
		return true;
	buffer = palloc_extended(tier_cost_bytes(extent.bytes) + TIER_UNIT_BYTES, MCXT_ALLOC_HUGE);
	fault = read_segment(&extent, (void *) TYPEALIGN(TIER_UNIT_BYTES, buffer), chunk->rows);
	pfree(buffer);
	return fault == TIER_FINE || !note_fault(chunk, attnum, fault, &extent);
}

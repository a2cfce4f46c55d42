/*-------------------------------------------------------------------------
 *
 * disk_worker.c
 *	  The process that saves what is cached, and finds it at its start.
 *
 * It is connected to no database, as the launcher is, so that pg_stat_activity
 * shows it.  What it holds, a pinned chunk, is let go at its exit at the latest.
 * An error or a signal ends it, and the postmaster starts it again.  If its
 * predecessor had not found all, it reads the manifest again and gives the
 * directory the chunks that this lacks.
 *
 * Each turn looks at all chunks: segments that are in memory alone are
 * appended and synced, then the directory learns where they are; then headers
 * that changed; then a manifest that names all this, unless it would say what
 * the last one says.  Files that no manifest names any more are unlinked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <time.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "pg_compat.h"
#include "cache/cached_expression.h"
#include "cache/disk/disk_cache.h"
#include "cache/disk/disk_header.h"
#include "cache/disk/disk_manifest.h"
#include "cache/disk/disk_pack.h"
#include "cache/disk/disk_worker.h"
#include "cache/process.h"
#include "cache/region.h"

/* After a load, so that one manifest names what several brought; and when nothing was loaded. */
#define PAUSE_AFTER_LOAD_MS		1000
#define PAUSE_MS				30000

/* Of a processor that saving takes. */
#define CPU_SHARE				10

/* So many files in the budget, unless they would be too small or too large. */
#define FILES_IN_BUDGET			16
#define FILE_BYTES_MIN			((uint64) 1024 * 1024)
#define FILE_BYTES_MAX			((uint64) 1024 * 1024 * 1024)

static void
set_latch_of_worker(Latch *latch)
{
	SpinLockAcquire(&disk_control->lock);
	disk_control->latch = latch;
	SpinLockRelease(&disk_control->lock);
}

/* ---------------------------------------------------------------- start --- */

/* Gives a chunk of the manifest to the directory; false: it cannot be read, or has no room. */
static bool
restore_chunk(const ManifestChunk *entry, const ManifestSegment *segments, uint64 next_xid)
{
	Size		header_bytes = disk_cost_bytes(entry->header.bytes);
	char	   *buffer = palloc_extended(header_bytes + DISK_UNIT_BYTES, MCXT_ALLOC_HUGE);
	SavedHeader *header = (SavedHeader *) TYPEALIGN(DISK_UNIT_BYTES, buffer);
	CachedChunk *chunk = NULL;
	bool		done = false;

	if (disk_read(&entry->header, header) == DISK_FINE &&
		disk_header_is_sound(header, entry->header.bytes))
		chunk = disk_create_chunk(header, entry, segments, next_xid);
	else
		pg_atomic_fetch_add_u64(&disk_control->damaged, 1);
	if (chunk != NULL)
	{
		done = chunk->segment_count > 0 && directory_restore_chunk(entry->relid, chunk);
		if (!done)
			directory_free_chunk(chunk);
	}
	pfree(buffer);
	return done;
}

static void
count_restored(const ManifestChunk *entry, const ManifestSegment *segments)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < entry->segment_count; i++)
		bytes += segments[i].extent.bytes;
	pg_atomic_fetch_add_u64(&disk_control->restored_chunks, 1);
	pg_atomic_fetch_add_u64(&disk_control->restored_segments, entry->segment_count);
	pg_atomic_fetch_add_u64(&disk_control->restored_bytes, bytes);
}

static void
restore_chunks(const char *entries, Size bytes)
{
	uint64		next_xid = disk_control->start.next_xid;
	const char *end = entries + bytes;

	while (end - entries >= (ssize_t) sizeof(ManifestChunk))
	{
		const ManifestChunk *entry = (const ManifestChunk *) entries;
		const ManifestSegment *segments = (const ManifestSegment *) (entry + 1);

		CHECK_FOR_INTERRUPTS();
		if (ShutdownRequestPending ||
			entry->segment_count > (end - (const char *) segments) / sizeof(ManifestSegment))
			break;
		if (restore_chunk(entry, segments, next_xid))
			count_restored(entry, segments);
		entries = (const char *) (segments + entry->segment_count);
	}
}

/* False: the disk cache is not to be used. */
static bool
open_files(void)
{
	const char *problem;
	char	   *entries = NULL;
	Size		bytes;

	problem = enableFsync ? disk_open_directories() : "fsync is off";
	if (problem != NULL)
	{
		ereport(LOG,
				(errmsg("penumbra: cached columns are not kept on disk: %s", problem)));
		return false;
	}
	/* a worker that was started again finds its predecessor's */
	if (pg_atomic_read_u32(&disk_control->state) == DISK_OPEN)
		return true;
	entries = manifest_read(&disk_control->start, &bytes, &problem);
	if (entries != NULL)
	{
		restore_chunks(entries, bytes);
		/* The manifest stays as it is: one of what was restored so far would forget the rest. */
		if (ShutdownRequestPending)
			proc_exit(1);
		ereport(LOG,
				(errmsg("penumbra: %llu chunks of tables are cached on disk, %llu could not be read",
						(unsigned long long) pg_atomic_read_u64(&disk_control->restored_chunks),
						(unsigned long long) pg_atomic_read_u64(&disk_control->damaged))));
	}
	else if (problem != NULL)
		ereport(LOG,
				(errmsg("penumbra: cached columns on disk are not used: %s", problem)));
	pg_atomic_write_u32(&disk_control->state, DISK_OPEN);
	return true;
}

/* ---------------------------------------------------------------- saving -- */

/* What the worker knows; its manifest is its predecessor's at first. */
typedef struct Saver
{
	DiskWriter	writer;
	DiskFile   *files;
	int			file_count;
	uint64		total_bytes;	/* of the files */
	bool		is_full;		/* nothing is worth less than what is not saved */
	bool		has_failed;		/* to write; the rest waits for the next turn */
	bool		is_hurried;		/* somebody waits for this turn's end */
	TimestampTz turn_began;
	clock_t		turn_clock;		/* of this process then */
	bool		has_logged;		/* that, since it was last able to */
	StringInfo	manifest;		/* as written last; NULL: not yet */
	RelationSummary *relations;
	int			relation_count;
	CachedSegment *segments;	/* of the pinned chunk */
	int			segment_count;
	CachedChunk *pinned;
} Saver;

static Saver saver;

static void
unpin(void)
{
	CachedChunk *chunk = saver.pinned;

	if (chunk == NULL)
		return;
	saver.pinned = NULL;
	for (int i = 0; i < saver.segment_count; i++)
		pg_atomic_fetch_sub_u32(&chunk_slot(chunk, saver.segments[i].column)->pins, 1);
	directory_unpin_chunk(chunk, NULL, 0);
}

static void
unpin_at_exit(int code, Datum argument)
{
	disk_cache_expect_worker();
	set_latch_of_worker(NULL);
	unpin();
}

/* Pins the relation's next chunk from *number on. */
static bool
pin_next(const CacheKey *key, uint32 *number)
{
	unpin();
	CHECK_FOR_INTERRUPTS();
	saver.pinned = directory_pin_next_chunk(key, *number, saver.segments, &saver.segment_count);
	if (saver.pinned == NULL)
		return false;
	*number = saver.pinned->number + 1;
	return true;
}

static void
note_write_error(const char *what)
{
	int			code = errno;

	saver.has_failed = true;
	pg_atomic_fetch_add_u64(&disk_control->write_errors, 1);
	if (saver.has_logged)
		return;
	saver.has_logged = true;
	errno = code;
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("penumbra: could not write %s below \"%s\": %m", what, disk_files()),
			 errdetail("Columns stay cached in memory.")));
}

static DiskFile *
find_file(uint32 number)
{
	DiskFile	key = {.number = number};

	for (int low = 0, high = saver.file_count; low < high;)
	{
		int			middle = (low + high) / 2;

		if (saver.files[middle].number == key.number)
			return &saver.files[middle];
		if (saver.files[middle].number < key.number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Counts an extent that the directory knows; false: its file, or its end, is gone. */
static bool
count_extent(const DiskExtent *extent, bool is_resident)
{
	DiskFile   *file = find_file(extent->file);

	if (extent->file == 0)
		return true;
	if (file == NULL ||
		file->bytes < extent->unit * DISK_UNIT_BYTES + disk_cost_bytes(extent->bytes))
		return false;
	if (is_resident)
		file->resident_bytes += disk_cost_bytes(extent->bytes);
	else
		file->cold_bytes += disk_cost_bytes(extent->bytes);
	return true;
}

/* Lists the files; false: that is not possible. */
static bool
list_files(void)
{
	if (saver.files != NULL)
		pfree(saver.files);
	saver.files = NULL;
	saver.file_count = disk_list_files(&saver.files);
	if (saver.file_count < 0)
	{
		saver.file_count = 0;
		if (errno != ENOENT || disk_open_directories() != NULL)
			return false;
	}
	/* what has no name any more is nobody's */
	if (saver.writer.fd >= 0 && find_file(saver.writer.number) == NULL)
		disk_writer_close(&saver.writer);
	if (saver.file_count > 0)
		saver.writer.number = Max(saver.writer.number, saver.files[saver.file_count - 1].number);
	return true;
}

/* Finds out what of the files is known; what is in files that are gone is forgotten. */
static void
examine_files(void)
{
	saver.total_bytes = 0;
	for (int i = 0; i < saver.file_count; i++)
		saver.total_bytes += saver.files[i].bytes;
	for (int i = 0; i < saver.relation_count; i++)
	{
		const CacheKey *key = &saver.relations[i].key;
		uint32		number = 0;

		while (pin_next(key, &number))
		{
			if (!count_extent(&saver.pinned->header_extent, true))
				directory_drop_extents(key, saver.pinned->header_extent.file);
			for (int c = 0; c < saver.segment_count; c++)
			{
				const CachedSegment *segment = &saver.segments[c];

				if (!count_extent(&segment->extent, segment->segment != NULL))
					directory_drop_extents(key, segment->extent.file);
			}
		}
	}
}

/* Appends what names the pinned chunk and its segments on disk. */
static void
append_to_manifest(StringInfo manifest, Oid relid)
{
	CachedChunk *chunk = saver.pinned;
	ManifestChunk entry;
	int			at = manifest->len;

	if (chunk->header_extent.file == 0)
		return;
	memset(&entry, 0, sizeof(entry));
	entry.key = chunk->key;
	entry.relid = relid;
	entry.number = chunk->number;
	entry.header = chunk->header_extent;
	appendBinaryStringInfo(manifest, (char *) &entry, sizeof(entry));
	for (int i = 0; i < saver.segment_count; i++)
	{
		const CachedSegment *segment = &saver.segments[i];
		ManifestSegment saved;

		if (segment->extent.file == 0)
			continue;
		memset(&saved, 0, sizeof(saved));
		saved.extent = segment->extent;
		saved.zone_map = segment->zone_map;
		saved.type_oid = segment->facts.type_oid;
		saved.typmod = segment->facts.typmod;
		saved.collation = segment->facts.collation;
		saved.content = segment->facts.content;
		saved.number = column_key_number(segment->column);
		appendBinaryStringInfo(manifest, (char *) &saved, sizeof(saved));
		entry.segment_count++;
	}
	if (entry.segment_count == 0)
		manifest->len = at;
	else
		memcpy(manifest->data + at, &entry, sizeof(entry));
}

/* The end of WAL; GetXLogInsertRecPtr() is where the next record begins, which may be behind a page's header. */
static XLogRecPtr
end_of_wal(void)
{
	XLogRecPtr	lsn = GetXLogInsertRecPtr();

	if (XLogSegmentOffset(lsn, wal_segment_size) == SizeOfXLogLongPHD)
		lsn -= SizeOfXLogLongPHD;
	else if (lsn % XLOG_BLCKSZ == SizeOfXLogShortPHD)
		lsn -= SizeOfXLogShortPHD;
	return lsn;
}

static void
free_manifest(StringInfo manifest)
{
	if (manifest == NULL)
		return;
	pfree(manifest->data);
	pfree(manifest);
}

/* Writes the manifest, unless it would say what it says; false: it could not be written. */
static bool
save_manifest(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	StringInfo	manifest = makeStringInfo();
	uint64		chunks = 0;
	uint64		segments = 0;
	uint64		bytes = 0;
	XLogRecPtr	lsn;

	MemoryContextSwitchTo(old);
	for (int i = 0; i < saver.relation_count; i++)
	{
		uint32		number = 0;

		while (pin_next(&saver.relations[i].key, &number))
		{
			int			len = manifest->len;

			append_to_manifest(manifest, saver.relations[i].relid);
			chunks += manifest->len > len;
			for (int c = 0; manifest->len > len && c < saver.segment_count; c++)
			{
				segments += saver.segments[c].extent.file != 0;
				bytes += saver.segments[c].extent.bytes;
			}
		}
	}
	if (saver.manifest == NULL || saver.manifest->len != manifest->len ||
		memcmp(saver.manifest->data, manifest->data, manifest->len) != 0)
	{
		/* T1, after the last header was copied */
		lsn = end_of_wal();
		XLogFlush(lsn);
		/* what numbers in the manifest stand for */
		cached_expression_save();
		if (!manifest_write(manifest->data, manifest->len, lsn))
		{
			note_write_error("the manifest");
			free_manifest(manifest);
			return false;
		}
	}
	free_manifest(saver.manifest);
	saver.manifest = manifest;
	pg_atomic_write_u64(&disk_control->saved_chunks, chunks);
	pg_atomic_write_u64(&disk_control->saved_segments, segments);
	pg_atomic_write_u64(&disk_control->saved_bytes, bytes);
	return true;
}

/* Unlinks a file that no manifest names. */
static void
unlink_file(DiskFile *file)
{
	if (disk_unlink_file(file->number))
		saver.total_bytes -= file->bytes;
	else
		note_write_error("the directory");
	saver.file_count--;
	memmove(file, file + 1, (char *) (saver.files + saver.file_count) - (char *) file);
}

/*
 * Gives up the file that is worth least, if at least half of it is nobody's or
 * was not wanted in memory; what of it is in memory is saved again.  A file of
 * which more is in memory stays, unless there are too many files already: else
 * the same would be written in a circle.
 */
static bool
drop_a_file(void)
{
	bool		is_over = saver.total_bytes > disk_cache_budget_bytes();
	DiskFile   *victim = NULL;
	uint64		most = 0;

	for (DiskFile *file = saver.files; file < saver.files + saver.file_count; file++)
	{
		uint64		dead_bytes = file->bytes - Min(file->bytes, file->resident_bytes + file->cold_bytes);
		uint64		gain = dead_bytes * 2 + file->cold_bytes;

		if ((!is_over && (dead_bytes + file->cold_bytes) * 2 < file->bytes) ||
			(victim != NULL && gain <= most))
			continue;
		victim = file;
		most = gain;
	}
	if (victim == NULL)
		return false;
	if (victim->number == saver.writer.number)
		disk_writer_close(&saver.writer);
	for (int i = 0; i < saver.relation_count; i++)
		directory_drop_extents(&saver.relations[i].key, victim->number);
	if (!save_manifest())
		return false;
	unlink_file(victim);
	return true;
}

static bool
append(const void *data, Size bytes, DiskExtent *extent)
{
	DiskFile   *file;

	if (!disk_writer_append(&saver.writer, data, bytes, extent))
	{
		note_write_error("cached columns");
		return false;
	}
	saver.total_bytes += disk_cost_bytes(bytes);
	pg_atomic_fetch_add_u64(&disk_control->bytes_written, bytes);
	file = find_file(extent->file);
	if (file != NULL)
	{
		file->bytes += disk_cost_bytes(bytes);
		file->resident_bytes += disk_cost_bytes(bytes);
	}
	return true;
}

/* Appends a segment of so many rows, packed if that is wanted and worth while. */
static bool
append_segment(CachedSegment *segment, uint32 rows)
{
	char	   *packed;
	Size		bytes;
	bool		done;

	/* a process of its own, which has not seen it before */
	region_populate(segment->segment, segment->bytes);
	if (!disk_cache_packs())
		return append(segment->segment, segment->bytes, &segment->extent);
	packed = palloc_extended(disk_cost_bytes(DISK_PACKED_BYTES_MAX(segment->bytes)), MCXT_ALLOC_HUGE);
	bytes = disk_pack(segment->segment, segment->bytes, rows, packed);
	if (bytes == 0)
		done = append(segment->segment, segment->bytes, &segment->extent);
	else
	{
		memset(packed + bytes, 0, disk_cost_bytes(bytes) - bytes);
		done = append(packed, bytes, &segment->extent);
		segment->extent.plain_bytes = segment->bytes;
	}
	pfree(packed);
	return done;
}

/* What of the pinned chunk is to be written: its segments that are not on disk come first. */
typedef struct Unsaved
{
	int			segments;
	SavedHeader *header;		/* or NULL */
	uint64		mark;
	uint64		bytes;
} Unsaved;

/*
 * Segments on disk cannot be used without their chunk's header. It is written with
 * the first segment. With with_headers it is written again when the stamp, the dead
 * pages or the decided rows have changed.
 */
static void
find_unsaved(Unsaved *unsaved, bool with_segments, bool with_headers)
{
	CachedChunk *chunk = saver.pinned;
	bool		is_saved = false;

	memset(unsaved, 0, sizeof(*unsaved));
	for (int i = 0; i < saver.segment_count; i++)
	{
		CachedSegment segment = saver.segments[i];

		is_saved |= segment.extent.file != 0;
		if (segment.extent.file != 0 || !with_segments)
			continue;
		unsaved->bytes += disk_cost_bytes(segment.bytes);
		saver.segments[i] = saver.segments[unsaved->segments];
		saver.segments[unsaved->segments++] = segment;
	}
	unsaved->mark = disk_header_mark(chunk);
	if ((unsaved->segments > 0 || is_saved) &&
		(chunk->header_extent.file == 0 || (with_headers && chunk->header_mark != unsaved->mark)))
	{
		unsaved->header = disk_copy_header(chunk);
		unsaved->bytes += disk_cost_bytes(SAVED_BYTES(unsaved->header));
	}
}

/* What was appended counts when it is synced. */
static void
save_chunk(const Unsaved *unsaved)
{
	CachedChunk *chunk = saver.pinned;
	DiskExtent	header_extent;
	bool		done = true;

	for (int i = 0; done && i < unsaved->segments; i++)
		done = append_segment(&saver.segments[i], chunk->rows);
	if (done && unsaved->header != NULL)
		done = append(unsaved->header, SAVED_BYTES(unsaved->header), &header_extent);
	if (done && !disk_writer_sync(&saver.writer))
	{
		note_write_error("cached columns");
		done = false;
	}
	if (!done)
		return;
	directory_set_extents(chunk, saver.segments, unsaved->segments);
	if (unsaved->header == NULL)
		return;
	chunk->header_extent = header_extent;
	chunk->header_mark = unsaved->mark;
}

/*
 * Of a processor saving takes a tenth, since loads and queries are there at the
 * same time; but not so when a load waits for it, or the server's end does.
 */
static void
rest(void)
{
	for (;;)
	{
		long		used_ms = (long) ((clock() - saver.turn_clock) / (CLOCKS_PER_SEC / 1000));
		long		rest_ms = used_ms * CPU_SHARE -
			TimestampDifferenceMilliseconds(saver.turn_began, GetCurrentTimestamp());

		if (rest_ms <= 0 || saver.is_hurried || ShutdownRequestPending ||
			pg_atomic_read_u32(&disk_control->hurries) != 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, rest_ms,
						 WaitEventExtensionNew("PenumbraDiskWorkerDelay"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
save_relation(const CacheKey *key, bool with_segments, bool with_headers)
{
	uint32		number = 0;

	while (!saver.has_failed && !(with_segments && ShutdownRequestPending) && pin_next(key, &number))
	{
		Unsaved		unsaved;

		find_unsaved(&unsaved, with_segments, with_headers);
		if (unsaved.bytes > 0 && saver.total_bytes + unsaved.bytes <= disk_cache_budget_bytes())
		{
			save_chunk(&unsaved);
			rest();
		}
		else if (unsaved.bytes > 0 && !saver.is_full)
		{
			/* again, with what is left of the chunk then */
			number = saver.pinned->number;
			saver.is_full = unsaved.bytes > disk_cache_budget_bytes() / 2 || !drop_a_file();
		}
		if (unsaved.header != NULL)
			pfree(unsaved.header);
	}
}

/* Saves what is not saved; the last time, when the server is about to stop, headers alone. */
static void
save(bool with_segments, bool with_headers)
{
	saver.has_failed = saver.is_full = false;
	saver.turn_began = GetCurrentTimestamp();
	saver.turn_clock = clock();
	if (!enableFsync)
		return;
	saver.relation_count = directory_list_relations(InvalidOid, InvalidOid, &saver.relations);
	if (!list_files())
	{
		note_write_error("the directory");
		return;
	}
	examine_files();
	while (saver.total_bytes > disk_cache_budget_bytes() && drop_a_file())
		;
	for (int i = 0; i < saver.relation_count; i++)
		save_relation(&saver.relations[i].key, with_segments, with_headers);
	if (save_manifest())
	{
		for (int i = saver.file_count - 1; i >= 0; i--)
		{
			DiskFile   *file = &saver.files[i];

			if (file->resident_bytes + file->cold_bytes == 0 && file->number != saver.writer.number)
				unlink_file(file);
		}
	}
	unpin();
	if (!saver.has_failed)
		saver.has_logged = false;
	pg_atomic_write_u64(&disk_control->file_bytes, saver.total_bytes);
}

/* Returns a while after a load, and now and then; who could not write waits, whatever is loaded. */
static void
wait_for_loads(void)
{
	TimestampTz began = GetCurrentTimestamp();
	int			pause_ms = PAUSE_MS;
	long		rest_ms;

	saver.is_hurried = false;
	while (!ShutdownRequestPending && enableFsync &&
		   (rest_ms = pause_ms - TimestampDifferenceMilliseconds(began, GetCurrentTimestamp())) > 0)
	{
		if (!saver.has_failed && pg_atomic_exchange_u32(&disk_control->hurries, 0) != 0)
		{
			saver.is_hurried = true;
			break;
		}
		if (pause_ms == PAUSE_MS && !saver.has_failed && disk_cache_has_loads())
		{
			began = GetCurrentTimestamp();
			rest_ms = pause_ms = PAUSE_AFTER_LOAD_MS;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, rest_ms,
						 WaitEventExtensionNew("PenumbraDiskWorkerMain"));
		ResetLatch(MyLatch);
		process_handle_signals();
	}
}

/* Ends the worker; it is not started again. */
static void
refuse_files(void)
{
	pg_atomic_write_u32(&disk_control->state, DISK_REFUSED);
	proc_exit(0);
}

void
penumbra_disk_worker_main(Datum argument)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "penumbra disk cache",
												  ALLOCSET_DEFAULT_SIZES);
	TimestampTz headers_saved = GetCurrentTimestamp();

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, PG_SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	before_shmem_exit(unpin_at_exit, (Datum) 0);
	memset(&saver, 0, sizeof(saver));
	saver.writer.fd = -1;
	saver.writer.limit_bytes = Min(Max(disk_cache_budget_bytes() / FILES_IN_BUDGET, FILE_BYTES_MIN), FILE_BYTES_MAX);
	saver.segments = palloc(sizeof(CachedSegment) * MaxHeapAttributeNumber);
	MemoryContextSwitchTo(context);
	set_latch_of_worker(MyLatch);
	if (!open_files())
		refuse_files();
	MemoryContextReset(context);
	for (;;)
	{
		uint64		loads;
		bool		is_last = ShutdownRequestPending;
		bool		saves_headers = is_last ||
			TimestampDifferenceExceeds(headers_saved, GetCurrentTimestamp(), PAUSE_MS);

		loads = pg_atomic_read_u64(&disk_control->loads);
		save(!is_last, saves_headers);
		/* what ends the worker has cut the turn short */
		if (!saver.has_failed && !ShutdownRequestPending && enableFsync)
			pg_atomic_write_u64(&disk_control->saved_loads, loads);
		saver.files = NULL;
		MemoryContextReset(context);
		if (is_last || !enableFsync)
			break;
		if (saves_headers)
			headers_saved = GetCurrentTimestamp();
		wait_for_loads();
	}
	/* T1: a later start cannot know that it was off */
	if (!enableFsync)
	{
		(void) manifest_remove();
		ereport(LOG,
				(errmsg("penumbra: cached columns are not kept on disk any more: fsync was switched off")));
		refuse_files();
	}
	/* started again, unless the server stops */
	proc_exit(1);
}

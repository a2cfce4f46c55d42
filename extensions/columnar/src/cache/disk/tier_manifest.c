/*-------------------------------------------------------------------------
 *
 * tier_manifest.c
 *	  What the tier has on disk, and whether it is right for this server.
 *
 * What a chunk says of a page is true for the page as it is after the WAL up
 * to some LSN: redo makes the same tuples at the same offsets.  It becomes
 * false only where WAL that the chunk has seen is lost.  Then another page
 * could get the LSN that proves the cached rows.  A page of the heap with an
 * LSN that is lost never reached the disk; what is written here could.  So,
 * numbered as in the README:
 *
 * T1: before a manifest is written, its extents are synced and WAL is flushed
 * up to its end after the last header was copied: so all page LSNs, stamps and
 * commits that made rows visible or dead are durable.  No tier with fsync off,
 * nor when it was: what was flushed then is not flushed again.
 * T2: pages without an LSN are left out of saved headers (tier_header.c).
 * T3: the system's identifier; and the manifest's LSN is not past the
 * checkpoint with which the server was shut down, or after recovery not past
 * the last one's redo point, which may be later than where that ended.
 * T4: the timeline is the manifest's.  Archive recovery, promotion and
 * pg_rewind begin another one.
 * T5: each manifest has a random number of its own, which a second file knows
 * before the manifest is there.  That one is in base backups, and has the
 * number of the manifest before, too, for a crash between.  Where the data
 * directory was put back to an earlier state without the tier's files, the
 * second file does not know the manifest's number; if it does, the WAL that
 * came with it reaches the manifest's LSN, for T1 was done before.
 * T6: the names (tier_file.c).
 * T7: redo does not begin with a WAL segment's first record, as pg_resetwal
 * leaves it.  Later starts do not see that, nor what a run without a disk cache
 * came after: both make an end of the second file, and so of every manifest.
 * T8: transaction numbers (tier_header.c).
 * T9: format, library build, and all that a key says; checksums.
 *
 * T5's file is in the data directory wherever the others are, as what is true
 * of the manifest is true of a state of the data directory.
 *
 * In recovery there is no tier.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <link.h>
#include <unistd.h>
#include <xxhash.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/catversion.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "miscadmin.h"

#include "cache/disk/tier_manifest.h"

#define NUMBERS_FILE	TIER_DIRECTORY "/numbers"

/* "PENUTIER"; the last digits count the formats of manifest and headers. */
#define MANIFEST_MAGIC	UINT64CONST(0x50454E5554490004)

typedef struct Manifest
{
	uint64		magic;
	uint64		checksum;		/* of all behind */
	uint64		build;
	uint64		system_identifier;
	uint32		catalog_version;
	TimeLineID	timeline;
	uint64		number;
	XLogRecPtr	lsn;
	uint64		bytes;			/* of the entries, which follow */
} Manifest;

#define MANIFEST_CHECKED_OFFSET	offsetof(Manifest, build)

/* The numbers of the manifest that is there and of the next one. */
typedef struct Numbers
{
	uint64		magic;
	uint64		numbers[2];
	uint64		checksum;
} Numbers;

#define NUMBERS_CHECKED_BYTES	offsetof(Numbers, checksum)

/* Of the manifest that is there; 0: none, or not known to this process. */
static uint64 present_number = 0;

static const char *
manifest_path(void)
{
	static char path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/manifest", tier_files());
	return path;
}

/* ---------------------------------------------------------------- build --- */

/* Finds this library among those that are loaded, and in it the build's number. */
static int
find_build(struct dl_phdr_info *info, size_t size, void *argument)
{
	uint64	   *build = argument;
	uintptr_t	here = (uintptr_t) manifest_read;
	bool		is_ours = false;

	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * header = &info->dlpi_phdr[i];

		is_ours |= header->p_type == PT_LOAD && here - info->dlpi_addr - header->p_vaddr < header->p_memsz;
	}
	for (int i = 0; is_ours && i < info->dlpi_phnum; i++)
	{
		const char *note = (const char *) info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const char *end = note + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		while (note < end)
		{
			const		ElfW(Nhdr) * header = (const ElfW(Nhdr) *) note;
			const char *name = note + sizeof(*header);
			const char *content = name + TYPEALIGN(4, header->n_namesz);

			if (header->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0)
				*build = XXH3_64bits(content, header->n_descsz);
			note = content + TYPEALIGN(4, header->n_descsz);
		}
	}
	return is_ours;
}

/*
 * Another build may write segments in another way, and nothing in them says
 * so.  0: the linker gave the library no number.
 */
static uint64
library_build(void)
{
	uint64		build = 0;

	(void) dl_iterate_phdr(find_build, &build);
	return build;
}

/* ---------------------------------------------------------------- reading - */

/* Rule T7. */
static bool
wal_was_reset(const TierStart *start)
{
	return XLogSegmentOffset(start->redo, wal_segment_size) == SizeOfXLogLongPHD;
}

/* For good, or the server does not start. */
static void
forget_numbers(void)
{
	if (access(NUMBERS_FILE, F_OK) == 0)
		(void) durable_unlink(NUMBERS_FILE, FATAL);
}

void
manifest_note_start(TierStart *start, bool is_read)
{
	bool		is_sound;
	ControlFileData *control = get_controlfile(DataDir, &is_sound);

	start->is_known = is_sound;
	start->was_shut_down = control->state == DB_SHUTDOWNED;
	start->checkpoint = control->checkPoint;
	start->redo = control->checkPointCopy.redo;
	start->next_xid = U64FromFullTransactionId(control->checkPointCopy.nextXid);
	pfree(control);
	if (!is_read || !is_sound || wal_was_reset(start))
		forget_numbers();
}

/* Rule T5. */
static bool
number_is_known(uint64 number)
{
	Size		bytes;
	Numbers    *numbers = (Numbers *) tier_slurp_file(NUMBERS_FILE, &bytes);

	return numbers != NULL && bytes == sizeof(Numbers) && numbers->magic == MANIFEST_MAGIC &&
		numbers->checksum == XXH3_64bits(numbers, NUMBERS_CHECKED_BYTES) &&
		(numbers->numbers[0] == number || numbers->numbers[1] == number);
}

/* Why the manifest is not to be used, or NULL. */
static const char *
check_manifest(const Manifest *manifest, Size bytes, const TierStart *start)
{
	uint64		build = library_build();

	if (bytes < sizeof(Manifest) || manifest->magic != MANIFEST_MAGIC)
		return "its format is another one";
	if (bytes != sizeof(Manifest) + manifest->bytes ||
		manifest->checksum != XXH3_64bits((const char *) manifest + MANIFEST_CHECKED_OFFSET,
										  bytes - MANIFEST_CHECKED_OFFSET))
		return "the manifest is damaged";
	if (build == 0 || manifest->build != build || manifest->catalog_version != CATALOG_VERSION_NO)
		return "another build of the library or of PostgreSQL wrote it";
	if (manifest->system_identifier != GetSystemIdentifier())
		return "it belongs to another database system";
	if (manifest->timeline != GetWALInsertionTimeLine())
		return "it belongs to another timeline";
	if (!start->is_known)
		return "pg_control could not be read at server start";
	if (wal_was_reset(start))
		return "WAL begins with a new segment, as after pg_resetwal";
	if (!number_is_known(manifest->number))
		return "it does not belong to this state of the data directory";
	if (manifest->lsn > (start->was_shut_down ? start->checkpoint : GetRedoRecPtr()))
		return "WAL that it depends on is missing";
	return NULL;
}

char *
manifest_read(const TierStart *start, Size *bytes, const char **problem)
{
	Size		file_bytes;
	char	   *content = tier_slurp_file(manifest_path(), &file_bytes);

	*problem = NULL;
	if (content == NULL)
	{
		if (errno != ENOENT)
			*problem = psprintf("the manifest could not be read: %m");
		return NULL;
	}
	*problem = check_manifest((Manifest *) content, file_bytes, start);
	if (*problem != NULL)
		return NULL;
	present_number = ((Manifest *) content)->number;
	*bytes = file_bytes - sizeof(Manifest);
	return content + sizeof(Manifest);
}

/* ---------------------------------------------------------------- writing - */

/* Rule T5: the file that backups have knows the number first. */
static bool
write_numbers(uint64 next_number)
{
	Numbers		numbers = {
		.magic = MANIFEST_MAGIC,
		.numbers = {present_number, next_number},
	};

	numbers.checksum = XXH3_64bits(&numbers, NUMBERS_CHECKED_BYTES);
	return tier_replace_file(NUMBERS_FILE, &numbers, sizeof(numbers));
}

/*
 * The numbers file is written first and names both manifests, the old and the new
 * one. So it fits whichever manifest a crash leaves.
 */
bool
manifest_write(const char *entries, Size bytes, XLogRecPtr lsn)
{
	Size		file_bytes = sizeof(Manifest) + bytes;
	char	   *content = palloc_extended(file_bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Manifest   *manifest = (Manifest *) content;
	bool		done;

	manifest->magic = MANIFEST_MAGIC;
	manifest->build = library_build();
	manifest->system_identifier = GetSystemIdentifier();
	manifest->catalog_version = CATALOG_VERSION_NO;
	manifest->timeline = GetWALInsertionTimeLine();
	manifest->lsn = lsn;
	manifest->bytes = bytes;
	if (!pg_strong_random(&manifest->number, sizeof(manifest->number)))
		elog(ERROR, "could not generate a random number");
	memcpy(content + sizeof(Manifest), entries, bytes);
	manifest->checksum = XXH3_64bits(content + MANIFEST_CHECKED_OFFSET, file_bytes - MANIFEST_CHECKED_OFFSET);
	done = write_numbers(manifest->number) && tier_replace_file(manifest_path(), content, file_bytes);
	if (done)
		present_number = manifest->number;
	pfree(content);
	return done;
}

bool
manifest_remove(void)
{
	return unlink(manifest_path()) == 0 || errno == ENOENT;
}

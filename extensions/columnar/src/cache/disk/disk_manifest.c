/*-------------------------------------------------------------------------
 *
 * disk_manifest.c
 *	  What the disk cache has on disk, and whether it is right for this server.
 *
 * A manifest is true of a server whose WAL and data directory reach what it
 * has seen.  Rules T1 to T9 in README.md say when that is so; T1 is kept by who
 * writes (disk_worker.c), T2 and T8 in disk_header.c, T6 by the files' names
 * (disk_file.c), the others here.
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

#include "cache/disk/disk_manifest.h"

#define NUMBERS_FILE	DISK_DIRECTORY "/numbers"

/* "PENUTIER"; the last digits count the formats of manifest and headers. */
#define MANIFEST_MAGIC	UINT64CONST(0x50454E5554490006)

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

	snprintf(path, sizeof(path), "%s/manifest", disk_files());
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
wal_was_reset(const DiskStart *start)
{
	return XLogSegmentOffset(start->redo, wal_segment_size) == SizeOfXLogLongPHD;
}

/* For good, or the server does not start; through a link, too, as what it leads to may come back. */
static void
forget_numbers(void)
{
	if (access(NUMBERS_FILE, F_OK) == 0)
		(void) durable_unlink(NUMBERS_FILE, FATAL);
}

void
manifest_note_start(DiskStart *start)
{
	bool		is_sound;
	ControlFileData *control = get_controlfile(DataDir, &is_sound);

	start->is_known = is_sound;
	start->was_shut_down = control->state == DB_SHUTDOWNED;
	start->checkpoint = control->checkPoint;
	start->redo = control->checkPointCopy.redo;
	start->next_xid = U64FromFullTransactionId(control->checkPointCopy.nextXid);
	pfree(control);
	if (!is_sound || wal_was_reset(start))
		forget_numbers();
}

/* Rule T5. */
static bool
number_is_known(uint64 number)
{
	Size		bytes;
	Numbers    *numbers = (Numbers *) disk_slurp_file(NUMBERS_FILE, &bytes);

	return numbers != NULL && bytes == sizeof(Numbers) && numbers->magic == MANIFEST_MAGIC &&
		numbers->checksum == XXH3_64bits(numbers, NUMBERS_CHECKED_BYTES) &&
		(numbers->numbers[0] == number || numbers->numbers[1] == number);
}

/* Why the manifest is not to be used, or NULL. */
static const char *
check_manifest(const Manifest *manifest, Size bytes, const DiskStart *start)
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
manifest_read(const DiskStart *start, Size *bytes, const char **problem)
{
	Size		file_bytes;
	char	   *content = disk_slurp_file(manifest_path(), &file_bytes);

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
	return disk_replace_file(NUMBERS_FILE, &numbers, sizeof(numbers));
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
	done = write_numbers(manifest->number) && disk_replace_file(manifest_path(), content, file_bytes);
	if (done)
		present_number = manifest->number;
	pfree(content);
	return done;
}

bool
manifest_remove(void)
{
	return disk_unlink(manifest_path());
}

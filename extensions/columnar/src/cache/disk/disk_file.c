/*-------------------------------------------------------------------------
 *
 * disk_file.c
 *	  The disk cache's files: extents with checksums, appended and never changed.
 *
 * Only the disk cache's worker writes.  Everybody reads, each time by a descriptor
 * of its own that is closed at once: it costs some microseconds of a read of
 * a megabyte, and nobody keeps a file that was unlinked.  Nothing here goes
 * through virtual descriptors or raises errors, so a reader can hold memory
 * of the region meanwhile.
 *
 * No symbolic link is followed, whenever it was put there: each call goes from the
 * data directory to the file step by step.  Only what stands above the directory of
 * the setting is the administrator's, who may have links there.
 *
 * Reads and writes bypass the system's cache where they can: the region is the
 * cache.
 * Those that are begun and ended later use the kernel's own asynchronous I/O
 * (io_submit), which needs no library and, unlike io_uring, is forbidden hardly
 * anywhere; where it fails the end of a read is the read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/file_perm.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "cache/disk/disk_file.h"

/* What is below such a name is in no base backup, and pg_rewind removes it (rule T6). */
#define FILES_NAME		PG_TEMP_FILE_PREFIX "_columns"
#define FILE_SUFFIX		".columns"

/* Longest write or read of one system call, so that a shutdown does not wait for much more. */
#define TRANSFER_BYTES_MAX	((Size) 64 * 1024 * 1024)

/* ---------------------------------------------------------------- names --- */

char	   *disk_directory_setting = "";

const char *
disk_files(void)
{
	static char path[MAXPGPATH];

	if (path[0] == '\0')
		snprintf(path, sizeof(path), "%s/" FILES_NAME,
				 disk_directory_setting[0] != '\0' ? disk_directory_setting : DISK_DIRECTORY);
	return path;
}

static void
close_keeping_errno(int fd)
{
	int			code = errno;

	(void) close(fd);
	errno = code;
}

/* All that is opened and closed at once is within the descriptors that fd.c leaves. */
#define DIRECTORY_FLAGS	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* The directory of a file: DISK_DIRECTORY, or FILES_NAME below it or the setting; -1 with errno. */
static int
open_directory_of(const char *path)
{
	char		directory[MAXPGPATH];
	char	   *parent_end;
	int			parent = AT_FDCWD;
	int			fd;

	snprintf(directory, sizeof(directory), "%.*s", (int) (strrchr(path, '/') - path), path);
	parent_end = strrchr(directory, '/');
	if (parent_end != NULL)
	{
		char	   *end = parent_end;

		/* with a slash behind it a symbolic link would be followed */
		while (end > directory + 1 && end[-1] == '/')
			end--;
		*parent_end = *end = '\0';
		parent = open(directory, DIRECTORY_FLAGS);
		if (parent < 0)
			return -1;
	}
	fd = openat(parent, parent_end != NULL ? parent_end + 1 : directory, DIRECTORY_FLAGS);
	if (parent != AT_FDCWD)
		close_keeping_errno(parent);
	return fd;
}

static const char *
file_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static int
open_file(const char *path, int flags)
{
	int			directory = open_directory_of(path);
	int			fd;

	if (directory < 0)
		return -1;
	fd = openat(directory, file_name(path), flags | O_NOFOLLOW | O_CLOEXEC, pg_file_create_mode);
	close_keeping_errno(directory);
	return fd;
}

bool
disk_unlink(const char *path)
{
	int			directory = open_directory_of(path);
	bool		done;

	if (directory < 0)
		return errno == ENOENT;
	done = unlinkat(directory, file_name(path), 0) == 0 || errno == ENOENT;
	close_keeping_errno(directory);
	return done;
}

/* Nobody else may be able to put files there, nor may it be somewhere else: a symbolic link could be shared. */
static const char *
check_directory(const char *path, bool makes)
{
	struct stat status;

	if (makes && MakePGDirectory(path) != 0 && errno != EEXIST)
		return psprintf("could not create directory \"%s\": %m", path);
	if (lstat(path, &status) != 0)
		return psprintf("could not stat directory \"%s\": %m", path);
	if (!S_ISDIR(status.st_mode))
		return psprintf("\"%s\" is not a directory", path);
	if (status.st_uid != geteuid())
		return psprintf("directory \"%s\" has another owner", path);
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return psprintf("directory \"%s\" can be written by others", path);
	if (access(path, R_OK | W_OK | X_OK) != 0)
		return psprintf("directory \"%s\" cannot be used: %m", path);
	return NULL;
}

/* What is not there is not made: it may be a disk that is not mounted. */
static const char *
check_setting(void)
{
	char	   *path = pstrdup(disk_directory_setting);

	if (!is_absolute_path(path) || strlen(path) > DISK_PATH_BYTES_MAX)
		return psprintf("\"%s\" is not an absolute path of at most %d bytes", path, DISK_PATH_BYTES_MAX);
	/* as in open_directory_of() */
	canonicalize_path(path);
	return check_directory(path, false);
}

/* The lock goes with the process; descriptors of background workers are inherited by nobody. */
static const char *
lock_directory(void)
{
	static int	fd = -1;
	char	   *path = psprintf("%s/lock", disk_files());

	if (fd >= 0)
		(void) close(fd);
	fd = open_file(path, O_RDWR | O_CREAT);
	if (fd < 0)
		return psprintf("could not open file \"%s\": %m", path);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return psprintf("could not lock file \"%s\": %m", path);
	return NULL;
}

const char *
disk_make_directory(void)
{
	return check_directory(DISK_DIRECTORY, true);
}

const char *
disk_open_directories(void)
{
	const char *problem = disk_make_directory();

	if (problem == NULL && disk_directory_setting[0] != '\0')
		problem = check_setting();
	if (problem == NULL)
		problem = check_directory(disk_files(), true);
	if (problem == NULL)
		problem = lock_directory();
	return problem;
}

static void
file_path(uint32 number, char *path)
{
	snprintf(path, MAXPGPATH, "%s/%08X" FILE_SUFFIX, disk_files(), number);
}

static int
compare_files(const void *left, const void *right)
{
	uint32		l = ((const DiskFile *) left)->number;
	uint32		r = ((const DiskFile *) right)->number;

	return l < r ? -1 : l > r;
}

/* Lists regular files whose name is spelled as file_path() spells it. Other spellings of a number are not ours. */
int
disk_list_files(DiskFile **files)
{
	char		path[MAXPGPATH];
	int			fd;
	DIR		   *directory;
	struct dirent *entry;
	int			limit = 64;
	int			count = 0;

	file_path(0, path);
	fd = open_directory_of(path);
	if (fd < 0)
		return -1;
	directory = fdopendir(fd);
	if (directory == NULL)
	{
		close_keeping_errno(fd);
		return -1;
	}
	*files = palloc(sizeof(DiskFile) * limit);
	while ((entry = readdir(directory)) != NULL)
	{
		struct stat status;
		uint32		number;

		if (sscanf(entry->d_name, "%8X", &number) != 1 || number == 0)
			continue;
		file_path(number, path);
		if (strcmp(file_name(path), entry->d_name) != 0 ||
			fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
			continue;
		if (count == limit)
			*files = repalloc(*files, sizeof(DiskFile) * (limit *= 2));
		memset(&(*files)[count], 0, sizeof(DiskFile));
		(*files)[count].number = number;
		(*files)[count++].bytes = status.st_size;
	}
	closedir(directory);
	qsort(*files, count, sizeof(DiskFile), compare_files);
	return count;
}

bool
disk_unlink_file(uint32 number)
{
	char		path[MAXPGPATH];

	file_path(number, path);
	return disk_unlink(path);
}

/* ---------------------------------------------------------------- reading - */

/* Reads `bytes`, whole units; false with errno, 0 where the file ends before. */
static bool
read_units(int fd, char *buffer, Size bytes, off_t offset)
{
	while (bytes > 0)
	{
		ssize_t		done;

		errno = 0;
		pgstat_report_wait_start(WaitEventExtensionNew("PenumbraDiskRead"));
		done = pread(fd, buffer, Min(bytes, TRANSFER_BYTES_MAX), offset);
		pgstat_report_wait_end();
		if (done < 0 && errno == EINTR)
			continue;
		/* what ends within a unit is the file's end, and direct I/O cannot go on there */
		if (done <= 0 || done % DISK_UNIT_BYTES != 0)
			return false;
		buffer += done;
		bytes -= done;
		offset += done;
	}
	return true;
}

static bool
read_extent(const DiskExtent *extent, void *buffer, int flags)
{
	char		path[MAXPGPATH];
	int			fd;
	bool		done;

	file_path(extent->file, path);
	fd = open_file(path, O_RDONLY | flags);
	if (fd < 0)
		return false;
	done = read_units(fd, buffer, disk_cost_bytes(extent->bytes),
					  (off_t) extent->unit * DISK_UNIT_BYTES);
	close_keeping_errno(fd);
	return done;
}

DiskFault
disk_read(const DiskExtent *extent, void *buffer)
{
	/* EINVAL: the file system has no direct I/O, or none for such units */
	if (!read_extent(extent, buffer, PG_O_DIRECT) &&
		(errno != EINVAL || !read_extent(extent, buffer, 0)))
		return DISK_UNREADABLE;
	return XXH3_64bits(buffer, extent->bytes) == extent->checksum ? DISK_FINE : DISK_DAMAGED;
}

/* ---------------------------------------------------------------- reading ahead */

/*
 * The kernel's context belongs to this process from its first read to its end,
 * since the kernel takes tens of milliseconds to destroy one.  It has room for
 * few reads: those of all processes on the machine count towards fs.aio-max-nr.
 * Further reads wait until one has ended.  Without a context disk_end_read() is
 * what reads.
 */
#define READS_MAX	32

static aio_context_t reads_context = 0;
static int	submitted_reads = 0;
/* In the order in which they were begun; empty unless as many are submitted as there may be. */
static dlist_head waiting_reads = DLIST_STATIC_INIT(waiting_reads);

/* What fails now may succeed when other processes have ended. */
static bool
set_up_reads(void)
{
	return reads_context != 0 || syscall(SYS_io_setup, (long) READS_MAX, &reads_context) == 0;
}

static void
submit_read(DiskRead *read)
{
	struct iocb request = {0};
	struct iocb *requests[] = {&request};
	char		path[MAXPGPATH];
	int			fd;

	read->is_pending = false;
	file_path(read->extent.file, path);
	fd = open_file(path, O_RDONLY | PG_O_DIRECT);
	if (fd < 0)
		return;
	request.aio_data = (uintptr_t) read;
	request.aio_lio_opcode = IOCB_CMD_PREAD;
	request.aio_fildes = fd;
	request.aio_buf = (uintptr_t) read->memory;
	request.aio_nbytes = disk_cost_bytes(read->extent.bytes);
	request.aio_offset = (int64) read->extent.unit * DISK_UNIT_BYTES;
	read->is_pending = syscall(SYS_io_submit, reads_context, 1L, requests) == 1;
	if (read->is_pending)
		submitted_reads++;
	/* the request has the file */
	(void) close(fd);
}

/* Notes reads that have ended, waiting for one if there is none, and submits others in their place. */
static void
reap_reads(bool waits)
{
	struct io_event events[16];
	struct timespec none = {0, 0};
	long		count;

	pgstat_report_wait_start(WaitEventExtensionNew("PenumbraDiskRead"));
	count = syscall(SYS_io_getevents, reads_context, (long) (waits ? 1 : 0), (long) lengthof(events), events,
					waits ? NULL : &none);
	pgstat_report_wait_end();
	for (long i = 0; i < count; i++)
	{
		DiskRead   *read = (DiskRead *) (uintptr_t) events[i].data;

		read->is_pending = false;
		read->is_complete = events[i].res == (int64) disk_cost_bytes(read->extent.bytes);
		submitted_reads--;
	}
	while (submitted_reads < READS_MAX && !dlist_is_empty(&waiting_reads))
		submit_read(dlist_container(DiskRead, node, dlist_pop_head_node(&waiting_reads)));
}

void
disk_begin_read(DiskRead *read)
{
	read->is_pending = read->is_complete = false;
	if (!set_up_reads())
		return;
	if (submitted_reads < READS_MAX)
		submit_read(read);
	else
	{
		read->is_pending = true;
		dlist_push_tail(&waiting_reads, &read->node);
	}
}

void
disk_poll_reads(void)
{
	if (submitted_reads > 0)
		reap_reads(false);
}

DiskFault
disk_end_read(DiskRead *read)
{
	while (read->is_pending)
		reap_reads(true);
	if (!read->is_complete)
		return disk_read(&read->extent, read->memory);
	return XXH3_64bits(read->memory, read->extent.bytes) == read->extent.checksum ? DISK_FINE : DISK_DAMAGED;
}

void
disk_await_reads(void)
{
	while (submitted_reads > 0)
		reap_reads(true);
}

/* ---------------------------------------------------------------- writing - */

/* Memory that direct I/O takes, for what is not: headers, and what is packed. */
#define BOUNCE_BYTES	((Size) 64 * 1024)

static char *
bounce_memory(void)
{
	static char memory[BOUNCE_BYTES + DISK_UNIT_BYTES];

	return (char *) TYPEALIGN(DISK_UNIT_BYTES, memory);
}

/*
 * Writes whole units past the system's cache, where pages of the heap are worth
 * more; false with errno, EINVAL where direct I/O does not go on.
 */
static bool
write_units(int fd, const char *data, Size bytes, off_t offset)
{
	bool		is_aligned = (uintptr_t) data % DISK_UNIT_BYTES == 0;

	while (bytes > 0)
	{
		Size		part = Min(bytes, is_aligned ? TRANSFER_BYTES_MAX : BOUNCE_BYTES);
		ssize_t		done;

		if (!is_aligned)
			memcpy(bounce_memory(), data, part);
		errno = EINVAL;
		pgstat_report_wait_start(WaitEventExtensionNew("PenumbraDiskWrite"));
		done = pwrite(fd, is_aligned ? data : bounce_memory(), part, offset);
		pgstat_report_wait_end();
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0 || done % DISK_UNIT_BYTES != 0)
			return false;
		data += done;
		bytes -= done;
		offset += done;
	}
	return true;
}

/* Writes `bytes`; false with errno. */
static bool
write_bytes(int fd, const char *data, Size bytes, off_t offset)
{
	while (bytes > 0)
	{
		ssize_t		done;

		errno = 0;
		pgstat_report_wait_start(WaitEventExtensionNew("PenumbraDiskWrite"));
		done = pwrite(fd, data, Min(bytes, TRANSFER_BYTES_MAX), offset);
		pgstat_report_wait_end();
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
		{
			if (errno == 0)
				errno = ENOSPC;
			return false;
		}
		data += done;
		bytes -= done;
		offset += done;
	}
	return true;
}

static bool
open_next_file(DiskWriter *writer)
{
	char		path[MAXPGPATH];

	file_path(++writer->number, path);
	writer->fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
	writer->bytes = 0;
	/* not when it is made: a file system without direct I/O would have made it, and then refused */
	writer->is_direct = writer->fd >= 0 && PG_O_DIRECT != 0 && fcntl(writer->fd, F_SETFL, PG_O_DIRECT) == 0;
	return writer->fd >= 0;
}

/* Writes whole units at the file's end; false with errno. */
static bool
append_units(DiskWriter *writer, const char *data, Size bytes)
{
	if (writer->is_direct)
	{
		if (write_units(writer->fd, data, bytes, (off_t) writer->bytes))
			return true;
		if (errno != EINVAL || fcntl(writer->fd, F_SETFL, 0) != 0)
			return false;
		writer->is_direct = false;
	}
	return write_bytes(writer->fd, data, bytes, (off_t) writer->bytes);
}

/* What failed to be written, or to be synced, is nobody's: the file gets no more. */
bool
disk_writer_append(DiskWriter *writer, const void *data, Size bytes, DiskExtent *extent)
{
	Size		cost_bytes = disk_cost_bytes(bytes);

	if (writer->fd >= 0 && writer->bytes + cost_bytes > writer->limit_bytes)
	{
		if (!disk_writer_sync(writer))
			return false;
		disk_writer_close(writer);
	}
	if (writer->fd < 0 && !open_next_file(writer))
		return false;
	if (!append_units(writer, data, cost_bytes))
	{
		int			code = errno;

		/* on a full disk each attempt would leave one */
		if (writer->bytes == 0)
			(void) disk_unlink_file(writer->number);
		disk_writer_close(writer);
		errno = code;
		return false;
	}
	extent->file = writer->number;
	extent->unit = (uint32) (writer->bytes / DISK_UNIT_BYTES);
	extent->bytes = bytes;
	extent->checksum = XXH3_64bits(data, bytes);
	extent->plain_bytes = bytes;
	writer->bytes += cost_bytes;
	return true;
}

bool
disk_writer_sync(DiskWriter *writer)
{
	int			code;

	if (writer->fd < 0 || pg_fsync(writer->fd) == 0)
		return true;
	code = errno;
	disk_writer_close(writer);
	errno = code;
	return false;
}

void
disk_writer_close(DiskWriter *writer)
{
	if (writer->fd >= 0)
		(void) close(writer->fd);
	writer->fd = -1;
}

/* Writes and renames in a directory that was opened; a file that fails is left. */
static bool
replace_below(int directory, const char *name, const char *new_name, const void *data, Size bytes)
{
	int			fd = openat(directory, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
							pg_file_create_mode);
	bool		done;

	if (fd < 0)
		return false;
	done = write_bytes(fd, data, bytes, 0) && pg_fsync(fd) == 0;
	close_keeping_errno(fd);
	return done && renameat(directory, new_name, directory, name) == 0 && pg_fsync(directory) == 0;
}

bool
disk_replace_file(const char *path, const void *data, Size bytes)
{
	int			directory = open_directory_of(path);
	char		new_name[MAXPGPATH];
	bool		done;

	if (directory < 0)
		return false;
	/* beside it, as another directory may be on another file system; of its own, as others may replace other files */
	snprintf(new_name, sizeof(new_name), PG_TEMP_FILE_PREFIX "_%s", file_name(path));
	done = (unlinkat(directory, new_name, 0) == 0 || errno == ENOENT) &&
		replace_below(directory, file_name(path), new_name, data, bytes);
	if (!done)
	{
		int			code = errno;

		(void) unlinkat(directory, new_name, 0);
		errno = code;
	}
	close_keeping_errno(directory);
	return done;
}

/* Allocates one byte more than the file has, so that the caller can append a zero. */
char *
disk_slurp_file(const char *path, Size *bytes)
{
	int			fd = open_file(path, O_RDONLY);
	struct stat status;
	char	   *content = NULL;
	ssize_t		done;

	if (fd < 0)
		return NULL;
	*bytes = 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
	{
		content = palloc_extended(status.st_size + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
		while (content != NULL && *bytes < (Size) status.st_size)
		{
			done = pread(fd, content + *bytes, status.st_size - *bytes, (off_t) *bytes);
			if (done < 0 && errno == EINTR)
				continue;
			if (done <= 0)
				break;
			*bytes += done;
		}
	}
	(void) close(fd);
	return content;
}

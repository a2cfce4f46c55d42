/*-------------------------------------------------------------------------
 *
 * journal_writes.c
 *	  Preloaded into a server: keeps a journal of all that changes the files of
 *	  one directory, and of what is synced.
 *
 * JOURNAL names the journal's file, which must be there, and JOURNALED the
 * directory; without the former nothing is kept.  power_loss.py reads it.
 *
 * A change is done first and stands in the journal before its call returns, a
 * sync when its call begins: so what a process had done when it asked for a sync
 * stands before it.  A record is appended by one system call; of a process that
 * is killed meanwhile it may be cut, and was then never done.
 *
 * Nothing is synced in truth: a killed process loses nothing by that, and it
 * spares the disk.  What goes through stdio is not seen, and counts as lost.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC		UINT64_C(0x4c414e52554f4a50)
#define PARTS_MAX	1024

/* power_loss.py has the same list. */
typedef enum Kind
{
	WRITE,
	TRUNCATE,					/* offset: the new size */
	ALLOCATE,					/* offset: the size at least */
	SYNC,
	SYNC_DIRECTORY,
	CREATE,
	RENAME,
	UNLINK,						/* offset: names that were left before */
	MAKE_DIRECTORY,
	REMOVE_DIRECTORY,
} Kind;

/* Two names follow, each with its zero, then the data, then MAGIC again. */
typedef struct Record
{
	uint64_t	magic;
	uint32_t	kind;
	uint32_t	name_bytes;
	uint64_t	inode;
	uint64_t	offset;
	uint64_t	data_bytes;
} Record;

static int	journal = -1;
static const char *journaled;
static size_t journaled_bytes;

__attribute__((constructor)) static void
open_journal(void)
{
	const char *name = getenv("JOURNAL");

	if (name == NULL || getenv("JOURNALED") == NULL)
		return;
	/* a copy: PostgreSQL writes the titles of processes over the environment */
	journaled = strdup(getenv("JOURNALED"));
	journaled_bytes = strlen(journaled);
	journal = (int) syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* Of an absolute path below the directory what follows that; else NULL. */
static const char *
name_below(const char *path)
{
	if (strncmp(path, journaled, journaled_bytes) != 0 || path[journaled_bytes] != '/')
		return NULL;
	return path + journaled_bytes + 1;
}

/* Whether a path as a program names it is below the directory; a server works in it. */
static const char *
name_of(const char *path)
{
	char		here[PATH_MAX];

	if (journal < 0)
		return NULL;
	if (path[0] == '/')
		return name_below(path);
	return getcwd(here, sizeof(here)) != NULL && strcmp(here, journaled) == 0 ? path : NULL;
}

/* The same of an open file, which still has its name; "" for the directory itself. */
static const char *
name_of_open(int fd, char *path)
{
	char		link[64];
	ssize_t		length;

	if (journal < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	if (length < 0)
		return NULL;
	path[length] = '\0';
	if (strcmp(path, journaled) == 0)
		return "";
	if (length > 10 && strcmp(path + length - 10, " (deleted)") == 0)
		return NULL;
	return name_below(path);
}

/* The same of a path from an open directory on; `full` is where it may be. */
static const char *
name_at(int directory, const char *path, char *full)
{
	size_t		length;

	if (directory == AT_FDCWD || path[0] == '/')
		return name_of(path);
	if (name_of_open(directory, full) == NULL)
		return NULL;
	length = strlen(full);
	snprintf(full + length, PATH_MAX - length, "/%s", path);
	return full + journaled_bytes + 1;
}

static void
append_vector(Kind kind, uint64_t inode, uint64_t offset, const char *name, const char *other,
			  const struct iovec *data, int count)
{
	static const uint64_t end = MAGIC;
	int			code = errno;
	struct iovec parts[PARTS_MAX + 4];
	Record		record = {MAGIC, kind, (uint32_t) (strlen(name) + strlen(other) + 2), inode, offset, 0};

	parts[0] = (struct iovec) {&record, sizeof(record)};
	parts[1] = (struct iovec) {(void *) name, strlen(name) + 1};
	parts[2] = (struct iovec) {(void *) other, strlen(other) + 1};
	for (int i = 0; i < count; i++)
	{
		parts[i + 3] = data[i];
		record.data_bytes += data[i].iov_len;
	}
	parts[count + 3] = (struct iovec) {(void *) &end, sizeof(end)};
	(void) syscall(SYS_writev, journal, parts, count + 4);
	errno = code;
}

static void
append(Kind kind, uint64_t inode, uint64_t offset, const char *name, const char *other)
{
	append_vector(kind, inode, offset, name, other, NULL, 0);
}

/* ---------------------------------------------------------------- contents */

/* Of a vector the first `bytes`. */
static void
note_write(int fd, const char *name, const struct iovec *data, int count, size_t bytes, off_t offset)
{
	struct iovec done[PARTS_MAX];
	struct stat status;
	int			used = 0;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || count > PARTS_MAX)
		return;
	for (int i = 0; i < count && bytes > 0; i++)
	{
		done[used] = data[i];
		if (done[used].iov_len > bytes)
			done[used].iov_len = bytes;
		bytes -= done[used++].iov_len;
	}
	append_vector(WRITE, status.st_ino, (uint64_t) offset, name, "", done, used);
	if ((fcntl(fd, F_GETFL) & O_DSYNC) != 0)
		append(SYNC, status.st_ino, 0, name, "");
}

ssize_t
pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
	char		path[PATH_MAX];
	const char *name = name_of_open(fd, path);
	struct iovec part = {(void *) data, bytes};
	ssize_t		done = syscall(SYS_pwrite64, fd, data, bytes, offset);

	if (name != NULL && done > 0)
		note_write(fd, name, &part, 1, (size_t) done, offset);
	return done;
}

ssize_t
pwritev(int fd, const struct iovec *data, int count, off_t offset)
{
	char		path[PATH_MAX];
	const char *name = name_of_open(fd, path);
	ssize_t		done = syscall(SYS_pwritev, fd, data, count, offset, 0);

	if (name != NULL && done > 0)
		note_write(fd, name, data, count, (size_t) done, offset);
	return done;
}

ssize_t
write(int fd, const void *data, size_t bytes)
{
	char		path[PATH_MAX];
	const char *name = name_of_open(fd, path);
	struct iovec part = {(void *) data, bytes};
	ssize_t		done = syscall(SYS_write, fd, data, bytes);

	if (name != NULL && done > 0)
		note_write(fd, name, &part, 1, (size_t) done, lseek(fd, 0, SEEK_CUR) - done);
	return done;
}

int
ftruncate(int fd, off_t bytes)
{
	char		path[PATH_MAX];
	const char *name = name_of_open(fd, path);
	struct stat status;
	int			result = (int) syscall(SYS_ftruncate, fd, bytes);

	if (name != NULL && result == 0 && fstat(fd, &status) == 0)
		append(TRUNCATE, status.st_ino, (uint64_t) bytes, name, "");
	return result;
}

int
truncate(const char *path, off_t bytes)
{
	const char *name = name_of(path);
	struct stat status;
	int			result = (int) syscall(SYS_truncate, path, bytes);

	if (name != NULL && result == 0 && stat(path, &status) == 0)
		append(TRUNCATE, status.st_ino, (uint64_t) bytes, name, "");
	return result;
}

int
posix_fallocate(int fd, off_t offset, off_t bytes)
{
	char		path[PATH_MAX];
	const char *name = name_of_open(fd, path);
	struct stat status;

	if (syscall(SYS_fallocate, fd, 0, offset, bytes) != 0)
		return errno;
	if (name != NULL && fstat(fd, &status) == 0)
		append(ALLOCATE, status.st_ino, (uint64_t) (offset + bytes), name, "");
	return 0;
}

int
fsync(int fd)
{
	char		path[PATH_MAX];
	const char *name = name_of_open(fd, path);
	struct stat status;

	if (name != NULL && fstat(fd, &status) == 0)
		append(S_ISDIR(status.st_mode) ? SYNC_DIRECTORY : SYNC, status.st_ino, 0, name, "");
	return 0;
}

int
fdatasync(int fd)
{
	return fsync(fd);
}

int
sync_file_range(int fd, off_t offset, off_t bytes, unsigned int flags)
{
	return 0;
}

/* ---------------------------------------------------------------- names --- */

static int
open_at(int directory, const char *path, int flags, int mode)
{
	char		full[PATH_MAX];
	const char *name = name_at(directory, path, full);
	struct stat status;
	int			was_there = name != NULL && fstatat(directory, path, &status, 0) == 0;
	int			fd = (int) syscall(SYS_openat, directory, path, flags, mode);

	if (name == NULL || fd < 0 || fstat(fd, &status) != 0)
		return fd;
	if ((flags & O_CREAT) != 0 && !was_there)
		append(CREATE, status.st_ino, 0, name, "");
	else if ((flags & O_TRUNC) != 0)
		append(TRUNCATE, status.st_ino, 0, name, "");
	return fd;
}

int
open(const char *path, int flags,...)
{
	int			mode;
	va_list		arguments;

	va_start(arguments, flags);
	mode = va_arg(arguments, int);
	va_end(arguments);
	return open_at(AT_FDCWD, path, flags, mode);
}

int
openat(int directory, const char *path, int flags,...)
{
	int			mode;
	va_list		arguments;

	va_start(arguments, flags);
	mode = va_arg(arguments, int);
	va_end(arguments);
	return open_at(directory, path, flags, mode);
}

int
renameat(int from_directory, const char *from, int to_directory, const char *to)
{
	char		from_full[PATH_MAX];
	char		to_full[PATH_MAX];
	const char *from_name = name_at(from_directory, from, from_full);
	const char *to_name = name_at(to_directory, to, to_full);
	struct stat status;
	int			result = (int) syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);

	if (from_name != NULL && to_name != NULL && result == 0 && fstatat(to_directory, to, &status, 0) == 0)
		append(RENAME, status.st_ino, 0, from_name, to_name);
	return result;
}

int
rename(const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int
link(const char *from, const char *to)
{
	const char *name = name_of(to);
	struct stat status;
	int			result = (int) syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);

	if (name != NULL && result == 0 && stat(to, &status) == 0)
		append(CREATE, status.st_ino, 0, name, "");
	return result;
}

int
unlinkat(int directory, const char *path, int flags)
{
	char		full[PATH_MAX];
	const char *name = name_at(directory, path, full);
	struct stat status;
	int			was_there = name != NULL && fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
	int			result = (int) syscall(SYS_unlinkat, directory, path, flags);

	if (!was_there || result != 0)
		return result;
	if ((flags & AT_REMOVEDIR) != 0)
		append(REMOVE_DIRECTORY, 0, 0, name, "");
	else
		append(UNLINK, status.st_ino, status.st_nlink, name, "");
	return result;
}

int
unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

int
rmdir(const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int
mkdir(const char *path, mode_t mode)
{
	const char *name = name_of(path);
	int			result = (int) syscall(SYS_mkdirat, AT_FDCWD, path, mode);

	if (name != NULL && result == 0)
		append(MAKE_DIRECTORY, 0, 0, name, "");
	return result;
}

/* ---------------------------------------------------------------- programs with _FILE_OFFSET_BITS=64 */

int open64(const char *path, int flags,...) __attribute__((alias("open")));
int openat64(int directory, const char *path, int flags,...) __attribute__((alias("openat")));
ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset) __attribute__((alias("pwrite")));
ssize_t pwritev64(int fd, const struct iovec *data, int count, off64_t offset) __attribute__((alias("pwritev")));
int ftruncate64(int fd, off64_t bytes) __attribute__((alias("ftruncate")));
int truncate64(const char *path, off64_t bytes) __attribute__((alias("truncate")));
int posix_fallocate64(int fd, off64_t offset, off64_t bytes) __attribute__((alias("posix_fallocate")));

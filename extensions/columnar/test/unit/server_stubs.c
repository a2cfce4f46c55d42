/*-------------------------------------------------------------------------
 *
 * server_stubs.c
 *	  What the disk cache's files take of the server, and system calls that fail.
 *
 * The linker sends the calls of disk_file.c here (--wrap), and what the server
 * does in their place calls the same wrappers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "pgstat.h"
#include "storage/fd.h"

#include "faults.h"

extern uint32 WaitEventExtensionNew(const char *name);

uint32
WaitEventExtensionNew(const char *name)
{
	return 0;
}

static uint32 wait_event_info;
uint32	   *my_wait_event_info = &wait_event_info;
int			pg_file_create_mode = 0600;

long		fault_calls;
long		fault_at;
FaultKind	fault_kind;
bool		fault_refuses_events;

/* Whether this call is the one that fails. */
static bool
is_faulty(void)
{
	return ++fault_calls == fault_at;
}

static int
fail(void)
{
	errno = fault_kind == FAULT_INTERRUPTED ? EINTR : fault_kind == FAULT_NO_SPACE ? ENOSPC : EIO;
	return -1;
}

/* The same of a call that transfers nothing: it fails or does not. */
static bool
is_faulty_as_a_whole(void)
{
	return is_faulty() && (fault_kind == FAULT_IO || fault_kind == FAULT_NO_SPACE);
}

extern ssize_t __real_pread(int fd, void *buffer, size_t bytes, off_t offset);
extern ssize_t __real_pwrite(int fd, const void *buffer, size_t bytes, off_t offset);
extern int	__real_openat(int directory, const char *path, int flags, mode_t mode);
extern int	__real_unlinkat(int directory, const char *path, int flags);
extern int	__real_renameat(int old_directory, const char *old_path, int new_directory, const char *new_path);
extern ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset);
extern ssize_t __wrap_pwrite(int fd, const void *buffer, size_t bytes, off_t offset);
extern int	__wrap_openat(int directory, const char *path, int flags, mode_t mode);
extern int	__wrap_unlinkat(int directory, const char *path, int flags);
extern int	__wrap_renameat(int old_directory, const char *old_path, int new_directory, const char *new_path);
extern long __real_syscall(long number,...);
extern long __wrap_syscall(long number, long a, long b, long c, long d, long e);

ssize_t
__wrap_pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	if (!is_faulty())
		return __real_pread(fd, buffer, bytes, offset);
	return fault_kind == FAULT_SHORT ? __real_pread(fd, buffer, bytes / 2, offset) : fail();
}

ssize_t
__wrap_pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
	if (!is_faulty())
		return __real_pwrite(fd, buffer, bytes, offset);
	/* sectors, which direct I/O can end with */
	return fault_kind == FAULT_SHORT ? __real_pwrite(fd, buffer, bytes / 2 / 512 * 512, offset) : fail();
}

int
__wrap_openat(int directory, const char *path, int flags, mode_t mode)
{
	return is_faulty_as_a_whole() ? fail() : __real_openat(directory, path, flags, mode);
}

int
__wrap_unlinkat(int directory, const char *path, int flags)
{
	return is_faulty_as_a_whole() ? fail() : __real_unlinkat(directory, path, flags);
}

int
__wrap_renameat(int old_directory, const char *old_path, int new_directory, const char *new_path)
{
	return is_faulty_as_a_whole() ? fail() : __real_renameat(old_directory, old_path, new_directory, new_path);
}

/* io_submit fails, or what io_getevents gives has an error or is short; so nothing stays pending. */
long
__wrap_syscall(long number, long a, long b, long c, long d, long e)
{
	bool		fails = is_faulty();
	long		result;

	if (fault_refuses_events && number == SYS_io_setup)
	{
		errno = EAGAIN;
		return -1;
	}
	if (fails && number == SYS_io_submit)
		return fail();
	result = __real_syscall(number, a, b, c, d, e);
	if (fails && number == SYS_io_getevents && result > 0)
		((struct io_event *) d)[0].res = fault_kind == FAULT_SHORT ? 512 : -EIO;
	return result;
}

int
pg_fsync(int fd)
{
	return is_faulty_as_a_whole() ? fail() : 0;
}

int
MakePGDirectory(const char *path)
{
	return mkdir(path, 0700);
}

/* The tests' paths need no more. */
void
canonicalize_path(char *path)
{
	size_t		length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
}

static void *
checked(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

void *
palloc(Size bytes)
{
	return checked(malloc(bytes));
}

void *
palloc_extended(Size bytes, int flags)
{
	return malloc(bytes);
}

void *
repalloc(void *memory, Size bytes)
{
	return checked(realloc(memory, bytes));
}

char *
pstrdup(const char *text)
{
	return checked(strdup(text));
}

#undef vsnprintf
#undef snprintf
#undef vasprintf

char *
psprintf(const char *format,...)
{
	char	   *text = palloc(4096);
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, 4096, format, arguments);
	va_end(arguments);
	return text;
}

int
pg_snprintf(char *text, size_t bytes, const char *format,...)
{
	va_list		arguments;
	int			length;

	va_start(arguments, format);
	length = vsnprintf(text, bytes, format, arguments);
	va_end(arguments);
	return length;
}

#undef qsort

void
pg_qsort(void *base, size_t count, size_t size, int (*compare) (const void *, const void *))
{
	qsort(base, count, size, compare);
}

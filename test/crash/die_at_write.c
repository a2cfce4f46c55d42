/*-------------------------------------------------------------------------
 *
 * die_at_write.c
 *	  Preloaded into a server: kills it with SIGKILL at the n-th system call
 *	  from now on that changes the files of the disk cache.
 *
 * The file that DIE_AT_WRITE names has the number and who dies, "17 server" or
 * "17 process"; without it nothing happens.  A write is cut in half, of
 * whole sectors, first.
 *
 * Nothing is synced: who is killed loses nothing by that, and it spares the disk.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
is_ours(const char *path)
{
	return strncmp(path, "penumbra/", 9) == 0 || strstr(path, "data/penumbra/") != NULL;
}

static int
is_open_on_ours(int fd)
{
	char		link[64];
	char		path[PATH_MAX];
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return 0;
	path[length] = '\0';
	return is_ours(path);
}

/* Counts; who dies now, or '\0'. */
static char
count_call(void)
{
	const char *name = getenv("DIE_AT_WRITE");
	FILE	   *file = name == NULL ? NULL : fopen(name, "r+");
	int			left;
	char		who[16];
	char		dies = '\0';

	if (file == NULL)
		return '\0';
	if (fscanf(file, "%d %15s", &left, who) == 2 && left > 0)
	{
		if (--left == 0)
			dies = who[0];
		rewind(file);
		fprintf(file, "%d %s\n", left, who);
	}
	fclose(file);
	return dies;
}

static void
die(char who)
{
	if (who == '\0')
		return;
	if (who == 's')
		kill(getppid(), SIGKILL);
	kill(getpid(), SIGKILL);
}

ssize_t
pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
	ssize_t		(*real) (int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
	char		who = is_open_on_ours(fd) ? count_call() : '\0';

	if (who != '\0')
		(void) real(fd, data, bytes / 2 / 512 * 512, offset);
	die(who);
	return real(fd, data, bytes, offset);
}

int
fsync(int fd)
{
	if (is_open_on_ours(fd))
		die(count_call());
	return 0;
}

int
fdatasync(int fd)
{
	return 0;
}

int
rename(const char *from, const char *to)
{
	int			(*real) (const char *, const char *) = dlsym(RTLD_NEXT, "rename");

	if (is_ours(to))
		die(count_call());
	return real(from, to);
}

int
unlink(const char *path)
{
	int			(*real) (const char *) = dlsym(RTLD_NEXT, "unlink");

	if (is_ours(path))
		die(count_call());
	return real(path);
}

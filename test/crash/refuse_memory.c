/*
 * Preloaded into a server: while the file of REFUSE_MEMORY is there, every second
 * fallocate() of a file in memory fails as the kernel's does where it has no more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	static int	calls;
	static int	(*next) (int, int, off_t, off_t);
	const char *refusing = getenv("REFUSE_MEMORY");

	if (next == NULL)
		next = dlsym(RTLD_NEXT, "fallocate");
	if (refusing != NULL && access(refusing, F_OK) == 0 && ++calls % 2 == 0)
	{
		errno = calls % 4 == 0 ? ENOSPC : EINTR;
		return -1;
	}
	return next(fd, mode, offset, bytes);
}

int
fallocate64(int fd, int mode, off_t offset, off_t bytes)
{
	return fallocate(fd, mode, offset, bytes);
}

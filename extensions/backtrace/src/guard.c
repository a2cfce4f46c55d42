/*-------------------------------------------------------------------------
 *
 * guard.c
 *	  Reading memory that may not be there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"

static Guard *volatile current = NULL;

pid_t
current_thread(void)
{
	return (pid_t) syscall(SYS_gettid);
}

void
guard_begin(Guard *guard)
{
	guard->thread = current_thread();
	guard->outer = current;
	current = guard;
}

void
guard_end(Guard *guard)
{
	current = guard->outer;
}

/* Called by signal handlers; returns if this thread has no guard. */
void
guard_escape(void)
{
	Guard	   *guard = current;

	if (guard == NULL || guard->thread != current_thread())
		return;
	current = guard->outer;
	siglongjmp(guard->jump, 1);
}

bool
guarded_copy(void *to, uintptr_t from, size_t bytes)
{
	Guard		guard;

	if (!guard_try(&guard))
		return false;
	memcpy(to, (const void *) from, bytes);
	guard_end(&guard);
	return true;
}

/* Returns the length of what could be read; always terminated. */
size_t
guarded_copy_string(char *to, const char *from, size_t size_bytes)
{
	Guard		guard;
	volatile size_t length = 0;

	if (from != NULL && guard_try(&guard))
	{
		while (length < size_bytes - 1 && from[length] != '\0')
		{
			to[length] = from[length];
			length++;
		}
		guard_end(&guard);
	}
	to[length] = '\0';
	return length;
}

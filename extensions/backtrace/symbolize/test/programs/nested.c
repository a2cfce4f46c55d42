/* Static and inlined functions, and a call that is the last instruction of its function. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print_stack.h"

#define KEEP(x) __asm__ volatile("" : "+r"(x))

static volatile sig_atomic_t received;

static void
count_signal(int signal)
{
	(void) signal;
	received++;
}

/* "wait N": until N real-time signals have come */
static __attribute__((noinline)) int
wait_for(int signals)
{
	sigset_t	blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGRTMIN, count_signal);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (received < signals)
		sigsuspend(&before); /* line: wait_for */
	return received != signals;
}

static __attribute__((noinline, noreturn)) void
finish(void)
{
	print_stack(); /* line: finish */
	exit(0);
}

static __attribute__((noinline)) void
call_at_the_end(void)
{
	finish(); /* line: call_at_the_end */
}

static inline __attribute__((always_inline)) int
inner(int n)
{
	KEEP(n);
	if (n == 12345)
		return 0;
	call_at_the_end(); /* line: inner */
	return n;
}

static inline __attribute__((always_inline)) int
outer(int n)
{
	n++;
	return inner(n) + 1; /* line: outer */
}

static __attribute__((noinline)) int
local(int n)
{
	n = outer(n); /* line: local */
	KEEP(n);
	return n;
}

__attribute__((noinline)) int
exported(int n)
{
	n = local(n) * 2; /* line: exported */
	KEEP(n);
	return n;
}

int
main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "wait") == 0)
	{
		argc = wait_for(atoi(argv[2])); /* line: main waits */
		KEEP(argc);
		return argc;
	}
	argc = exported(argc); /* line: main */
	KEEP(argc);
	return argc;
}

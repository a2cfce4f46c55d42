/*-------------------------------------------------------------------------
 *
 * guard.h
 *	  Reading memory that may not be there.
 *
 * A fault (SIGSEGV, SIGBUS) or the crash handler's timer between guard_try()
 * and guard_end() continues where guard_try() was called, which then returns
 * false.  Needs the handlers of crash.c; without them a fault is a fault.
 * They are installed with SA_NODEFER and an empty mask, so leaving them by a
 * jump leaves no signal blocked, and no mask need be saved.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_GUARD_H
#define BACKTRACE_GUARD_H

#include "postgres.h"

#include <setjmp.h>
#include <signal.h>

/*
 * Of the crash handler's timer, and of requests for a live backtrace.  Hardly
 * anybody takes the last but one real-time signal, or any.
 */
#define LIVE_SIGNAL			(SIGRTMAX - 1)

typedef struct Guard
{
	sigjmp_buf	jump;
	struct Guard *outer;
	pid_t		thread;
} Guard;

#define guard_try(guard) (guard_begin(guard), sigsetjmp((guard)->jump, 0) == 0)

extern void guard_begin(Guard *guard);
extern void guard_end(Guard *guard);
extern void guard_escape(void);
extern bool guarded_copy(void *to, uintptr_t from, size_t bytes);
extern size_t guarded_copy_string(char *to, const char *from, size_t size_bytes);
extern pid_t current_thread(void);

#endif							/* BACKTRACE_GUARD_H */

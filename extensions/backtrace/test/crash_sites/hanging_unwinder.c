/*-------------------------------------------------------------------------
 *
 * hanging_unwinder.c
 *	  Preloaded, an unwinder that does not come back when a signal handler
 *	  calls it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>
#include <unwind.h>

extern PGDLLEXPORT _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn trace, void *arg);

_Unwind_Reason_Code
_Unwind_Backtrace(_Unwind_Trace_Fn trace, void *arg)
{
	static _Unwind_Reason_Code (*real) (_Unwind_Trace_Fn, void *) = NULL;
	stack_t		stack;

	if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK))
	{
		for (;;)
			pause();
	}
	if (real == NULL)
		real = (_Unwind_Reason_Code (*) (_Unwind_Trace_Fn, void *)) dlsym(RTLD_NEXT, "_Unwind_Backtrace");
	return real(trace, arg);
}

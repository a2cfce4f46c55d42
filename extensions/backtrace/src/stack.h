/*-------------------------------------------------------------------------
 *
 * stack.h
 *	  Raw stacks: program counters, by the unwinder of libgcc.
 *
 * With glibc 2.35 and later it finds unwind tables without a lock
 * (_dl_find_object), so it may run in a signal handler, after stack_warm_up().
 * The exception is code that was registered at run time (LLVM's JIT): before
 * gcc 13 a mutex guards it, so a handler must not unwind while the interrupted
 * code unwinds: stack_unwinding() says so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_STACK_H
#define BACKTRACE_STACK_H

#include "postgres.h"

#include <ucontext.h>

#include "modules.h"
#include "writer.h"

#define STACK_FRAMES_MAX		128

/* A raw stack as text never is longer than this: see stack_write(). */
#define STACK_TEXT_BYTES		16384
#define STACK_MODULES_MAX		24

typedef struct RawStack
{
	int			count;
	uintptr_t	pc[STACK_FRAMES_MAX];
	uintptr_t	cfa[STACK_FRAMES_MAX];	/* the stack pointer where the frame was called */
	uintptr_t	frame_pointer[STACK_FRAMES_MAX];
	bool		exact[STACK_FRAMES_MAX];	/* pc was executing; else it is a return address */
} RawStack;

extern void stack_warm_up(void);
extern bool stack_unwinding(void);
extern const void *stack_unwinder_address(void);
extern void stack_capture(RawStack *stack);
extern void stack_capture_interrupted(RawStack *stack, ucontext_t *context);
extern void stack_write(const RawStack *stack, const Module *modules, int module_count, Writer *writer);
extern void stack_write_frames(const RawStack *stack, Writer *writer);

#endif							/* BACKTRACE_STACK_H */

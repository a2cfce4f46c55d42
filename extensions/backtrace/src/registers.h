/*-------------------------------------------------------------------------
 *
 * registers.h
 *	  What depends on the processor: registers in a signal's context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_REGISTERS_H
#define BACKTRACE_REGISTERS_H

#include "postgres.h"

#include <ucontext.h>

#include "writer.h"

extern uintptr_t registers_pc(const ucontext_t *context);
extern uintptr_t registers_frame_pointer(const ucontext_t *context);
extern bool registers_return_to_caller(ucontext_t *context);
extern void registers_write(const ucontext_t *context, Writer *writer);

/* Number of the frame pointer in the unwind tables. */
#if defined(__x86_64__)
#define FRAME_POINTER_COLUMN	6
#elif defined(__aarch64__)
#define FRAME_POINTER_COLUMN	29
#else
#error "backtraces are written for x86-64 and 64-bit ARM"
#endif

#endif							/* BACKTRACE_REGISTERS_H */

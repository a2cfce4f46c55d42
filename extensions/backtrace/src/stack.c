/*-------------------------------------------------------------------------
 *
 * stack.c
 *	  Raw stacks: program counters, by the unwinder of libgcc.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>
#include <unwind.h>

#include "guard.h"
#include "registers.h"
#include "stack.h"

typedef struct Unwinding
{
	RawStack   *stack;
	uintptr_t	interrupted_pc; /* frames before the interrupted one are ours; 0: all are wanted */
} Unwinding;

static volatile sig_atomic_t unwinding = false;

bool
stack_unwinding(void)
{
	return unwinding;
}

const void *
stack_unwinder_address(void)
{
	return (const void *) _Unwind_Backtrace;
}

/*
 * In a signal handler the unwinding begins with the handler's own frames. They are
 * passed over up to the interrupted instruction.
 */
static _Unwind_Reason_Code
take_frame(struct _Unwind_Context *context, void *arg)
{
	Unwinding  *state = arg;
	RawStack   *stack = state->stack;
	int			before_instruction = 0;
	uintptr_t	pc = _Unwind_GetIPInfo(context, &before_instruction);
	int			i = stack->count;

	if (state->interrupted_pc != 0)
	{
		if (!before_instruction || pc != state->interrupted_pc)
			return _URC_NO_REASON;
		state->interrupted_pc = 0;
	}
	if (pc == 0 || i == STACK_FRAMES_MAX)
		return _URC_END_OF_STACK;
	stack->pc[i] = pc;
	stack->cfa[i] = _Unwind_GetCFA(context);
	stack->frame_pointer[i] = _Unwind_GetGR(context, FRAME_POINTER_COLUMN);
	stack->exact[i] = before_instruction != 0;
	stack->count = i + 1;
	return _URC_NO_REASON;
}

/* The first unwinding allocates and takes locks; the children of the postmaster inherit that it was done. */
void
stack_warm_up(void)
{
	RawStack	stack;

	stack_capture(&stack);
}

void
stack_capture(RawStack *stack)
{
	Unwinding	state = {.stack = stack};

	stack->count = 0;
	unwinding = true;
	_Unwind_Backtrace(take_frame, &state);
	unwinding = false;
}

static void
unwind_interrupted(RawStack *stack, uintptr_t pc)
{
	Unwinding	state = {.stack = stack, .interrupted_pc = pc};
	Guard		guard;

	if (!guard_try(&guard))
		return;					/* what was taken before the fault stands */
	_Unwind_Backtrace(take_frame, &state);
	guard_end(&guard);
}

static void
take_interrupted(RawStack *stack, uintptr_t pc)
{
	stack->pc[stack->count] = pc;
	stack->exact[stack->count++] = true;
}

/* Through frame pointers: what is left where the unwinder finds no tables, or a broken stack. */
static void
follow_frame_pointers(RawStack *stack, uintptr_t frame_pointer)
{
	uintptr_t	record[2];		/* the caller's frame pointer, the return address */

	while (stack->count < STACK_FRAMES_MAX && frame_pointer % sizeof(uintptr_t) == 0 &&
		   guarded_copy(record, frame_pointer, sizeof(record)) && record[1] != 0)
	{
		stack->pc[stack->count] = record[1];
		stack->exact[stack->count++] = false;
		if (record[0] <= frame_pointer)
			break;
		frame_pointer = record[0];
	}
}

/*
 * The stack that a signal interrupted, called in its handler.  The unwinder
 * begins here and passes the signal's frame.  Where there is no code at the
 * interrupted pc (a call through a bad pointer), the context is that of the
 * caller while we unwind, and put back for the core dump.
 */
void
stack_capture_interrupted(RawStack *stack, ucontext_t *context)
{
	uintptr_t	pc = registers_pc(context);
	Module		module;

	stack->count = 0;
	if (modules_read(&module, 1, &pc, 1) == 0)
	{
		mcontext_t	interrupted = context->uc_mcontext;

		take_interrupted(stack, pc);
		if (registers_return_to_caller(context))
		{
			unwind_interrupted(stack, registers_pc(context));
			if (stack->count > 1)
				stack->exact[1] = false;
		}
		context->uc_mcontext = interrupted;
	}
	else
		unwind_interrupted(stack, pc);
	if (stack->count == 0)
		take_interrupted(stack, pc);
	if (stack->count == 1)
		follow_frame_pointers(stack, registers_frame_pointer(context));
}

/* modules: those of the process; the ones that hold a frame are written. */
void
stack_write(const RawStack *stack, const Module *modules, int module_count, Writer *writer)
{
	int			written = 0;

	for (int i = 0; i < module_count && written < STACK_MODULES_MAX; i++)
	{
		for (int j = 0; j < stack->count; j++)
		{
			if (modules_find(&modules[i], 1, stack->pc[j]) != NULL)
			{
				module_write(&modules[i], writer);
				written++;
				break;
			}
		}
	}
	stack_write_frames(stack, writer);
}

void
stack_write_frames(const RawStack *stack, Writer *writer)
{
	for (int i = 0; i < stack->count; i++)
	{
		writer_string(writer, "frame ");
		writer_hex(writer, stack->pc[i]);
		writer_string(writer, stack->exact[i] ? " exact\n" : " return\n");
	}
	writer_char(writer, '\n');
}

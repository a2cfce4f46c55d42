/*-------------------------------------------------------------------------
 *
 * registers.c
 *	  What depends on the processor: registers in a signal's context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard.h"
#include "registers.h"

#if defined(__x86_64__)

static const struct
{
	const char *name;
	int			number;
}			names[] = {
	{"rip", REG_RIP}, {"rsp", REG_RSP}, {"rbp", REG_RBP}, {"rax", REG_RAX}, {"rbx", REG_RBX},
	{"rcx", REG_RCX}, {"rdx", REG_RDX}, {"rsi", REG_RSI}, {"rdi", REG_RDI}, {"r8", REG_R8},
	{"r9", REG_R9}, {"r10", REG_R10}, {"r11", REG_R11}, {"r12", REG_R12}, {"r13", REG_R13},
	{"r14", REG_R14}, {"r15", REG_R15}, {"eflags", REG_EFL},
};

uintptr_t
registers_pc(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RIP];
}

uintptr_t
registers_frame_pointer(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RBP];
}

/*
 * After a jump to where no code is: as if it had returned at once.  False if
 * the stack cannot be read.
 */
bool
registers_return_to_caller(ucontext_t *context)
{
	greg_t	   *registers = context->uc_mcontext.gregs;

	if (!guarded_copy(&registers[REG_RIP], registers[REG_RSP], sizeof(registers[REG_RIP])))
		return false;
	registers[REG_RSP] += sizeof(registers[REG_RIP]);
	return true;
}

void
registers_write(const ucontext_t *context, Writer *writer)
{
	for (int i = 0; i < lengthof(names); i++)
	{
		writer_string(writer, names[i].name);
		writer_char(writer, ' ');
		writer_hex(writer, context->uc_mcontext.gregs[names[i].number]);
		writer_char(writer, '\n');
	}
}

#elif defined(__aarch64__)

uintptr_t
registers_pc(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

uintptr_t
registers_frame_pointer(const ucontext_t *context)
{
	return context->uc_mcontext.regs[29];
}

bool
registers_return_to_caller(ucontext_t *context)
{
	context->uc_mcontext.pc = context->uc_mcontext.regs[30];
	return true;
}

static void
write_register(Writer *writer, const char *name, uint64 value)
{
	writer_string(writer, name);
	writer_char(writer, ' ');
	writer_hex(writer, value);
	writer_char(writer, '\n');
}

void
registers_write(const ucontext_t *context, Writer *writer)
{
	write_register(writer, "pc", context->uc_mcontext.pc);
	write_register(writer, "sp", context->uc_mcontext.sp);
	for (int i = 0; i < 31; i++)
	{
		char		name[4];
		Writer		composed;

		writer_init(&composed, name, sizeof(name) - 1, -1);
		writer_char(&composed, 'x');
		writer_decimal(&composed, i);
		name[composed.used_bytes] = '\0';
		write_register(writer, name, context->uc_mcontext.regs[i]);
	}
	write_register(writer, "cpsr", context->uc_mcontext.pstate);
}

#endif

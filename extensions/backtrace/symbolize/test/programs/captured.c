/*
 * The server side's capture of stacks in a program of its own: called ("call"), in the handler of a fault
 * ("fault", "inlined"), of a jump to where no code is ("garbage"), of a stack overflow ("overflow").
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "guard.h"
#include "modules.h"
#include "registers.h"
#include "stack.h"
#include "writer.h"

#define KEEP(x) __asm__ volatile("" : "+r"(x))

static volatile int *volatile null = NULL;
static RawStack stack;

#if !HAVE_DECL_STRLCPY
/* libpgport's, which has no build for every processor at hand. */
size_t
strlcpy(char *to, const char *from, size_t size_bytes)
{
	size_t		length = strlen(from);
	size_t		taken = Min(length, size_bytes - 1);

	memcpy(to, from, taken);
	to[taken] = '\0';
	return length;
}
#endif

static void
print_captured(void)
{
	static char buffer[4096];
	static Module modules[STACK_MODULES_MAX];
	int			count = modules_read(modules, STACK_MODULES_MAX, stack.pc, stack.count);
	Writer		writer;

	writer_init(&writer, buffer, sizeof(buffer), STDOUT_FILENO);
	stack_write(&stack, modules, count, &writer);
	writer_flush(&writer);
}

static void
handle_fault(int signal_number, siginfo_t *info, void *context)
{
	static volatile bool handling = false;

	(void) signal_number;
	(void) info;
	guard_escape();
	if (handling)
		_exit(3);
	handling = true;
	stack_capture_interrupted(&stack, context);
	print_captured();
	_exit(0);
}

static pg_noinline int
fault(void)
{
	*null = 1; /* line: fault */
	return 1;
}

static pg_attribute_always_inline int
store(volatile int *address)
{
	*address = 1; /* line: store */
	return 1;
}

static pg_noinline int
around_inlined(void)
{
	int			result = store(null); /* line: around_inlined */

	KEEP(result);
	return result;
}

static pg_noinline int
garbage(void)
{
	int			(*volatile nowhere) (void) = (int (*) (void)) 0x1234;
	int			result = nowhere(); /* line: garbage */

	KEEP(result);
	return result;
}

static pg_noinline int
overflow(int depth)
{
	volatile char block[256];

	block[depth % 256] = (char) depth;
	return overflow(depth + 1) + block[depth % 100]; /* line: overflow */
}

static pg_noinline int
called(void)
{
	stack_capture(&stack); /* line: called */
	print_captured();
	return 1;
}

static pg_noinline int
choose(const char *name)
{
	int			result = 0;

	if (strcmp(name, "call") == 0)
		result = called(); /* line: choose call */
	else if (strcmp(name, "fault") == 0)
		result = fault(); /* line: choose fault */
	else if (strcmp(name, "inlined") == 0)
		result = around_inlined(); /* line: choose inlined */
	else if (strcmp(name, "garbage") == 0)
		result = garbage(); /* line: choose garbage */
	else if (strcmp(name, "overflow") == 0)
		result = overflow(0);
	KEEP(result);
	return result;
}

int
main(int argc, char **argv)
{
	static char handler_stack[65536];
	stack_t		own = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
	struct sigaction action = {.sa_sigaction = handle_fault,
	.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	stack_warm_up();
	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	argc = choose(argv[1]); /* line: main */
	KEEP(argc);
	return argc != 1;
}

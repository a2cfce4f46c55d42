/*-------------------------------------------------------------------------
 *
 * crash_sites.c
 *	  Functions that crash in known lines.
 *
 * The tests find a site's line by its mark, "site NAME".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"

#include "pg_compat.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(crash);
PG_FUNCTION_INFO_V1(start_crashing_worker);
PG_FUNCTION_INFO_V1(fail);
PG_FUNCTION_INFO_V1(spin);

extern PGDLLEXPORT void crash_sites_worker_main(Datum argument);

static volatile int *volatile null = NULL;
static volatile int sink;

static pg_noinline void
null_pointer(void)
{
	*null = 1;					/* site null_pointer */
}

static pg_attribute_always_inline void
inlined_store(volatile int *address)
{
	*address = 1;				/* site inlined */
}

static pg_noinline void
inlined(void)
{
	inlined_store(null);		/* site around_inlined */
	sink = 1;
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
static pg_noinline int
stack_overflow(int depth)
{
	volatile char block[256];

	block[depth % 256] = depth;
	return stack_overflow(depth + 1) + block[depth % 100];	/* site stack_overflow */
}

static pg_noinline void
abort_process(void)
{
	abort();					/* site abort_process */
}

static pg_noinline void
panic(void)
{
	elog(PANIC, "a panic for the tests");	/* site panic */
}

static pg_noinline void
double_free(void)
{
	void	   *volatile block = malloc(100);

	free(block);
	free(block);				/* site double_free */
	sink = 1;
}

static pg_noinline void
jump_to_garbage(void)
{
	void		(*volatile garbage) (void) = (void (*) (void)) 0x1234;

	garbage();					/* site jump_to_garbage */
	sink = 1;
}

static pg_noinline void
bus_error(void)
{
	char		path[] = "/tmp/crash_sites_XXXXXX";
	int			fd = mkstemp(path);
	volatile char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	unlink(path);
	memory[0] = 1;				/* site bus_error */
}

static pg_noinline void
illegal_instruction(void)
{
#ifdef __x86_64__
	__asm__ volatile("ud2");	/* site illegal_instruction */
#else
	__asm__ volatile("udf #0");
#endif
}

/* Return addresses and saved frame pointers of our callers, made useless. */
static pg_noinline void
corrupt_stack(void)
{
	volatile uintptr_t *frame = __builtin_frame_address(0);

	for (int i = 0; i < 200; i++)
		frame[i] = 0x5a5a5a5a5a5a5a58;
	*null = 1;					/* site corrupt_stack */
}

/* Sizes of free and used blocks: malloc() and free() abort from here on. */
static pg_noinline void
corrupt_heap(void)
{
	static uintptr_t *volatile blocks[1000];

	/* All before the first is overwritten: malloc() would notice, and abort here. */
	for (int i = 0; i < lengthof(blocks); i++)
		blocks[i] = malloc(32 + i % 50 * 16);
	for (int i = 0; i < lengthof(blocks); i++)
	{
		blocks[i][-1] = 0x5a5a5a5a5a5a5a58;
		blocks[i][0] = 0x5a5a5a5a5a5a5a58;
		blocks[i][1] = 0x5a5a5a5a5a5a5a58;
	}
	*null = 1;					/* site corrupt_heap */
}

/* What the handler reads is broken as well. */
static pg_noinline void
broken_session(void)
{
	debug_query_string = (const char *) 8;
	MyProcPort = (struct Port *) 16;
	*null = 1;					/* site broken_session */
}

/* As on a full disk; PostgreSQL ignores SIGXFSZ. */
static pg_noinline void
no_space(void)
{
	struct rlimit limit = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &limit);
	*null = 1;
}

static pg_noinline void
die_of_self_sent_signal(void)
{
	kill(getpid(), SIGSEGV);	/* site die_of_self_sent_signal */
	sleep(10);
}

static void *
thread_main(void *crash)
{
	static char signal_stack[128 * 1024];
	stack_t		stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};

	pthread_setname_np(pthread_self(), "crashing thread");
	sigaltstack(&stack, NULL);
	((void (*) (void)) crash) ();	/* site thread_main */
	sink = 1;
	return NULL;
}

/* A thread as those of extension penumbra: all that is asynchronous is blocked. */
static void
crash_in_thread(void (*crash) (void))
{
	pthread_t	thread;
	sigset_t	blocked;
	const int	faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT};

	sigfillset(&blocked);
	for (int i = 0; i < lengthof(faults); i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	if (pthread_create(&thread, NULL, thread_main, crash) != 0)
		elog(ERROR, "could not start a thread");
	pthread_join(thread, NULL);
}

static void
crash_overflowing(void)
{
	sink = stack_overflow(0);
}

static void
crash_as(const char *name)
{
	static const struct
	{
		const char *name;
		void		(*function) (void);
	}			sites[] = {
		{"null_pointer", null_pointer}, {"inlined", inlined}, {"abort_process", abort_process},
		{"panic", panic}, {"double_free", double_free}, {"jump_to_garbage", jump_to_garbage},
		{"bus_error", bus_error}, {"illegal_instruction", illegal_instruction},
		{"corrupt_stack", corrupt_stack}, {"corrupt_heap", corrupt_heap},
		{"broken_session", broken_session}, {"no_space", no_space},
		{"die_of_self_sent_signal", die_of_self_sent_signal}, {"stack_overflow", crash_overflowing},
	};
	static const char thread[] = "thread ";
	bool		in_thread = strncmp(name, thread, strlen(thread)) == 0;

	name += in_thread ? strlen(thread) : 0;

	for (int i = 0; i < lengthof(sites); i++)
	{
		if (strcmp(sites[i].name, name) == 0 && in_thread)
			crash_in_thread(sites[i].function);
		else if (strcmp(sites[i].name, name) == 0)
			sites[i].function();
	}
	elog(ERROR, "no crash site of this name");
}

Datum
crash(PG_FUNCTION_ARGS)
{
	crash_as(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

void
crash_sites_worker_main(Datum argument)
{
	BackgroundWorkerUnblockSignals();
	null_pointer();
	sink = 1;
}

/* start_crashing_worker(library) */
Datum
start_crashing_worker(PG_FUNCTION_ARGS)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = BGW_NEVER_RESTART,
	};

	strlcpy(worker.bgw_name, "crashing worker", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "crashing worker", BGW_MAXLEN);
	text_to_cstring_buffer(PG_GETARG_TEXT_PP(0), worker.bgw_library_name, sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "crash_sites_worker_main", BGW_MAXLEN);
	PG_RETURN_BOOL(RegisterDynamicBackgroundWorker(&worker, NULL));
}

static pg_noinline void
raise_error(int sqlerrcode)
{
	ereport(ERROR,
			(errcode(sqlerrcode),
			 errmsg("an error for the tests")));	/* site raise_error */
}

/* fail(sqlstate) */
Datum
fail(PG_FUNCTION_ARGS)
{
	char	   *state = text_to_cstring(PG_GETARG_TEXT_PP(0));

	raise_error(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]));
	PG_RETURN_VOID();
}

static pg_noinline void
spin_until(const char *path)
{
	do
	{
		for (int i = 0; i < 10000000; i++)
			sink++;
	} while (access(path, F_OK) != 0);
}

/* spin(path): until that file exists, without a look at interrupts */
Datum
spin(PG_FUNCTION_ARGS)
{
	spin_until(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

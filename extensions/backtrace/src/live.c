/*-------------------------------------------------------------------------
 *
 * live.c
 *	  The stack of a running process.
 *
 * A requester claims a slot in shared memory and sends LIVE_SIGNAL with its
 * number; the target's handler writes the raw stack into the slot.  A process
 * without the handler would die of the signal, so SigCgt in /proc/PID/status is
 * read before, and the signal goes to a pidfd opened before that.
 *
 * A slot's text belongs to the process that its state names: nobody else
 * reads or writes it.  States change by compare and exchange, so a late answer
 * finds out that nobody waits for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "crash.h"
#include "frames.h"
#include "guard.h"
#include "live.h"
#include "pg_compat.h"
#include "registers.h"
#include "shared.h"
#include "symbolizer.h"

#define SLOT_TIMEOUT_MS		30000
#define SLOT_WAIT_MS		10
#define CAPTURE_TIMEOUT_MS	2000
#define SYMBOLS_TIMEOUT_MS	20000
#define PTRACE_TIMEOUT_MS	20000

enum
{
	LIVE_FREE = 0,
	LIVE_CLAIMED,				/* requester */
	LIVE_REQUESTED,				/* requester, until the target answers */
	LIVE_WRITING,				/* target */
	LIVE_BUSY,					/* requester: the target was unwinding itself, ask again */
	LIVE_CAPTURED,				/* requester */
	LIVE_QUEUED,				/* requester, until the worker takes it */
	LIVE_SYMBOLISING,			/* worker */
	LIVE_RAW,					/* requester: the worker could not */
	LIVE_SYMBOLISED				/* requester */
};

PENUMBRA_SQL_FUNCTION(penumbra_backtrace_sql_live);

/* ---------------------------------------------------------------- target  */

/* libgcc: code that must not be interrupted by itself. */
static Module unwinder;

static void
write_live_stack(LiveSlot *slot, ucontext_t *context)
{
	static RawStack stack;
	static Module modules[STACK_MODULES_MAX];
	Writer		writer;
	int			count;

	stack_capture_interrupted(&stack, context);
	count = modules_read(modules, STACK_MODULES_MAX, stack.pc, stack.count);
	writer_init(&writer, slot->text, STACK_TEXT_BYTES - 1, -1);
	stack_write(&stack, modules, count, &writer);
	slot->text[writer.used_bytes] = '\0';
}

/* Also the signal of the crash handler's timer. */
static void
live_handler(int signal_number, siginfo_t *info, void *context)
{
	int			saved_errno = errno;
	int			number = info->si_value.sival_int;

	if (info->si_code == SI_TIMER)
		guard_escape();
	else if (info->si_code == SI_QUEUE && backtrace_shared != NULL && number >= 0 && number < LIVE_SLOTS)
	{
		LiveSlot   *slot = &backtrace_shared->live[number];
		uintptr_t	pc = registers_pc(context);
		uint32		expected = LIVE_REQUESTED;

		if (slot->target_pid == getpid() &&
			pg_atomic_compare_exchange_u32(&slot->state, &expected, LIVE_WRITING))
		{
			bool		busy = stack_unwinding() || crash_handling() || current_thread() != getpid() ||
				(pc >= unwinder.start && pc < unwinder.end);

			if (!busy)
				write_live_stack(slot, context);
			pg_write_barrier();
			pg_atomic_write_u32(&slot->state, busy ? LIVE_BUSY : LIVE_CAPTURED);
		}
	}
	errno = saved_errno;
}

void
live_install_handler(void)
{
	struct sigaction action = {.sa_sigaction = live_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	uintptr_t	address = (uintptr_t) stack_unwinder_address();

	modules_read(&unwinder, 1, &address, 1);
	sigaction(LIVE_SIGNAL, &action, NULL);
}

/* ---------------------------------------------------------------- worker  */

static bool
change_state(LiveSlot *slot, uint32 from, uint32 to)
{
	return pg_atomic_compare_exchange_u32(&slot->state, &from, to);
}

char *
live_next_for_worker(void)
{
	for (int i = 0; i < LIVE_SLOTS; i++)
	{
		LiveSlot   *slot = &backtrace_shared->live[i];

		if (change_state(slot, LIVE_QUEUED, LIVE_SYMBOLISING))
			return slot->text;
	}
	return NULL;
}

void
live_answered(char *text, bool symbolised)
{
	LiveSlot   *slot = (LiveSlot *) (text - offsetof(LiveSlot, text));

	pg_write_barrier();
	pg_atomic_write_u32(&slot->state, symbolised ? LIVE_SYMBOLISED : LIVE_RAW);
}

/* ---------------------------------------------------------------- requester  */

static bool
is_gone(int pid)
{
	return pid == 0 || (kill(pid, 0) != 0 && errno == ESRCH);
}

/* May a requester take the slot?  Those of dead processes are. */
static bool
is_claimable(const LiveSlot *slot, uint32 state)
{
	if (state == LIVE_FREE)
		return true;
	if (!is_gone(slot->requester_pid))
		return false;
	if (state == LIVE_WRITING)
		return is_gone(slot->target_pid);
	return state != LIVE_SYMBOLISING || backtrace_shared->worker_latch == NULL;
}

/* NULL: none is free. */
static LiveSlot *
try_to_claim_slot(int pid)
{
	LiveSlot   *claimed = NULL;

	LWLockAcquire(backtrace_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < LIVE_SLOTS && claimed == NULL; i++)
	{
		LiveSlot   *slot = &backtrace_shared->live[i];
		uint32		state = pg_atomic_read_u32(&slot->state);

		if (is_claimable(slot, state) && change_state(slot, state, LIVE_CLAIMED))
		{
			slot->requester_pid = MyProcPid;
			slot->target_pid = pid;
			claimed = slot;
		}
	}
	LWLockRelease(backtrace_shared->lock);
	return claimed;
}

/* A slot can become free without anybody who could tell us: its requester died, or its late target answered. */
static LiveSlot *
claim_slot(int pid)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SLOT_TIMEOUT_MS);
	LiveSlot   *slot;

	while ((slot = try_to_claim_slot(pid)) == NULL)
	{
		if (GetCurrentTimestamp() >= end)
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("too many backtraces are being taken"),
					 errdetail("At most %d can be taken at once, and none of them ended within %d seconds.",
							   LIVE_SLOTS, SLOT_TIMEOUT_MS / 1000)));
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLOT_WAIT_MS,
						 WaitEventExtensionNew("PenumbraBacktraceSlot"));
		ResetLatch(MyLatch);
	}
	return slot;
}

/* If somebody is about to write into it, it is claimable when he has. */
static void
release_slot(LiveSlot *slot)
{
	uint32		state = pg_atomic_read_u32(&slot->state);

	slot->requester_pid = 0;
	if (state != LIVE_WRITING && state != LIVE_SYMBOLISING)
		change_state(slot, state, LIVE_FREE);
}

/* Accepts the postmaster and its children: no other process gets a signal. */
static void
require_server_process(int pid, unsigned long long *caught_signals)
{
	char		path[64];
	char		line[256];
	FILE	   *status;
	int			parent = 0;

	*caught_signals = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = pid > 0 ? fopen(path, "r") : NULL;
	if (status != NULL)
	{
		while (fgets(line, sizeof(line), status) != NULL)
		{
			sscanf(line, "PPid: %d", &parent);
			sscanf(line, "SigCgt: %llx", caught_signals);
		}
		fclose(status);
	}
	if (pid != PostmasterPid && parent != PostmasterPid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("PID %d is not a PostgreSQL server process", pid)));
}

static void
send_signal(int pid, int slot_number)
{
	siginfo_t	info = {.si_signo = LIVE_SIGNAL, .si_code = SI_QUEUE, .si_pid = MyProcPid, .si_uid = getuid(),
	.si_value.sival_int = slot_number};
	int			fd = syscall(SYS_pidfd_open, pid, 0);
	unsigned long long caught_signals;
	int			result;

	require_server_process(pid, &caught_signals);
	if ((caught_signals & (UINT64CONST(1) << (LIVE_SIGNAL - 1))) == 0)
	{
		if (fd >= 0)
			close(fd);
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("process %d has not loaded penumbra_backtrace", pid),
				 errhint("Method \"ptrace\" may reach it.")));
	}
	/* Kernels before 5.3, and sandboxes, have no pidfd. */
	if (fd >= 0)
		result = syscall(SYS_pidfd_send_signal, fd, LIVE_SIGNAL, &info, 0);
	else
		result = sigqueue(pid, LIVE_SIGNAL, info.si_value);
	if (fd >= 0)
		close(fd);
	if (result != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not send a signal to process %d: %m", pid)));
}

/* Until the state is neither of the two, or the time is over.  Returns the state. */
static uint32
wait_while(LiveSlot *slot, uint32 first, uint32 second, int timeout_ms)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout_ms);
	uint32		state;

	while (state = pg_atomic_read_u32(&slot->state),
		   (state == first || state == second) && GetCurrentTimestamp() < end)
	{
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1,
						 WaitEventExtensionNew("PenumbraBacktraceReply"));
		ResetLatch(MyLatch);
		if (first == LIVE_REQUESTED && is_gone(slot->target_pid))
			break;
		if (first == LIVE_QUEUED && backtrace_shared->worker_latch == NULL)
			break;
	}
	pg_read_barrier();
	return state;
}

/* A target that is unwinding its stack already reports that it is busy, and is asked again. */
static void
capture(LiveSlot *slot)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), CAPTURE_TIMEOUT_MS);
	int			pid = slot->target_pid;
	uint32		state = LIVE_BUSY;

	while (state == LIVE_BUSY && GetCurrentTimestamp() < end)
	{
		pg_atomic_write_u32(&slot->state, LIVE_REQUESTED);
		send_signal(pid, slot - backtrace_shared->live);
		state = wait_while(slot, LIVE_REQUESTED, LIVE_WRITING, CAPTURE_TIMEOUT_MS);
	}
	if (state == LIVE_CAPTURED)
		return;
	if (is_gone(pid))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("process %d ended before it answered", pid)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("process %d did not answer within %d seconds", pid, CAPTURE_TIMEOUT_MS / 1000),
			 errhint("It may be stopped, or wait in the kernel. Method \"ptrace\" may reach it.")));
}

/* If the worker does not answer in time, the result is the stack as the target wrote it, without symbols. */
static char *
backtrace_by_signal(int pid)
{
	LiveSlot   *slot;
	unsigned long long caught_signals;
	char	   *result;

	require_server_process(pid, &caught_signals);
	slot = claim_slot(pid);
	PG_TRY();
	{
		capture(slot);
		result = pstrdup(slot->text);
		pg_write_barrier();
		pg_atomic_write_u32(&slot->state, LIVE_QUEUED);
		shared_wake_worker();
		if (wait_while(slot, LIVE_QUEUED, LIVE_SYMBOLISING, SYMBOLS_TIMEOUT_MS) == LIVE_SYMBOLISED)
			result = pstrdup(slot->text);
	}
	PG_FINALLY();
	{
		release_slot(slot);
	}
	PG_END_TRY();
	return result;
}

/* The symboliser is a process of its own that attaches to the target. It is stopped even after an error. */
static char *
backtrace_by_ptrace(int pid)
{
	Symbolizer	symbolizer;
	char		argument[16];
	char	   *answer = palloc(STACK_TEXT_BYTES);
	unsigned long long caught_signals;
	volatile bool complete = false;
	volatile int status = 0;

	require_server_process(pid, &caught_signals);
	snprintf(argument, sizeof(argument), "%d", pid);
	if (!symbolizer_start(&symbolizer, "--process", argument))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not execute \"%s\": %m", symbolizer_path())));
	PG_TRY();
	{
		complete = symbolizer_read_all(&symbolizer, answer, STACK_TEXT_BYTES, PTRACE_TIMEOUT_MS);
	}
	PG_FINALLY();
	{
		status = symbolizer_stop(&symbolizer);
	}
	PG_END_TRY();
	if (!complete || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not take the stack of process %d by ptrace", pid),
				 complete ? errdetail_internal("%s", answer)
				 : errdetail("It took more than %d seconds.", PTRACE_TIMEOUT_MS / 1000)));
	return answer;
}

/* backtrace(pid, method) */
Datum
penumbra_backtrace_sql_live(PG_FUNCTION_ARGS)
{
	int			pid = PG_GETARG_INT32(0);
	char	   *method = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *text;

	if (strcmp(method, "ptrace") == 0)
		text = backtrace_by_ptrace(pid);
	else if (strcmp(method, "signal") == 0)
	{
		shared_require();
		text = backtrace_by_signal(pid);
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized method: \"%s\"", method),
				 errhint("Methods are \"signal\" and \"ptrace\".")));
	InitMaterializedSRF(fcinfo, 0);
	frames_put((ReturnSetInfo *) fcinfo->resultinfo, text);
	return (Datum) 0;
}

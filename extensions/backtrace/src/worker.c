/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background worker that has stacks symbolised, and logs them.
 *
 * It keeps one penumbra-symbolize running, which keeps what it has read of
 * debug information.  A stack that it does not answer in time, or dies of, is
 * logged raw, and the program is started again after a pause that doubles.
 * The program is stopped after a while without work: its memory is better
 * used elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "crash_log.h"
#include "live.h"
#include "pg_compat.h"
#include "settings.h"
#include "shared.h"
#include "symbolizer.h"
#include "worker.h"

#define ANSWER_TIMEOUT_MS	15000
#define PAUSE_MS_MIN		1000
#define PAUSE_MS_MAX		60000
#define IDLE_MS				60000
#define CRASH_WAIT_MS		300

static Symbolizer symbolizer;
static int	pause_ms = PAUSE_MS_MIN;
static TimestampTz not_before = 0;	/* the end of the pause */

void
worker_register(void)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_PostmasterStart,
		.bgw_restart_time = 5,
	};

	strlcpy(worker.bgw_name, "penumbra backtrace", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "penumbra backtrace", BGW_MAXLEN);
	strlcpy(worker.bgw_library_name, "penumbra_backtrace", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "penumbra_backtrace_main", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

static void
pause_after_failure(void)
{
	not_before = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pause_ms);
	pause_ms = Min(2 * pause_ms, PAUSE_MS_MAX);
}

/* False: the stack stays raw. */
static bool
symbolise(const char *raw, char *answer, size_t size_bytes)
{
	if (GetCurrentTimestamp() < not_before)
		return false;
	if (symbolizer.pid == 0 && !symbolizer_start(&symbolizer, NULL, NULL))
	{
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not execute \"%s\": %m", symbolizer_path()),
				 errdetail("Backtraces are logged as addresses.")));
		pause_after_failure();
		return false;
	}
	if (!symbolizer_ask(&symbolizer, raw, answer, size_bytes, ANSWER_TIMEOUT_MS))
	{
		bool		died = symbolizer.ended;

		symbolizer_stop(&symbolizer);
		if (!ShutdownRequestPending)
		{
			ereport(LOG,
					(errmsg(died ? "program \"%s\" ended unexpectedly"
							: "program \"%s\" did not answer in time", symbolizer_path()),
					 errdetail("Backtraces are logged as addresses for %d seconds.", pause_ms / 1000)));
			pause_after_failure();
		}
		return false;
	}
	pause_ms = PAUSE_MS_MIN;
	return true;
}

/* Copies a pending stack, so that nothing below holds the lock. */
static bool
next_pending(StackEntry *copy, int *number)
{
	bool		found = false;

	LWLockAcquire(backtrace_shared->lock, LW_SHARED);
	for (int i = 0; i < backtrace_shared->entry_count && !found; i++)
	{
		const StackEntry *entry = &backtrace_shared->entries[i];

		found = entry->count > 0 && entry->pending;
		if (found)
		{
			memcpy(copy, entry, sizeof(StackEntry));
			*number = i;
		}
	}
	LWLockRelease(backtrace_shared->lock);
	return found;
}

/* A pending entry is not replaced; but backtrace_errors_reset() may have emptied it. */
static void
store_frames(const StackEntry *copy, int number, const char *frames)
{
	StackEntry *entry = &backtrace_shared->entries[number];

	LWLockAcquire(backtrace_shared->lock, LW_EXCLUSIVE);
	if (entry->count > 0 && entry->hash == copy->hash && entry->sqlerrcode == copy->sqlerrcode)
	{
		entry->pending = false;
		strlcpy(entry->text, frames, STACK_TEXT_BYTES);
	}
	LWLockRelease(backtrace_shared->lock);
}

static void
handle_errors(void)
{
	static StackEntry copy;
	static char answer[STACK_TEXT_BYTES];
	int			number;

	while (!ShutdownRequestPending && next_pending(&copy, &number))
	{
		const char *frames = symbolise(copy.text, answer, sizeof(answer)) ? answer : copy.text;

		/* Killed while it waited: the next worker does it. */
		if (ShutdownRequestPending)
			break;
		store_frames(&copy, number, frames);
		ereport(LOG,
				(errmsg("backtrace of error %s in process %d (%s), stack %016llx",
						unpack_sql_state(copy.sqlerrcode), copy.first_pid,
						GetBackendTypeDesc(copy.first_type), (unsigned long long) copy.hash),
				 errdetail_internal("%s", frames)));
		CHECK_FOR_INTERRUPTS();
	}
}

static void
handle_live(void)
{
	static char answer[STACK_TEXT_BYTES];
	char	   *text;

	while (!ShutdownRequestPending && (text = live_next_for_worker()) != NULL)
	{
		bool		symbolised = symbolise(text, answer, sizeof(answer));

		if (symbolised)
			strlcpy(text, answer, STACK_TEXT_BYTES);
		live_answered(text, symbolised);
	}
}

static void
leave(int code, Datum arg)
{
	backtrace_shared->worker_latch = NULL;
	symbolizer_stop(&symbolizer);
}

/* The symboliser runs on between requests, and is stopped after IDLE_MS without one. */
void
penumbra_backtrace_main(Datum argument)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	symbolizer.to_fd = symbolizer.from_fd = -1;
	before_shmem_exit(leave, (Datum) 0);
	backtrace_shared->worker_latch = &MyProc->procLatch;
	while (!ShutdownRequestPending)
	{
		long		wait_ms;
		int			events;

		handle_live();
		handle_errors();
		wait_ms = crash_log_new_files() ? CRASH_WAIT_MS : IDLE_MS;
		events = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, wait_ms,
						   WaitEventExtensionNew("PenumbraBacktraceMain"));
		ResetLatch(MyLatch);
		if ((events & WL_TIMEOUT) && wait_ms == IDLE_MS)
			symbolizer_stop(&symbolizer);
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		CHECK_FOR_INTERRUPTS();
	}
	proc_exit(0);
}

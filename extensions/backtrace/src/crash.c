/*-------------------------------------------------------------------------
 *
 * crash.c
 *	  Handlers of the signals that a process dies of.
 *
 * Only what is safe in a signal handler of a process whose memory may be
 * broken: system calls, static memory, reads under a guard.  Every stage is
 * guarded, against faults and, by a timer, against waiting.  Then the same
 * signal, with the same siginfo, is delivered again where it was: the core
 * dump, the exit status and what the postmaster does are those without us.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/file_perm.h"
#include "miscadmin.h"

#include "crash.h"
#include "guard.h"
#include "settings.h"
#include "shared.h"
#include "symbolizer.h"

#define SIGNAL_STACK_BYTES	(128 * 1024)

/* A stage that takes longer is given up. */
#define STAGE_SECONDS		1

/*
 * Reports that crashing processes start before the server begins anew.  When
 * many die at once, the worker makes those of the others, one after the other:
 * each takes what its debug information needs, some 50 MB and more.
 */
#define REPORTS_STARTED_MAX	4

/* How long a thread that crashes too waits for the first one to end the process. */
#define OTHER_THREAD_SECONDS 10

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT};
static struct sigaction previous[lengthof(signals)];

static char directory[MAXPGPATH];
static char program[MAXPGPATH];

/* Who reports: process in the upper half, thread in the lower; a child of that process is another one. */
static uint64 crashing = 0;

static uint64
this_thread(void)
{
	return (uint64) getpid() << 32 | (uint32) current_thread();
}

bool
crash_handling(void)
{
	return __atomic_load_n(&crashing, __ATOMIC_RELAXED) >> 32 == getpid();
}

/* False: this process has one that reports. */
static bool
become_reporter(void)
{
	uint64		seen = __atomic_load_n(&crashing, __ATOMIC_RELAXED);

	return seen >> 32 != getpid() &&
		__atomic_compare_exchange_n(&crashing, &seen, this_thread(), false,
									__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

const char *
crash_directory_path(void)
{
	return directory;
}

/*
 * Where another process crashed first, the postmaster sends SIGQUIT while we
 * write: its handler, like any other, would end the process with half a file.
 * What we need comes through: faults under a guard, and the timer.
 */
static void
hold_signals(void)
{
	sigset_t	held;

	sigfillset(&held);
	sigdelset(&held, LIVE_SIGNAL);
	for (int i = 0; i < lengthof(signals); i++)
		sigdelset(&held, signals[i]);
	sigprocmask(SIG_SETMASK, &held, NULL);
}

/*
 * Without this thread's timer a lock that the crashed code holds could stop us
 * for ever.  System calls, because timer_create() of the C library allocates.
 */
static int
start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LIVE_SIGNAL};
	struct itimerspec period = {.it_interval.tv_sec = STAGE_SECONDS, .it_value.tv_sec = STAGE_SECONDS};
	int			timer = -1;

	event._sigev_un._tid = current_thread();
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0)
		return -1;
	syscall(SYS_timer_settime, timer, 0, &period, NULL);
	return timer;
}

/* A process that has left shared memory faults here, and may. */
static bool
may_start_report(void)
{
	Guard		guard;
	volatile bool may = true;

	if (backtrace_shared != NULL && guard_try(&guard))
	{
		may = pg_atomic_fetch_add_u32(&backtrace_shared->reports_started, 1) < REPORTS_STARTED_MAX;
		guard_end(&guard);
	}
	return may;
}

/*
 * The report is made by another program while this process dies.  vfork()
 * copies no memory, and the child touches none before it is the program.  It
 * holds a lock on the report until it ends.  The file is opened before, because
 * while vfork() waits for the child no timer ends what the child waits for, and
 * it must be new: what stands there already is not ours.
 */
static void
start_report(const Crash *crash)
{
	static char *environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
	char	   *arguments[] = {program, (char *) crash->path, NULL};
	sigset_t	all;
	sigset_t	old;
	int			report;

	if (!may_start_report())
		return;
	report = open(crash->report_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (report < 0)
		return;
	flock(report, LOCK_EX | LOCK_NB);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	if (vfork() == 0)
	{
		int			nothing = open("/dev/null", O_RDWR);
		sigset_t	none;

		dup2(nothing, STDIN_FILENO);
		dup2(report, STDOUT_FILENO);
		dup2(nothing, STDERR_FILENO);
		/* Nobody may wait for the end of a pipe or socket because of us. */
		if (syscall(SYS_close_range, 3, ~0U, 0) != 0)
		{
			for (int fd = 3; fd < 1024; fd++)
				close(fd);
		}
		setsid();
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execve(program, arguments, environment);
		unlink(crash->report_path);
		_exit(1);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(report);
}

/* One stage after the other, so that the next runs whatever becomes of one. */
static void
report_crash(Crash *crash)
{
	Guard		guard;
	int			timer;

	hold_signals();
	timer = start_timer();
	if (guard_try(&guard))
	{
		crash_file_write(crash);
		guard_end(&guard);
	}
	if (guard_try(&guard))
	{
		crash_message_write(crash);
		guard_end(&guard);
	}
	if (crash->file_written && guard_try(&guard))
	{
		start_report(crash);
		guard_end(&guard);
	}
	if (timer >= 0)
		syscall(SYS_timer_delete, timer);
}

/* Is it the postmaster that ends its children after another one's crash? */
static bool
sent_by_postmaster(const siginfo_t *info)
{
	return IsUnderPostmaster && info->si_code == SI_USER && info->si_pid == PostmasterPid;
}

/* On return from the handler, with what the signal meant before us. */
static void
deliver_again(int signal_number, siginfo_t *info, ucontext_t *context)
{
	sigset_t	blocked;

	for (int i = 0; i < lengthof(signals); i++)
		sigaction(signals[i], &previous[i], NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, signal_number);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), current_thread(), signal_number, info);
	/* An attempt to block it does not protect anybody from a fault. */
	sigdelset(&context->uc_sigmask, signal_number);
}

/*
 * The first thread that crashes reports. Others wait, so that they do not end the
 * process meanwhile. If the reporter itself crashes outside of guarded reads, the
 * signal goes to the previous handler at once.
 */
static void
crash_handler(int signal_number, siginfo_t *info, void *context)
{
	static Crash crash;

	guard_escape();
	if (become_reporter())
	{
		if (backtrace_crash_reports && !sent_by_postmaster(info))
		{
			crash.signal_number = signal_number;
			crash.info = info;
			crash.context = context;
			report_crash(&crash);
		}
	}
	else if (__atomic_load_n(&crashing, __ATOMIC_RELAXED) != this_thread())
	{
		struct timespec time = {.tv_sec = OTHER_THREAD_SECONDS};

		nanosleep(&time, NULL);
	}
	deliver_again(signal_number, info, context);
}

/* Inherited by the children.  Other threads have what who started them gave them. */
static void
install_signal_stack(void)
{
	stack_t		stack = {.ss_size = SIGNAL_STACK_BYTES};
	stack_t		old;

	if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE) == 0)
		return;
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0)
		ereport(WARNING,
				(errmsg("could not set up a stack for signal handlers: %m"),
				 errdetail("A stack overflow will not be reported.")));
}

static void
prepare_directory(void)
{
	if (is_absolute_path(backtrace_crash_directory))
		strlcpy(directory, backtrace_crash_directory, MAXPGPATH);
	else
		snprintf(directory, MAXPGPATH, "%s/%s", DataDir, backtrace_crash_directory);
	canonicalize_path(directory);
	if (mkdir(directory, pg_dir_create_mode) != 0 && errno != EEXIST)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", directory),
				 errdetail("Crashes will be reported on standard error only.")));
}

void
crash_install_handlers(void)
{
	struct sigaction action = {.sa_sigaction = crash_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	prepare_directory();
	strlcpy(program, symbolizer_path(), MAXPGPATH);
	crash_file_prepare();
	install_signal_stack();
	for (int i = 0; i < lengthof(signals); i++)
		sigaction(signals[i], &action, &previous[i]);
}

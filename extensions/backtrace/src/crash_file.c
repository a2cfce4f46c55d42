/*-------------------------------------------------------------------------
 *
 * crash_file.c
 *	  What a crash file holds, and the message on standard error.
 *
 * Runs in the crash handler: see crash.c.  The format stands in README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Of Port we read members that stand before what these add, and need no Kerberos or TLS headers. */
#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL
#include "libpq/libpq-be.h"
#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"

#include "crash.h"
#include "guard.h"
#include "pg_compat.h"
#include "registers.h"
#include "settings.h"
#include "stack.h"

#define QUERY_BYTES			16384
#define CRASH_MODULES_MAX	256
#define NAME_BYTES			(4 * NAMEDATALEN)

/* Names of process types, taken before: they are translated, which allocates. */
static const char *type_names[BACKEND_NUM_TYPES];

static RawStack stack;
static Module modules[CRASH_MODULES_MAX];
static int	module_count;
static char process_type[NAME_BYTES];
static char buffer[4096];

void
crash_file_prepare(void)
{
	for (int i = 0; i < BACKEND_NUM_TYPES; i++)
		type_names[i] = GetBackendTypeDesc(i);
}

static const char *
signal_name(int number)
{
	return number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" :
		number == SIGILL ? "SIGILL" : number == SIGABRT ? "SIGABRT" : "?";
}

/* Gregorian date of days since 1970, for years after that. */
static void
write_time(Writer *writer, time_t now)
{
	int64		days = now / 86400;
	int			seconds = now % 86400;
	int			year = 1970;
	int			month = 0;
	static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

#define LEAP(y) ((y) % 4 == 0 && ((y) % 100 != 0 || (y) % 400 == 0))
	while (days >= 365 + LEAP(year))
	{
		days -= 365 + LEAP(year);
		year++;
	}
	while (days >= month_days[month] + (month == 1 && LEAP(year)))
	{
		days -= month_days[month] + (month == 1 && LEAP(year));
		month++;
	}
	writer_decimal(writer, year);
	writer_char(writer, '-');
	writer_decimal_2(writer, month + 1);
	writer_char(writer, '-');
	writer_decimal_2(writer, days + 1);
	writer_char(writer, ' ');
	writer_decimal_2(writer, seconds / 3600);
	writer_char(writer, ':');
	writer_decimal_2(writer, seconds / 60 % 60);
	writer_char(writer, ':');
	writer_decimal_2(writer, seconds % 60);
	writer_string(writer, " UTC");
}

static void
write_key(Writer *writer, const char *key)
{
	writer_string(writer, key);
	writer_string(writer, ": ");
}

static void
write_number(Writer *writer, const char *key, int64 value)
{
	write_key(writer, key);
	writer_decimal(writer, value);
	writer_char(writer, '\n');
}

static void
write_string(Writer *writer, const char *key, const char *value, size_t length)
{
	if (length == 0)
		return;
	write_key(writer, key);
	writer_escaped(writer, value, length);
	writer_char(writer, '\n');
}

static void
find_process_type(void)
{
	if (!IsUnderPostmaster)
		strlcpy(process_type, IsPostmasterEnvironment ? "postmaster" : "single user", NAME_BYTES);
	else if (MyBackendType == B_BG_WORKER && MyBgworkerEntry != NULL &&
			 guarded_copy_string(process_type, MyBgworkerEntry->bgw_type, NAME_BYTES) > 0)
		;
	else if (MyBackendType >= 0 && MyBackendType < BACKEND_NUM_TYPES)
		strlcpy(process_type, type_names[MyBackendType], NAME_BYTES);
	else
		strlcpy(process_type, "?", NAME_BYTES);
}

/* Only the process's first thread is PostgreSQL's. */
static void
write_thread(Writer *writer)
{
	char		name[16] = "";

	if (current_thread() == getpid())
		return;
	prctl(PR_GET_NAME, name);
	write_string(writer, "thread", name, strnlen(name, sizeof(name)));
}

/* Names that the client gave, or object identifiers. */
static void
write_session(Writer *writer)
{
	static char name[NAME_BYTES];
	Port		port;
	PGPROC		proc;
	bool		has_port = MyProcPort != NULL && guarded_copy(&port, (uintptr_t) MyProcPort, sizeof(port));

	if (has_port && port.database_name != NULL)
		write_string(writer, "database", name, guarded_copy_string(name, port.database_name, NAME_BYTES));
	else if (OidIsValid(MyDatabaseId))
		write_number(writer, "database", MyDatabaseId);
	if (has_port && port.user_name != NULL)
		write_string(writer, "user", name, guarded_copy_string(name, port.user_name, NAME_BYTES));
	else if (MyProc != NULL && guarded_copy(&proc, (uintptr_t) MyProc, sizeof(proc)) && OidIsValid(proc.roleId))
		write_number(writer, "user", proc.roleId);
}

static void
write_query(Writer *writer)
{
	static char query[QUERY_BYTES];

	if (backtrace_crash_query)
		write_string(writer, "query", query, guarded_copy_string(query, debug_query_string, QUERY_BYTES));
}

static void
write_header(Writer *writer, const Crash *crash, time_t now)
{
	writer_string(writer, "penumbra crash 1\n");
	write_key(writer, "time");
	write_time(writer, now);
	writer_char(writer, '\n');
	write_key(writer, "signal");
	writer_decimal(writer, crash->signal_number);
	writer_char(writer, ' ');
	writer_string(writer, signal_name(crash->signal_number));
	writer_char(writer, '\n');
	write_number(writer, "code", crash->info->si_code);
	if (crash->info->si_code > 0)
	{
		write_key(writer, "fault_address");
		writer_hex(writer, (uintptr_t) crash->info->si_addr);
		writer_char(writer, '\n');
	}
	write_number(writer, "pid", getpid());
	write_thread(writer);
	write_string(writer, "process_type", process_type, strlen(process_type));
	write_session(writer);
	write_string(writer, "server_version", PG_VERSION, strlen(PG_VERSION));
	write_query(writer);
	writer_string(writer, "[registers]\n");
	registers_write(crash->context, writer);
	writer_string(writer, "[stack]\n");
}

static void
make_paths(Crash *crash, time_t now)
{
	Writer		writer;

	writer_init(&writer, crash->path, MAXPGPATH - 1, -1);
	writer_string(&writer, crash_directory_path());
	writer_string(&writer, "/" CRASH_FILE_PREFIX);
	writer_decimal(&writer, getpid());
	writer_char(&writer, '_');
	writer_decimal(&writer, now);
	memcpy(crash->report_path, crash->path, writer.used_bytes);
	crash->report_path[writer.used_bytes] = '\0';
	strlcat(crash->report_path, REPORT_FILE_SUFFIX, MAXPGPATH);
	writer_string(&writer, CRASH_FILE_SUFFIX);
	crash->path[writer.used_bytes] = '\0';
}

/* What is known without the stack is in the file before the unwinding, which may fail. */
void
crash_file_write(Crash *crash)
{
	time_t		now = time(NULL);
	Writer		writer;
	int			fd;

	find_process_type();
	make_paths(crash, now);
	fd = open(crash->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	writer_init(&writer, buffer, sizeof(buffer), fd);
	write_header(&writer, crash, now);
	writer_flush(&writer);
	stack_capture_interrupted(&stack, crash->context);
	/* All: where a jump to garbage came from, or which library does not belong here, shows in no frame. */
	module_count = modules_read(modules, CRASH_MODULES_MAX, NULL, 0);
	for (int i = 0; i < module_count; i++)
		module_write(&modules[i], &writer);
	stack_write_frames(&stack, &writer);
	writer_flush(&writer);
	if (fd >= 0)
		close(fd);
	crash->file_written = fd >= 0 && !writer.failed;
}

/*
 * A pipe to the logging collector may be full, and its reader stuck: nothing
 * here waits.  Our flags must not be set on a description that others share,
 * so it is opened again; a socket cannot be.
 */
static void
write_message(const char *message, size_t bytes)
{
	int			fd = open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
	ssize_t		written;

	if (fd >= 0)
	{
		written = write(fd, message, bytes);
		close(fd);
	}
	else
		written = send(STDERR_FILENO, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void) written;
}

/* The raw stack as well where the file does not hold it (full disk, no directory). */
void
crash_message_write(const Crash *crash)
{
	static char message[STACK_TEXT_BYTES];
	Writer		writer;

	writer_init(&writer, message, sizeof(message), -1);
	writer_string(&writer, "penumbra_backtrace: process ");
	writer_decimal(&writer, getpid());
	writer_string(&writer, " (");
	writer_string(&writer, process_type);
	writer_string(&writer, ") crashed with signal ");
	writer_decimal(&writer, crash->signal_number);
	writer_string(&writer, " (");
	writer_string(&writer, signal_name(crash->signal_number));
	writer_char(&writer, ')');
	if (crash->file_written)
	{
		writer_string(&writer, ", crash file \"");
		writer_string(&writer, crash->path);
		writer_string(&writer, "\"\n");
	}
	else
	{
		writer_string(&writer, ", no complete crash file could be written\n");
		stack_write(&stack, modules, module_count, &writer);
	}
	write_message(message, writer.used_bytes);
}

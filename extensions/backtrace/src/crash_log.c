/*-------------------------------------------------------------------------
 *
 * crash_log.c
 *	  Crash files in the server log.
 *
 * The process that crashes can only write to standard error.  The worker logs
 * the report as a message like any other, when it starts again after the crash
 * or, if no restart follows, within a minute.  The list of what it logged
 * stands in the directory itself; one process at a time uses it.
 *
 * Others may be able to create files in the directory.  So nothing is opened
 * that is a link, could make us wait, or belongs to somebody else, and what we
 * write is a new file that takes the place of whatever is there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "crash.h"
#include "crash_log.h"
#include "symbolizer.h"

#define LIST_NAME			"logged"
#define REPORT_BYTES_MAX	(64 * 1024)
#define REPORT_TIMEOUT_MS	15000

/* The oldest beyond these are removed: a server that crashes in a loop must not fill its disk. */
#define CRASH_FILES_MAX		200

/* So long a process that is still there may be writing its crash file. */
#define CRASH_SECONDS_MAX	10

/* Lines of names.  NULL: the list was not read yet. */
static char *logged = NULL;

static bool
is_our_file(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

/* NULL: cannot be read, or is not ours. */
static char *
read_file(const char *path, bool unless_locked, bool *locked)
{
	int			fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char	   *content = NULL;
	struct stat status;

	*locked = false;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && is_our_file(&status))
	{
		*locked = unless_locked && flock(fd, LOCK_SH | LOCK_NB) != 0;
		if (!*locked)
		{
			ssize_t		got;

			content = palloc(REPORT_BYTES_MAX);
			got = read(fd, content, REPORT_BYTES_MAX - 1);
			content[Max(got, 0)] = '\0';
		}
	}
	close(fd);
	return content;
}

/* The whole file or the old one; a link is replaced, not followed. */
static void
replace_file(const char *path, const char *content)
{
	char	   *new_path = psprintf("%s.new", path);
	ssize_t		bytes = strlen(content);
	int			fd;
	bool		written;

	unlink(new_path);
	fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	written = fd >= 0 && write(fd, content, bytes) == bytes;
	if (fd >= 0)
		close(fd);
	if (written && rename(new_path, path) == 0)
		return;
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("could not write file \"%s\": %m", path)));
	if (fd >= 0)
		unlink(new_path);
}

static char *
path_of(const char *name)
{
	return psprintf("%s/%s", crash_directory_path(), name);
}

/* "pg_crash_1_2.txt" as "pg_crash_1_2.report" */
static char *
report_name(const char *name)
{
	return psprintf("%.*s" REPORT_FILE_SUFFIX, (int) (strlen(name) - strlen(CRASH_FILE_SUFFIX)), name);
}

/* For a crash whose program was killed, or could not be started. */
static char *
make_report(const char *path, const char *report_path)
{
	char	   *report = palloc(REPORT_BYTES_MAX);
	Symbolizer	program;
	bool		complete;

	if (!symbolizer_start(&program, path, NULL))
		return NULL;
	complete = symbolizer_read_all(&program, report, REPORT_BYTES_MAX, REPORT_TIMEOUT_MS);
	if (symbolizer_stop(&program) != 0 || !complete)
		return NULL;
	replace_file(report_path, report);
	return report;
}

static void
remove_crash(const char *name)
{
	unlink(path_of(name));
	unlink(path_of(report_name(name)));
}

/* False: the crash file or its report is being written. */
static bool
log_crash(const char *name)
{
	char	   *path = path_of(name);
	char	   *report_path = path_of(report_name(name));
	int			pid = atoi(name + strlen(CRASH_FILE_PREFIX));
	bool		locked;
	char	   *report = read_file(report_path, true, &locked);
	struct stat status;

	if (report == NULL || report[0] == '\0')
	{
		if (locked || lstat(path, &status) != 0 ||
			(status.st_mtime > time(NULL) - CRASH_SECONDS_MAX && (kill(pid, 0) == 0 || errno != ESRCH)))
			return false;
		if (status.st_size == 0)
		{
			/* It was killed before it had written anything. */
			remove_crash(name);
			return true;
		}
		report = make_report(path, report_path);
		if (report == NULL)
		{
			unlink(report_path);
			report = read_file(path, false, &locked);
		}
	}
	ereport(LOG,
			(errmsg("process %d crashed, crash file \"%s\"", pid, path),
			 report ? errdetail_internal("%s", report) : 0));
	return true;
}

/* pg_crash_<pid>_<time>.txt */
static bool
is_crash_file_name(const char *name)
{
	size_t		digits;

	if (strncmp(name, CRASH_FILE_PREFIX, strlen(CRASH_FILE_PREFIX)) != 0)
		return false;
	name += strlen(CRASH_FILE_PREFIX);
	digits = strspn(name, "0123456789");
	if (digits == 0 || name[digits] != '_')
		return false;
	name += digits + 1;
	digits = strspn(name, "0123456789");
	return digits > 0 && strcmp(name + digits, CRASH_FILE_SUFFIX) == 0;
}

static int
compare_names(const ListCell *left, const ListCell *right)
{
	long		left_time = atol(strrchr(lfirst(left), '_') + 1);
	long		right_time = atol(strrchr(lfirst(right), '_') + 1);

	return left_time < right_time ? -1 : left_time > right_time;
}

/* Names, oldest first. */
static List *
list_crash_files(void)
{
	DIR		   *directory = AllocateDir(crash_directory_path());
	struct dirent *entry;
	List	   *names = NIL;

	while (directory && (entry = ReadDirExtended(directory, crash_directory_path(), LOG)) != NULL)
	{
		struct stat status;

		if (is_crash_file_name(entry->d_name) && lstat(path_of(entry->d_name), &status) == 0 &&
			is_our_file(&status))
			names = lappend(names, pstrdup(entry->d_name));
	}
	if (directory)
		FreeDir(directory);
	list_sort(names, compare_names);
	return names;
}

/* Returns whether something is still being written: call again soon. */
static bool
log_files(void)
{
	List	   *names = list_crash_files();
	int			too_many = list_length(names) - CRASH_FILES_MAX;
	ListCell   *cell;
	StringInfoData list;
	bool		unfinished = false;
	bool		locked;

	if (logged == NULL)
	{
		char	   *stored = read_file(path_of(LIST_NAME), false, &locked);

		logged = MemoryContextStrdup(TopMemoryContext, stored ? stored : "");
	}
	initStringInfo(&list);
	foreach(cell, names)
	{
		char	   *line = psprintf("%s\n", (char *) lfirst(cell));

		if (foreach_current_index(cell) < too_many)
			remove_crash(lfirst(cell));
		else if (strstr(logged, line) == NULL && !log_crash(lfirst(cell)))
			unfinished = true;
		/* an empty one is gone */
		else if (access(path_of(lfirst(cell)), F_OK) == 0)
			appendStringInfoString(&list, line);
	}
	if (strcmp(logged, list.data) != 0)
	{
		/* Remembered, because a list that cannot be written must not have everything logged again. */
		pfree(logged);
		logged = MemoryContextStrdup(TopMemoryContext, list.data);
		replace_file(path_of(LIST_NAME), logged);
	}
	return unfinished;
}

bool
crash_log_new_files(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "crash files",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	bool		unfinished = log_files();

	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return unfinished;
}

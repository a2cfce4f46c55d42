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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/stringinfo.h"
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

typedef enum ReportState
{
	REPORT_COMPLETE,
	REPORT_MISSING,
	REPORT_BEING_WRITTEN
} ReportState;

/* NULL: cannot be read. */
static char *
read_file(const char *path, bool unless_locked, bool *locked)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC);
	char	   *content;
	ssize_t		got;

	*locked = false;
	if (fd < 0)
		return NULL;
	if (unless_locked && flock(fd, LOCK_SH | LOCK_NB) != 0)
	{
		*locked = true;
		close(fd);
		return NULL;
	}
	content = palloc(REPORT_BYTES_MAX);
	got = read(fd, content, REPORT_BYTES_MAX - 1);
	close(fd);
	content[Max(got, 0)] = '\0';
	return content;
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
	{
		int			fd = open(report_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		if (fd >= 0)
		{
			ssize_t		written = write(fd, report, strlen(report));

			(void) written;
			close(fd);
		}
	}
	return report;
}

/* False: its report is being written. */
static bool
log_crash(const char *name)
{
	char	   *path = path_of(name);
	char	   *report_path = path_of(report_name(name));
	bool		locked;
	char	   *report = read_file(report_path, true, &locked);
	int			pid = atoi(name + strlen(CRASH_FILE_PREFIX));

	if (locked)
		return false;
	if (report == NULL || report[0] == '\0')
		report = make_report(path, report_path);
	if (report == NULL)
		report = read_file(path, false, &locked);
	ereport(LOG,
			(errmsg("process %d crashed, crash file \"%s\"", pid, path),
			 report ? errdetail_internal("%s", report) : 0));
	return true;
}

static int
compare_names(const void *left, const void *right)
{
	const char *const *names[] = {left, right};
	long		times[2];

	/* pg_crash_<pid>_<time>: by time */
	for (int i = 0; i < 2; i++)
		times[i] = atol(strrchr(*names[i], '_') + 1);
	return times[0] < times[1] ? -1 : times[0] > times[1];
}

static int
list_crash_files(char **names)
{
	DIR		   *directory = AllocateDir(crash_directory_path());
	struct dirent *entry;
	int			count = 0;

	while (directory && (entry = ReadDirExtended(directory, crash_directory_path(), LOG)) != NULL)
	{
		size_t		length = strlen(entry->d_name);

		if (strncmp(entry->d_name, CRASH_FILE_PREFIX, strlen(CRASH_FILE_PREFIX)) == 0 &&
			length > strlen(CRASH_FILE_SUFFIX) &&
			strcmp(entry->d_name + length - strlen(CRASH_FILE_SUFFIX), CRASH_FILE_SUFFIX) == 0 &&
			count < 2 * CRASH_FILES_MAX)
			names[count++] = pstrdup(entry->d_name);
	}
	if (directory)
		FreeDir(directory);
	qsort(names, count, sizeof(char *), compare_names);
	return count;
}

static void
write_list(const StringInfo list)
{
	int			fd = open(path_of(LIST_NAME), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && write(fd, list->data, list->len) != list->len)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", path_of(LIST_NAME))));
	if (fd >= 0)
		close(fd);
}

/* Returns whether a report is still being written: call again soon. */
static bool
log_files(void)
{
	char	   *names[2 * CRASH_FILES_MAX];
	int			count = list_crash_files(names);
	bool		locked;
	char	   *logged = read_file(path_of(LIST_NAME), false, &locked);
	StringInfoData list;
	bool		unfinished = false;
	bool		changed = false;

	initStringInfo(&list);
	for (int i = 0; i < count; i++)
	{
		char	   *line = psprintf("%s\n", names[i]);

		if (i < count - CRASH_FILES_MAX)
		{
			unlink(path_of(names[i]));
			unlink(path_of(report_name(names[i])));
			changed = true;
			continue;
		}
		if (logged == NULL || strstr(logged, line) == NULL)
		{
			changed = true;
			if (!log_crash(names[i]))
			{
				unfinished = true;
				continue;
			}
		}
		appendStringInfoString(&list, line);
	}
	if (changed)
		write_list(&list);
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

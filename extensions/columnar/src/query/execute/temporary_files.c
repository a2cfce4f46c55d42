/*-------------------------------------------------------------------------
 *
 * temporary_files.c
 *	  The engine's spill files under PostgreSQL's rules for temporary files:
 *	  where they are, temp_file_limit, log_temp_files and the statistics.
 *
 * fd.c keeps its count of the session's temporary bytes to itself, so the
 * limit holds for the files of the engine and those of PostgreSQL separately.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "commands/tablespace.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/guc.h"

#include "query/execute/temporary_files.h"

/* Of all executions in this process. */
static PenumbraTemporarySpace temporary_space;

void
temporary_files_set_options(PenumbraExecOptions *options)
{
	char	   *prefix = palloc(MAXPGPATH);
	Oid			tablespace;

	PrepareTempTablespaces();
	tablespace = GetNextTempTableSpace();
	TempTablespacePath(prefix, OidIsValid(tablespace) ? tablespace : MyDatabaseTableSpace);
	/* PostgreSQL makes it at the first temporary file only. */
	(void) MakePGDirectory(prefix);
	/* A name that the server removes when it starts, should one be left. */
	snprintf(prefix + strlen(prefix), MAXPGPATH - strlen(prefix), "/%s%d.penumbra",
			 PG_TEMP_FILE_PREFIX, MyProcPid);
	options->temporary_prefix = prefix;
	temporary_space.limit_bytes = temp_file_limit < 0 ? PG_UINT64_MAX
		: (uint64) temp_file_limit * 1024;
	options->temporary_space = &temporary_space;
}

/* As fd.c does when a temporary file is closed. */
void
temporary_files_report(const PenumbraExecStats *stats, const char *prefix)
{
	for (int i = 0; i < stats->temporary_file_count; i++)
	{
		uint64		bytes = stats->temporary_file_bytes[i];

		pgstat_report_tempfile(bytes);
		if (log_temp_files >= 0 && bytes / 1024 >= (uint64) log_temp_files)
			ereport(LOG,
					(errmsg("temporary file: path \"%s.%d\", size %lu",
							prefix, i, (unsigned long) bytes)));
	}
}

/*-------------------------------------------------------------------------
 *
 * frames.c
 *	  Stacks as rows: frame, address, function, location, inlined.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "frames.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "shared.h"

enum
{
	COLUMN_FRAME,
	COLUMN_ADDRESS,
	COLUMN_FUNCTION,
	COLUMN_LOCATION,
	COLUMN_INLINED,
	COLUMNS
};

PENUMBRA_SQL_FUNCTION(penumbra_backtrace_sql_errors);
PENUMBRA_SQL_FUNCTION(penumbra_backtrace_sql_errors_reset);

/* The last occurrence; a C++ name may contain the words too. */
static char *
find_last(char *text, const char *words)
{
	char	   *found = NULL;

	for (char *at = text; (at = strstr(at, words)) != NULL; at++)
		found = at;
	return found;
}

static bool
cut_suffix(char *text, const char *suffix)
{
	size_t		length = strlen(text);
	size_t		suffix_length = strlen(suffix);

	if (length < suffix_length || strcmp(text + length - suffix_length, suffix) != 0)
		return false;
	text[length - suffix_length] = '\0';
	return true;
}

/* "#N 0xPC FUNCTION at FILE:LINE (inlined)", "#N 0xPC FUNCTION in MODULE+0xOFFSET [BUILDID]" */
static bool
parse_symbolised(char *line, Datum *values, bool *nulls)
{
	int			number;
	unsigned long long pc;
	int			name_at = 0;
	char	   *location;

	if (sscanf(line, "#%d 0x%llx %n", &number, &pc, &name_at) != 2 || name_at == 0)
		return false;
	values[COLUMN_FRAME] = Int32GetDatum(number);
	values[COLUMN_ADDRESS] = CStringGetTextDatum(psprintf("0x%llx", pc));
	values[COLUMN_INLINED] = BoolGetDatum(cut_suffix(line, " (inlined)"));
	line += name_at;
	location = find_last(line, line[strlen(line) - 1] == ']' ? " in " : " at ");
	nulls[COLUMN_LOCATION] = location == NULL;
	if (location != NULL)
	{
		*location = '\0';
		values[COLUMN_LOCATION] = CStringGetTextDatum(location + 4);
	}
	nulls[COLUMN_FUNCTION] = strcmp(line, "??") == 0;
	if (!nulls[COLUMN_FUNCTION])
		values[COLUMN_FUNCTION] = CStringGetTextDatum(line);
	return true;
}

/* Of "module START-END OFFSET BUILDID PATH" in the text: the place of the address. */
static char *
find_raw_location(const char *text, unsigned long long pc)
{
	for (const char *line = text; line != NULL && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
	{
		unsigned long long start;
		unsigned long long end;
		unsigned long long offset;
		char		build_id[128];
		int			path_at = 0;

		if (sscanf(line, "module %llx-%llx %llx %127s %n",
				   &start, &end, &offset, build_id, &path_at) == 4 && path_at > 0 && pc >= start && pc < end)
			return psprintf("%.*s+0x%llx [%s]", (int) strcspn(line + path_at, "\n"),
							line + path_at, pc - start + offset, build_id);
	}
	return NULL;
}

/* "frame PC exact|return" */
static bool
parse_raw(const char *all, const char *line, int number, Datum *values, bool *nulls)
{
	unsigned long long pc;
	char	   *location;

	if (sscanf(line, "frame %llx", &pc) != 1)
		return false;
	location = find_raw_location(all, pc);
	values[COLUMN_FRAME] = Int32GetDatum(number);
	values[COLUMN_ADDRESS] = CStringGetTextDatum(psprintf("0x%llx", pc));
	nulls[COLUMN_FUNCTION] = true;
	nulls[COLUMN_LOCATION] = location == NULL;
	if (location != NULL)
		values[COLUMN_LOCATION] = CStringGetTextDatum(location);
	values[COLUMN_INLINED] = BoolGetDatum(false);
	return true;
}

/* A symbolised or raw stack; other lines are passed over. */
void
frames_put(ReturnSetInfo *result, char *text)
{
	char	   *lines = pstrdup(text);
	char	   *rest;
	int			raw_frames = 0;

	for (char *line = strtok_r(lines, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
	{
		Datum		values[COLUMNS] = {0};
		bool		nulls[COLUMNS] = {0};

		if (parse_symbolised(line, values, nulls) ||
			(parse_raw(text, line, raw_frames, values, nulls) && ++raw_frames))
			put_row(result, values, nulls);
	}
}

/* ---------------------------------------------------------------- errors  */

static void
put_entry(ReturnSetInfo *result, const StackEntry *entry)
{
	Datum		values[] = {
		CStringGetTextDatum(unpack_sql_state(entry->sqlerrcode)),
		CStringGetTextDatum(psprintf("%016llx", (unsigned long long) entry->hash)),
		Int64GetDatum(entry->count),
		TimestampTzGetDatum(entry->first_at),
		TimestampTzGetDatum(entry->last_at),
		BoolGetDatum(!entry->pending && entry->text[0] == '#'),
		CStringGetTextDatum(entry->text),
	};
	bool		nulls[lengthof(values)] = {0};

	put_row(result, values, nulls);
}

/* Entry by entry, because rows may not be made with the lock held: see shared.h. */
Datum
penumbra_backtrace_sql_errors(PG_FUNCTION_ARGS)
{
	StackEntry *copy = palloc(sizeof(StackEntry));

	shared_require();
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < backtrace_shared->entry_count; i++)
	{
		const StackEntry *entry = &backtrace_shared->entries[i];

		LWLockAcquire(backtrace_shared->lock, LW_SHARED);
		copy->count = entry->count;
		if (copy->count > 0)
			memcpy(copy, entry, sizeof(StackEntry));
		LWLockRelease(backtrace_shared->lock);
		if (copy->count > 0)
			put_entry((ReturnSetInfo *) fcinfo->resultinfo, copy);
	}
	return (Datum) 0;
}

Datum
penumbra_backtrace_sql_errors_reset(PG_FUNCTION_ARGS)
{
	shared_require();
	LWLockAcquire(backtrace_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < backtrace_shared->entry_count; i++)
		backtrace_shared->entries[i].count = 0;
	LWLockRelease(backtrace_shared->lock);
	PG_RETURN_VOID();
}

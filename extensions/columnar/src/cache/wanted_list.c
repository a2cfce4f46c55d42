/*-------------------------------------------------------------------------
 *
 * wanted_list.c
 *	  The columns that are cached or wanted, on disk.
 *
 * A text file of lines "database relation column uses", by numbers, since the
 * launcher is connected to no database.  It proves nothing: who reads it wants
 * these columns, so a stale or strange line costs a load at most.  It is read
 * once after each start, when the disk cache has found its own; of what that has
 * it says how often it was used, and so what is read back into memory first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <xxhash.h>

#include "lib/stringinfo.h"
#include "utils/timestamp.h"

#include "cache/cached_expression.h"
#include "cache/directory.h"
#include "cache/disk/disk_cache.h"
#include "cache/wanted.h"
#include "cache/wanted_list.h"

#define LIST_FILE			DISK_DIRECTORY "/wanted"

/* Between looks at whether something changed, and at whether the disk cache is open. */
#define PAUSE_MS			30000
#define OPENING_PAUSE_MS	100

void
wanted_list_save(void)
{
	static uint64 saved_hash = 0;
	StringInfoData list;
	RelationSummary *relations;
	int			count = directory_list_relations(InvalidOid, InvalidOid, &relations);
	uint64		hash;

	/* else what is there is not lost yet */
	if (!wanted_list_is_read())
		return;
	initStringInfo(&list);
	for (int i = 0; i < count; i++)
	{
		ColumnSummary *columns;
		int			column_count = directory_list_columns(&relations[i].key, &columns);

		for (int c = 0; c < column_count; c++)
			appendStringInfo(&list, WANTED_LINE, relations[i].key.database, relations[i].relid,
							 column_key_number(columns[c].column), Max(columns[c].uses, 1));
		pfree(columns);
	}
	wanted_append_lines(&list);
	cached_expression_save();
	hash = XXH3_64bits(list.data, list.len);
	if (hash != saved_hash && disk_make_directory() == NULL &&
		disk_replace_file(LIST_FILE, list.data, list.len))
		saved_hash = hash;
	pfree(list.data);
}

/* Counts uses of what is cached; else it is wanted. */
static void
note_column(Oid database, Oid relid, ColumnKey column, uint32 uses)
{
	RelationSummary *relations;
	int			count = directory_list_relations(database, relid, &relations);

	if (count == 0)
		wanted_note_column(database, relid, column, uses);
	for (int i = 0; i < count; i++)
		directory_raise_uses(&relations[i].key, &column, 1, Min(uses, USES_OF_PINNED));
	if (relations != NULL)
		pfree(relations);
}

/*
 * Reads the wishes of the server's last run. Where the disk cache has brought back
 * the relation, they count as uses; others become wishes again. The file is not
 * trusted: reading ends at a line of another format and skips impossible columns.
 */
static void
read_list(void)
{
	Size		bytes;
	char	   *line = disk_slurp_file(LIST_FILE, &bytes);
	char	   *end;

	if (line != NULL)
		line[bytes] = '\0';
	for (; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1)
	{
		Oid			database;
		Oid			relid;
		int			number;
		uint32		uses;
		int			length = 0;

		/* sscanf() goes to the end of what it reads from, wherever it stops */
		*end = '\0';
		if (sscanf(line, WANTED_LINE "%n", &database, &relid, &number, &uses, &length) != 4 ||
			line + length != end)
			break;
		if (column_number_is_possible(number) && OidIsValid(database) && OidIsValid(relid))
			note_column(database, relid, column_key_of_number(number), uses);
	}
	wanted_set_list_read();
}

long
wanted_list_keep(void)
{
	static TimestampTz saved_at = 0;

	if (!wanted_list_is_read())
	{
		if (disk_cache_is_opening())
			return OPENING_PAUSE_MS;
		read_list();
	}
	else if (TimestampDifferenceExceeds(saved_at, GetCurrentTimestamp(), PAUSE_MS))
	{
		wanted_list_save();
		saved_at = GetCurrentTimestamp();
	}
	return PAUSE_MS;
}

/*-------------------------------------------------------------------------
 *
 * build_rows.c
 *	  What one process does of a CREATE INDEX: rows into its sorters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "build_rows.h"

void
keytree_build_create_sorters(KeytreeBuild *build, Size memory_bytes, FileSet *files, int worker)
{
	/* of rows that are alive one gets most; NULLs come in order or nearly so */
	Size		share_bytes = memory_bytes / 16;

	for (int sorter = 0; sorter < KEYTREE_SORTERS; sorter++)
		build->sorters[sorter] =
			keytree_sorter_create(keytree_sorter_is_of_nulls(sorter) ? KEYTREE_INT2 : build->kind,
								  sorter == 0 ? memory_bytes - (KEYTREE_SORTERS - 1) * share_bytes : share_bytes,
								  files, files == NULL ? NULL : keytree_sorter_file_name(worker, sorter));
}

void
keytree_build_row(Relation index, ItemPointer pointer, Datum *values, bool *nulls, bool is_alive, void *state)
{
	KeytreeBuild *build = state;
	KeytreeEntry entry = {0};

	if (!nulls[0])
		keytree_key_from_datum(build->kind, values[0], &entry);
	entry.tid = keytree_tid_from_pointer(pointer);
	keytree_sorter_add(build->sorters[keytree_sorter_for(build->info->ii_Unique && !is_alive, nulls[0])], &entry);
	build->entries_count++;
}

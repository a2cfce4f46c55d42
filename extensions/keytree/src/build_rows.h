/*-------------------------------------------------------------------------
 *
 * build_rows.h
 *	  What one process does of a CREATE INDEX: rows into its sorters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_BUILD_ROWS_H
#define KEYTREE_BUILD_ROWS_H

#include "nodes/execnodes.h"

#include "key.h"
#include "sorter.h"

/* Sorters: of rows that are alive and of others, which only unique indexes treat apart; of values and of NULLs. */
#define KEYTREE_SORTERS 4

static inline int
keytree_sorter_for(bool is_other, bool is_null)
{
	return 2 * is_other + is_null;
}

static inline bool
keytree_sorter_is_of_nulls(int sorter)
{
	return sorter % 2 != 0;
}

static inline char *
keytree_sorter_file_name(int worker, int sorter)
{
	return psprintf("worker%d.%d", worker, sorter);
}

typedef struct KeytreeBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	KeytreeKind kind;
	double		rows_count;
	double		entries_count;
	KeytreeSorter *sorters[KEYTREE_SORTERS];
}			KeytreeBuild;

/* In the current memory context.  A worker's put what they hold into files; the leader has none. */
extern void keytree_build_create_sorters(KeytreeBuild *build, Size memory_bytes, FileSet *files, int worker);

/* An IndexBuildCallback: a row into its sorter. */
extern void keytree_build_row(Relation index, ItemPointer pointer, Datum *values, bool *nulls,
							  bool is_alive, void *state);

#endif							/* KEYTREE_BUILD_ROWS_H */

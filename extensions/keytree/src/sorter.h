/*-------------------------------------------------------------------------
 *
 * sorter.h
 *	  Entries in any order in, entries in order out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_SORTER_H
#define KEYTREE_SORTER_H

#include "storage/buffile.h"

#include "key.h"
#include "page.h"

typedef struct KeytreeSorter KeytreeSorter;

/*
 * Lives in the current memory context, and its temporary files in the current
 * resource owner; or, if another process is to read the entries, in a set of
 * files under a name that stays.
 */
extern KeytreeSorter *keytree_sorter_create(KeytreeKind kind, Size memory_bytes, FileSet *files, const char *name);
extern void keytree_sorter_add(KeytreeSorter *sorter, const KeytreeEntry *entry);

/* The next entries, up to so many, after all have been added; returns how many, zero at the end. */
extern int	keytree_sorter_read(KeytreeSorter *sorter, KeytreeEntry *entries, int most);

/*
 * Hands all entries over in files, whose number is returned.  Another sorter
 * takes them after that, and after the last entry was added to it.
 */
extern int	keytree_sorter_export(KeytreeSorter *sorter);
extern void keytree_sorter_import(KeytreeSorter *sorter, FileSet *files, const char *name, int count);

#endif							/* KEYTREE_SORTER_H */

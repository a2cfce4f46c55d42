/*-------------------------------------------------------------------------
 *
 * sorter.h
 *	  Entries in any order in, entries in order out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_SORTER_H
#define KEYTREE_SORTER_H

#include "key.h"
#include "page.h"

typedef struct KeytreeSorter KeytreeSorter;

/* Lives in the current memory context, and its temporary files in the current resource owner. */
extern KeytreeSorter *keytree_sorter_create(KeytreeKind kind, Size memory_bytes);
extern void keytree_sorter_add(KeytreeSorter *sorter, const KeytreeEntry *entry);

/* Entries one by one, after all have been added; false at the end. */
extern bool keytree_sorter_next(KeytreeSorter *sorter, KeytreeEntry *entry);

#endif							/* KEYTREE_SORTER_H */

/*-------------------------------------------------------------------------
 *
 * load.h
 *	  A whole tree from sorted entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_LOAD_H
#define KEYTREE_LOAD_H

#include "utils/relcache.h"

#include "sorter.h"

/*
 * Fills the tree of an index that nobody else uses; the tree is empty, and its
 * pages are not logged.  Errors out on equal keys where they must be unique.
 */
extern void keytree_load_tree(Relation heap, Relation index, BlockNumber root, KeytreeSorter *sorter, bool is_unique);

#endif							/* KEYTREE_LOAD_H */

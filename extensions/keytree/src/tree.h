/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  The tree: pages found, entries inserted.  README.md has the lock rules.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_TREE_H
#define KEYTREE_TREE_H

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "utils/relcache.h"

#include "key.h"
#include "page.h"

/*
 * The page of a level (0 = leaf) whose range holds the entry, locked as asked
 * (BUFFER_LOCK_SHARE or _EXCLUSIVE).  InvalidBuffer if the tree is not that
 * high.
 */
extern Buffer keytree_descend(Relation index, BlockNumber root, const KeytreeEntry *entry,
							  int level, int lock_mode);

/*
 * The same when the page is probably this block; a page elsewhere in the
 * level is reached by right links or from the root.
 */
extern Buffer keytree_descend_from(Relation index, BlockNumber root, BlockNumber block,
								   const KeytreeEntry *entry, int level, int lock_mode);

/*
 * The leaf whose range holds the entry, for reading: pinned, *header its
 * header or a copy.  Without lock if that is allowed and the guess (or, if
 * invalid, the backend's copy of the inner pages) leads there and nobody
 * writes; then what is read counts only if the page is unchanged afterwards.
 * Otherwise *is_locked, in share mode.
 */
extern Buffer keytree_read_leaf(Relation index, BlockNumber root, BlockNumber guess, const KeytreeEntry *entry,
								bool lock_may_be_spared, KeytreePageHeader *header, bool *is_locked);

/* Errors out with XX002. */
extern void keytree_report_damage(Relation index, BlockNumber block, const char *invariant)
	__attribute__((noreturn));

/* The same on a page whose header cannot be. */
extern void keytree_check_page(Relation index, Buffer buffer);

/* A block to be used again or a new one at the end, locked exclusively. */
extern Buffer keytree_allocate_page(Relation index);

/* heap is where a full leaf asks which of its entries are dead; updates_same_key as the executor's hint. */
extern void keytree_insert_value(Relation index, Relation heap, KeytreeKind kind, Datum value,
								 bool is_null, ItemPointer pointer, bool updates_same_key);

/* The same into a unique index, or only the check; returns whether the key is surely unique (as aminsert). */
extern bool keytree_insert_unique(Relation index, Relation heap, KeytreeKind kind, Datum *values,
								  bool *nulls, ItemPointer pointer, IndexUniqueCheck mode,
								  bool updates_same_key);

/*
 * Inserts into the item's leaf, exclusively locked, or into a half of it, and
 * releases it.  False if the way has to be found again.
 */
extern bool keytree_insert_into_leaf(Relation index, Relation heap, BlockNumber root, Buffer leaf,
									 const KeytreeItem *item, bool updates_same_key);

/* Tries to remove dead entries from a leaf, exclusively locked. */
extern void keytree_make_room(Relation index, Relation heap, Buffer buffer, bool updates_same_key);

/* Completes the split of a page, exclusively locked; releases it. */
extern void keytree_finish_split(Relation index, BlockNumber root, Buffer left);

static inline BlockNumber
keytree_root_for(bool is_null)
{
	return is_null ? KEYTREE_NULLS_ROOT : KEYTREE_VALUES_ROOT;
}

#endif							/* KEYTREE_TREE_H */

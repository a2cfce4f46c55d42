/*-------------------------------------------------------------------------
 *
 * change.h
 *	  The atomic changes of the tree: on the primary applied and logged, in
 *	  recovery replayed.
 *
 * Callers hold exclusive locks on all buffers they pass and have checked
 * that the change is possible; nothing here fails short of a panic.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_CHANGE_H
#define KEYTREE_CHANGE_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "page.h"

/*
 * The id of the resource manager.  128 is what PostgreSQL sets aside for
 * experiments; a release to the public takes an id of its own from
 * https://wiki.postgresql.org/wiki/CustomWALResourceManagers, with a new format version.
 */
#define KEYTREE_RMGR_ID 128

extern void keytree_register_rmgr(void);

/* Errors out if the relation is logged and the server could not replay its changes. */
extern void keytree_require_rmgr(Relation index);

/* Puts the item at the position; child, if valid, is the left half whose split this completes. */
extern void keytree_change_insert(Relation index, Buffer buffer, int position,
								  const KeytreeItem *item, Buffer child);

/* Entries from keep on go to the empty page in right; separator becomes the fence between. */
extern void keytree_change_split(Relation index, Buffer left, Buffer right, Buffer old_right,
								 int keep, const KeytreeEntry *separator);

/* The root's entries go to two empty pages, the root becomes their parent. */
extern void keytree_change_split_root(Relation index, Buffer root, Buffer left, Buffer right,
									  int keep, const KeytreeEntry *separator);

/* Entries that VACUUM found dead; the caller holds a cleanup lock. */
extern void keytree_change_vacuum(Relation index, Buffer buffer, const uint16 *positions, int count);

/* Entries that an insert found dead for every snapshot that has come up to the horizon. */
extern void keytree_change_delete(Relation index, Relation heap, Buffer buffer,
								  const uint16 *positions, int count, TransactionId horizon);

/*
 * Takes a branch out of the tree: pages[i] of level i, the only child of
 * pages[i + 1], its siblings beside it (lefts[i] may be invalid).  The range
 * goes to the right siblings; parent loses one entry.
 */
#define KEYTREE_MAX_BRANCH 9
extern void keytree_change_unlink(Relation index, const Buffer *lefts, const Buffer *pages,
								  const Buffer *rights, int levels, Buffer parent, int position);

#endif							/* KEYTREE_CHANGE_H */

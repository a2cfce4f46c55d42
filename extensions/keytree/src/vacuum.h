/*-------------------------------------------------------------------------
 *
 * vacuum.h
 *	  VACUUM: dead entries, empty pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_VACUUM_H
#define KEYTREE_VACUUM_H

#include "access/genam.h"

#include "page.h"

extern IndexBulkDeleteResult *keytree_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
												  IndexBulkDeleteCallback callback, void *callback_state);
extern IndexBulkDeleteResult *keytree_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/*
 * Takes an empty leaf out of the tree, with the ancestors that have no other
 * child.  Returns the number of pages, which are free for use at once; 0 if
 * the leaf must stay.
 */
extern int	keytree_unlink_leaf(Relation index, BlockNumber root, BlockNumber leaf, const KeytreeEntry *low_fence);

#endif							/* KEYTREE_VACUUM_H */

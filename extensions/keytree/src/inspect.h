/*-------------------------------------------------------------------------
 *
 * inspect.h
 *	  What the functions share that look at an index from SQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_INSPECT_H
#define KEYTREE_INSPECT_H

#include "storage/block.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

/* Errors out if it is not an index of this access method that the session can read. */
extern Relation keytree_open_index(Oid index_oid, LOCKMODE mode);

/* A copy of the page; errors out with XX002 if its header cannot be, the second form unless it is new. */
extern void keytree_copy_page(Relation index, BlockNumber block, char *page);
extern void keytree_copy_page_or_new(Relation index, BlockNumber block, char *page);

#endif							/* KEYTREE_INSPECT_H */

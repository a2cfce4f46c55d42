/*-------------------------------------------------------------------------
 *
 * inner_copy.h
 *	  This backend's copy of the lowest inner pages: from a key to a leaf
 *	  without touching a buffer.
 *
 * What it says is a guess.  Whoever follows it must check at the leaf that
 * the page is in the tree and holds the key, and should tell what was found,
 * so that the next guess is better.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_INNER_COPY_H
#define KEYTREE_INNER_COPY_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "page.h"

extern int	keytree_inner_copy_memory_kilobytes;

/* The leaf that holds the entry, or InvalidBlockNumber.  Of the tree of values only. */
extern BlockNumber keytree_inner_copy_find(Relation index, const KeytreeEntry *entry);

/* An inner page of level 1, locked: copies it, if there is room. */
extern void keytree_inner_copy_add(Relation index, const char *page);

/* The guess was too far left; this leaf, locked, holds the entry. */
extern void keytree_inner_copy_learn(Relation index, const KeytreeEntry *entry, Buffer leaf);

/* The guess led astray. */
extern void keytree_inner_copy_drop(Relation index, const KeytreeEntry *entry);

/* The index was emptied under its name. */
extern void keytree_inner_copy_forget(Relation index);

/* As ReadBuffer, without the buffer table where the backend still knows the buffer. */
extern Buffer keytree_read_page(Relation index, BlockNumber block);

/* The page will be read soon: begins to bring it into memory, or into the CPU's caches. */
extern void keytree_prefetch_page(Relation index, BlockNumber block);

#endif							/* KEYTREE_INNER_COPY_H */

/*-------------------------------------------------------------------------
 *
 * scan_pages.h
 *	  The rows of a table for CREATE INDEX, page by page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_SCAN_PAGES_H
#define KEYTREE_SCAN_PAGES_H

#include "port/atomics.h"

#include "build.h"

/* Hands out the table's pages to the processes of a build, in order. */
typedef struct KeytreePageQueue
{
	BlockNumber pages_count;
	pg_atomic_uint64 next;
}			KeytreePageQueue;

extern void keytree_page_queue_init(KeytreePageQueue *queue, Relation heap);

/* Whether the table and the index are of a kind that the scan knows; others go by the table's access method. */
extern bool keytree_can_scan_pages(const KeytreeBuild *build);

/* Adds the rows of pages from the queue until it is empty. */
extern void keytree_scan_pages(KeytreeBuild *build, KeytreePageQueue *queue, bool reports_progress);

#endif							/* KEYTREE_SCAN_PAGES_H */

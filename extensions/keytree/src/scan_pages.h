/*-------------------------------------------------------------------------
 *
 * scan_pages.h
 *	  The rows of a table for CREATE INDEX, page by page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_SCAN_PAGES_H
#define KEYTREE_SCAN_PAGES_H

#include "access/relscan.h"
#include "port/atomics.h"

#include "build_rows.h"

/* Hands out the table's pages to the processes of a build, in order. */
typedef struct KeytreePageQueue
{
	BlockNumber pages_count;
	pg_atomic_uint64 next;
}			KeytreePageQueue;

extern void keytree_page_queue_init(KeytreePageQueue *queue, Relation heap);

/*
 * Adds the rows of pages from the queue until it is empty.  What the scan does
 * not know goes by the table access method, whose scan the processes share too
 * if there are several.
 */
extern void keytree_scan_table(KeytreeBuild *build, KeytreePageQueue *queue, ParallelTableScanDesc shared_scan,
							   bool reports_progress);

#endif							/* KEYTREE_SCAN_PAGES_H */

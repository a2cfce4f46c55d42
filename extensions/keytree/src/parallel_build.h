/*-------------------------------------------------------------------------
 *
 * parallel_build.h
 *	  CREATE INDEX by several processes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_PARALLEL_BUILD_H
#define KEYTREE_PARALLEL_BUILD_H

#include "build_rows.h"

typedef struct KeytreeParallelBuild KeytreeParallelBuild;

/* Starts up to so many workers; NULL if there are none to be had. */
extern KeytreeParallelBuild *keytree_parallel_build_begin(KeytreeBuild *build, int workers);

/* Takes part in the scan and waits for the others; then the sorters hold all rows. */
extern void keytree_parallel_build_scan(KeytreeParallelBuild *parallel, KeytreeBuild *build);

/* After the sorters were read: the workers' files go. */
extern void keytree_parallel_build_end(KeytreeParallelBuild *parallel);

#endif							/* KEYTREE_PARALLEL_BUILD_H */

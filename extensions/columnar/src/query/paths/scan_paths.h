/*-------------------------------------------------------------------------
 *
 * scan_paths.h
 *	  Penumbra's scans of tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SCAN_PATHS_H
#define PENUMBRA_SCAN_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Whether a scan of ours may be worth its costs: a few instructions, since look-ups of one row ask, too. */
extern bool scan_paths_may_add(const PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);
/* Then: offers the scan, if the table can be served. */
extern void scan_paths_add(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

/* Whether the query is a cursor's of which WHERE CURRENT OF may ask for the row. */
extern bool scan_paths_is_simply_updatable(PlannerInfo *root);

#endif							/* PENUMBRA_SCAN_PATHS_H */

/*-------------------------------------------------------------------------
 *
 * paths.h
 *	  Penumbra's paths: what planner.c's hooks add.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PATHS_H
#define PENUMBRA_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "optimizer/paths.h"

/* scan_paths.c; the first, before anything else is looked at, must be a few instructions for a one-row look-up. */
extern bool paths_may_add_scan(RelOptInfo *rel, RangeTblEntry *rte);
extern void paths_add_scan(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

/* join_paths.c */
extern void paths_add_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel,
						   RelOptInfo *inner_rel, JoinType join_type, JoinPathExtraData *extra);

/* upper_paths.c */
extern void paths_add_upper(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							RelOptInfo *output_rel, void *extra);

#endif							/* PENUMBRA_PATHS_H */

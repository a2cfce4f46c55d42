/*-------------------------------------------------------------------------
 *
 * upper_paths.h
 *	  Penumbra's grouping, DISTINCT, sorts and top-N.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_UPPER_PATHS_H
#define PENUMBRA_UPPER_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Offers our path for the upper stage, if there is one. */
extern void upper_paths_add(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel,
							void *extra);

#endif							/* PENUMBRA_UPPER_PATHS_H */

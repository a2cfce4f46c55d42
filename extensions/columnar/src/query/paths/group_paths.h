/*-------------------------------------------------------------------------
 *
 * group_paths.h
 *	  GROUP BY, grouping sets, HAVING and aggregates without either.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_GROUP_PATHS_H
#define PENUMBRA_GROUP_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Offers our path for the groups; of a grouping that is PostgreSQL's over rows that are ours "require" raises an error. */
extern void group_paths_add(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having);

#endif							/* PENUMBRA_GROUP_PATHS_H */

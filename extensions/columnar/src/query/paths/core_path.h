/*-------------------------------------------------------------------------
 *
 * core_path.h
 *	  Ours beside PostgreSQL's own paths.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CORE_PATH_H
#define PENUMBRA_CORE_PATH_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* What PostgreSQL's path costs by our estimates of rows. */
extern Cost core_path_cost(PlannerInfo *root, const Path *path);
/* Lowers our cost to one that add_path() prefers to the core path's, if by our estimates of rows ours costs less. */
extern void core_path_outbid(PlannerInfo *root, Path *ours, const Path *core_path);
/* Adds the path, or puts it in the place of all others; core_path: the cheapest of those. */
extern void core_path_offer(PlannerInfo *root, RelOptInfo *rel, PenumbraPath *path, const Path *core_path);

#endif							/* PENUMBRA_CORE_PATH_H */

/*-------------------------------------------------------------------------
 *
 * join_paths.h
 *	  Penumbra's joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_JOIN_PATHS_H
#define PENUMBRA_JOIN_PATHS_H

#include "postgres.h"

#include "optimizer/paths.h"

#include "query/pipeline/rel_pipeline.h"

/* Offers our join of the two relations, if there is one. */
extern void join_paths_add(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel, RelOptInfo *inner_rel,
						   JoinType join_type, JoinPathExtraData *extra);
/* base_pipelines_find() for an input of a join, with what was left out while it seemed not worth it. */
extern const RelPipeline *join_paths_find(PlannerInfo *root, RelOptInfo *rel);

#endif							/* PENUMBRA_JOIN_PATHS_H */

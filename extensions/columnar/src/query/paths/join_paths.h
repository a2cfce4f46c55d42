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
/* Whether the level's rows are those of the relation, with conditions that have subqueries, which may be joins. */
extern bool join_paths_has_conditions(PlannerInfo *root, const RelOptInfo *rel);
/* Offers these joins, if they can be had, in place of the ordinary path. */
extern void join_paths_add_conditions(PlannerInfo *root, RelOptInfo *rel, Path *ordinary);

#endif							/* PENUMBRA_JOIN_PATHS_H */

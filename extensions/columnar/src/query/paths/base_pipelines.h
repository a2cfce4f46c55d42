/*-------------------------------------------------------------------------
 *
 * base_pipelines.h
 *	  The pipeline of each base relation of the planner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_BASE_PIPELINES_H
#define PENUMBRA_BASE_PIPELINES_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* What is remembered of the relation, not to be changed; NULL: it is not ours. */
extern const RelPipeline *base_pipelines_find(PlannerInfo *root, RelOptInfo *rel);
/* The same as a copy, to be extended; NULL also where a projection gives the relation's target. */
extern RelPipeline *base_pipelines_copy(PlannerInfo *root, RelOptInfo *rel);
/* The same, also where a projection gives it. */
extern RelPipeline *base_pipelines_copy_below_projection(PlannerInfo *root, RelOptInfo *rel);
/*
 * What is remembered of the subquery's last step, to be extended by the query
 * around it, of whose clauses nothing is done.  outputs: the subquery's target
 * list without its junk, as expressions of the pipeline; of a subquery in FROM
 * also positions of rows, for columns that nothing reads.
 */
extern RelPipeline *base_pipelines_copy_of_subquery(PlannerInfo *subroot, List **outputs);
/* The rows of a sorted subquery in FROM, with their numbers in its order under that name; NULL: it is none of ours. */
extern RelPipeline *base_pipelines_in_order(PlannerInfo *root, RelOptInfo *rel, Var *number);
/* Whether the planner knows that the relation has no rows. */
extern bool base_pipelines_is_empty(RelOptInfo *rel);
/*
 * Adds the PlaceHolderVars that are computed at this relation, or at the one that it joins, unless that is NULL: one
 * that has no pipeline of its own and of which every row is one of the join.  False: one cannot be computed here.
 */
extern bool base_pipelines_add_placeholders(PlannerInfo *root, RelOptInfo *rel, const RelOptInfo *joined,
											RelPipeline *planned);

#endif							/* PENUMBRA_BASE_PIPELINES_H */

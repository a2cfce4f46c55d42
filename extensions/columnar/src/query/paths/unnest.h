/*-------------------------------------------------------------------------
 *
 * unnest.h
 *	  Set-returning functions of cached columns, in FROM and in target lists.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_UNNEST_H
#define PENUMBRA_UNNEST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/*
 * Adds the rows of LATERAL functions in FROM to the pipeline of the other side, as many as PostgreSQL expects.
 * False: refused.
 */
extern bool unnest_join_functions(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, bool is_left, double rows);

/* Whether the target list's set-returning functions are computed before the step that takes the relation's rows. */
extern bool unnest_is_below(const PlannerInfo *root, const RelOptInfo *input_rel);

/*
 * Adds the rows of the set-returning functions in the query level's target list; all of them stand in
 * the expressions, which the level's next step reads.  False: refused.
 */
extern bool unnest_add_targets(PlannerInfo *root, RelPipeline *planned, List *exprs);

#endif							/* PENUMBRA_UNNEST_H */

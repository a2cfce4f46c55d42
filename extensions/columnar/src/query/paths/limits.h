/*-------------------------------------------------------------------------
 *
 * limits.h
 *	  LIMIT, OFFSET and WITH TIES as stages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LIMITS_H
#define PENUMBRA_LIMITS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"

/* Puts a copy of the sort at the pipeline's top, without the projection above it; NULL: there is none. */
extern PipelineStage *limits_sort(Pipeline *pipeline);
/*
 * WITH TIES in place of the sort at the pipeline's top: the rows whose rank() in its order is up to the last one's, and
 * whose row_number() is beyond OFFSET.  They come out in that order.
 */
extern void limits_add_ties(PlannerInfo *root, Pipeline *pipeline);

/* LIMIT without ORDER BY. */
extern bool limits_have_no_order(Query *query);
/*
 * The same as a stage of a subquery: a sort by the rows' positions, if PostgreSQL reads them from one table in that
 * order, else by nothing.  The rows are not known then, and only decorrelation can go on with the stage, which it takes
 * away.
 */
extern void limits_add_unordered(PlannerInfo *root, RelOptInfo *input_rel, RelPipeline *planned);
/* Whether the stage is such a one whose rows are not known. */
extern bool limits_is_unknown(const PipelineStage *stage);

/* Whether the level's rows are those of one subquery, of which LIMIT says how many there are at most. */
extern bool limits_bound_rows(PlannerInfo *root);

#endif							/* PENUMBRA_LIMITS_H */

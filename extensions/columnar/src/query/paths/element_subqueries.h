/*-------------------------------------------------------------------------
 *
 * element_subqueries.h
 *	  Subqueries over the elements of a row's own arrays and documents, as a
 *	  stage that aggregates lists.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ELEMENT_SUBQUERIES_H
#define PENUMBRA_ELEMENT_SUBQUERIES_H

#include "postgres.h"

#include "query/paths/subplan_uses.h"
#include "query/pipeline/rel_pipeline.h"

/*
 * Computes the subquery for each row of the pipeline, and says what stands for it; done: what stands for others in its
 * guards.  False: it is another subquery, and nothing was added.
 */
extern bool element_subqueries_apply(PlannerInfo *root, RelPipeline *planned, const SubplanUse *use, Replacements *done,
									 Node **value);
/* The same of a LATERAL subquery in FROM, which has at most one row for each: its columns. */
extern bool element_subqueries_join_lateral(PlannerInfo *root, RelPipeline *planned, const RelOptInfo *rel,
											bool is_left, List **columns);

#endif							/* PENUMBRA_ELEMENT_SUBQUERIES_H */

/*-------------------------------------------------------------------------
 *
 * quantified.h
 *	  Comparisons with ANY and ALL rows of a subquery, by their bounds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_QUANTIFIED_H
#define PENUMBRA_QUANTIFIED_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* Whether the SubPlan, of ANY or ALL, is one of those. */
extern bool quantified_is_comparison(const SubPlan *subplan);
/* Joins the rows with its bounds; value: what stands for it.  False: it is PostgreSQL's, and nothing was added. */
extern bool quantified_join(PlannerInfo *root, RelPipeline *planned, const SubPlan *subplan, Node **value);

#endif							/* PENUMBRA_QUANTIFIED_H */

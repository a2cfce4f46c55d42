/*-------------------------------------------------------------------------
 *
 * early_aggregation.h
 *	  Aggregation below joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EARLY_AGGREGATION_H
#define PENUMBRA_EARLY_AGGREGATION_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/*
 * Over a pipeline that ends in an aggregation without GROUPING SETS: aggregates
 * the rows of the table that the joins probe with before they do, if that makes
 * them few and is the same.  Else the pipeline stays as it is.
 */
extern void early_aggregation_add(PlannerInfo *root, RelPipeline *planned);

#endif							/* PENUMBRA_EARLY_AGGREGATION_H */

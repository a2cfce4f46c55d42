/*-------------------------------------------------------------------------
 *
 * set_operations.h
 *	  UNION, INTERSECT and EXCEPT as pipelines.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SET_OPERATIONS_H
#define PENUMBRA_SET_OPERATIONS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/* The pipeline of the level's set operations, if the relation is that of the whole; NULL: not all are ours. */
extern RelPipeline *set_operations_find(PlannerInfo *root, RelOptInfo *rel);

#endif							/* PENUMBRA_SET_OPERATIONS_H */

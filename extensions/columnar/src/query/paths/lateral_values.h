/*-------------------------------------------------------------------------
 *
 * lateral_values.h
 *	  LATERAL VALUES: columns as rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LATERAL_VALUES_H
#define PENUMBRA_LATERAL_VALUES_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/* Joins the pipeline with VALUES of its columns, as many rows as PostgreSQL expects.  False: refused. */
extern bool lateral_values_join(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, double rows);

#endif							/* PENUMBRA_LATERAL_VALUES_H */

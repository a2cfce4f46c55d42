/*-------------------------------------------------------------------------
 *
 * row_source.h
 *	  Rows that PostgreSQL computes, as an input of the engine: of a CTE, a
 *	  VALUES list, a function, a table that no cache serves, a subquery with
 *	  what the engine does not do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ROW_SOURCE_H
#define PENUMBRA_ROW_SOURCE_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "query/pipeline/pipeline.h"
#include "query/pipeline/planned.h"
#include "query/planning/planning.h"

/* A scan of the relation's rows; NULL: they are not to be computed by us. */
extern PlannedPipeline *row_source_plan(PlannerInfo *root, RelOptInfo *rel);
/* The paths that a node needs beside its ordinary one. */
extern List *row_source_paths(const Pipeline *pipeline);
/* Finds what computes the sources in the plans of the ordinary path and of these; false: it is not there. */
extern bool row_source_find_plans(PlannerInfo *root, Pipeline *pipeline, List *plans);
/* When the numbers of plan nodes are known: what has been found is told to the plan. */
extern void row_source_resolve(const Planning *planning, PlannedStmt *stmt);

#endif							/* PENUMBRA_ROW_SOURCE_H */

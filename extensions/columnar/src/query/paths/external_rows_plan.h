/*-------------------------------------------------------------------------
 *
 * external_rows_plan.h
 *	  Rows that PostgreSQL computes, as an input of the engine: of a CTE, a
 *	  VALUES list, a function, a table that no cache serves, a subquery with
 *	  what the engine does not do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EXTERNAL_ROWS_PLAN_H
#define PENUMBRA_EXTERNAL_ROWS_PLAN_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/planning.h"

/* A scan of the relation's rows; NULL: they are not to be computed by us. */
extern RelPipeline *external_rows_plan_scan(PlannerInfo *root, RelOptInfo *rel);
/* The same of a member of a set operation, whose columns have these types and collations there. */
extern RelPipeline *external_rows_plan_scan_member(PlannerInfo *root, RelOptInfo *rel, List *types,
												   List *collations);
/*
 * Whether the level reads its relations to their ends: a recursive CTE may have
 * none, which LIMIT does not mind.
 */
extern bool external_rows_plan_reads_all(const PlannerInfo *root);
/* The paths that a node needs beside its ordinary one. */
extern List *external_rows_plan_paths(const Pipeline *pipeline);
/* Finds what computes the sources in the plans of the ordinary path and of these; false: it is not there. */
extern bool external_rows_plan_find_plans(PlannerInfo *root, Pipeline *pipeline, List *plans);
/* When the numbers of plan nodes are known: what has been found is told to the plan. */
extern void external_rows_plan_resolve(const Planning *planning, PlannedStmt *stmt);

#endif							/* PENUMBRA_EXTERNAL_ROWS_PLAN_H */

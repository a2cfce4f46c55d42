/*-------------------------------------------------------------------------
 *
 * custom_path.h
 *	  Penumbra's CustomPath and the CustomScan made from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CUSTOM_PATH_H
#define PENUMBRA_CUSTOM_PATH_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"

/* A path of ours with this target.  ordinary: PostgreSQL's for the same rows, which runs where the engine gives up. */
extern PenumbraPath *custom_path_create(PlannerInfo *root, RelOptInfo *rel, PathTarget *target,
										NodeKind kind, const RelPipeline *planned,
										Path *ordinary);
/* The path's node without what is below it; NULL: of a kind that is not known. */
extern Path *custom_path_copy_node(const Path *path);
/* The cheapest path that is not ours; its rows are all read. */
extern Path *custom_path_cheapest_ordinary(RelOptInfo *rel, bool copy);
/*
 * A copy of the one that runs where the engine gives up: the cheapest for as many rows as the level asks for in the
 * order of pathkeys, so that it ends before the rows that PostgreSQL's plan would not have read.
 */
extern Path *custom_path_ordinary(PlannerInfo *root, RelOptInfo *rel, List *pathkeys);
/* The rows that the cheapest expects; 1: there is none. */
extern double custom_path_ordinary_rows(RelOptInfo *rel);
/* A callback of CustomPathMethods. */
extern Plan *custom_path_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist, List *clauses,
							  List *custom_plans);
/* After the planner's call: outputs are written as EXPLAIN can show them. */
extern void custom_path_finish(Planning *planning, PlannedStmt *stmt);

#endif							/* PENUMBRA_CUSTOM_PATH_H */

/*-------------------------------------------------------------------------
 *
 * upper_targets.h
 *	  The target list of an aggregation, a sort and what else PostgreSQL plans above
 *	  joins: the engine's, or PostgreSQL's projection of the engine's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_UPPER_TARGETS_H
#define PENUMBRA_UPPER_TARGETS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"

/* Remembers the pipeline, whose last clause is `done`, for the stages above and adds its path. */
extern void upper_targets_finish_stage(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done,
									   RelOptInfo *output_rel, PathTarget *target, NodeKind kind, List *pathkeys);
/* The same for a target of any expressions.  False: the engine's rows do not give it. */
extern bool upper_targets_finish(PlannerInfo *root, UpperRelationKind stage, RelPipeline *planned, int done,
								 RelOptInfo *output_rel, PathTarget *target, NodeKind kind, List *pathkeys);
/* Whether the engine computes the target from the pipeline, which is NULL if it is PostgreSQL's. */
extern bool upper_targets_can_have(PlannerInfo *root, RelPipeline *planned, const PathTarget *target);
/* What the target's expressions, and these conditions on the rows, read of the step's input. */
extern PathTarget *upper_targets_below_projection(PlannerInfo *root, UpperRelationKind stage, const PathTarget *target,
												  List *quals);
/* A copy of the path that gives what is below its target's expressions; NULL: of such a path there is none. */
extern Path *upper_targets_ordinary_below(const Path *path, PathTarget *below);
/* Joins the rows with the expressions' subqueries; false: one cannot be, and there may be joins in vain. */
extern bool upper_targets_join_subplans(PlannerInfo *root, RelPipeline *planned, List *exprs);
/* The relation's rows, of which the pipeline is a copy, joined with the expressions' subqueries if that can be done. */
extern RelPipeline *upper_targets_join_subplans_of(PlannerInfo *root, RelOptInfo *rel, RelPipeline *planned,
												   List *exprs);
/* The relation's rows, for a target whose subqueries those of tables and joins get. */
extern RelPipeline *upper_targets_rows(PlannerInfo *root, RelOptInfo *rel, const PathTarget *target);

#endif							/* PENUMBRA_UPPER_TARGETS_H */

/*-------------------------------------------------------------------------
 *
 * ordinary_first.h
 *	  Paths whose nodes run PostgreSQL's plan first, and leave it when it has
 *	  cost as much as all of ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ORDINARY_FIRST_H
#define PENUMBRA_ORDINARY_FIRST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"

/* Such a path with the costs of ours; NULL: the engine refuses it.  Its maker says when PostgreSQL's plan is left. */
extern PenumbraPath *ordinary_first_create(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, NodeKind kind,
										   const RelPipeline *planned, Path *ordinary);
/* Adds it as a little cheaper than PostgreSQL's. */
extern void ordinary_first_offer(RelOptInfo *rel, PenumbraPath *path, const Path *ordinary);

/* The same for the first groups that HAVING passes, where a grouping of PostgreSQL's may find them early. */
extern void ordinary_first_offer_groups(PlannerInfo *root, RelOptInfo *output_rel, PathTarget *target,
										const RelPipeline *planned);

#endif							/* PENUMBRA_ORDINARY_FIRST_H */

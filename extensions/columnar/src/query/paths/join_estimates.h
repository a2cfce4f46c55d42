/*-------------------------------------------------------------------------
 *
 * join_estimates.h
 *	  How many rows come out of a join.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_JOIN_ESTIMATES_H
#define PENUMBRA_JOIN_ESTIMATES_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* row_factor: of the join's keys. */
extern double join_estimates_rows(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *probe_rel,
						const RelPipeline *probe, RelOptInfo *build_rel,
						const RelPipeline *build, PenumbraJoinKind kind,
						JoinPathExtraData *extra, double row_factor);
/* By which more rows pass an equality than PostgreSQL thinks, where one of its sides has joined the relations. */
typedef struct RowFactor
{
	Relids		relids;
	double		factor;
} RowFactor;

/* The same without knowing what the sides have joined; narrowed: of RowFactor *, where they tell more. */
extern double join_estimates_row_factor(PlannerInfo *root, const OpExpr *equality, List **narrowed);

#endif							/* PENUMBRA_JOIN_ESTIMATES_H */

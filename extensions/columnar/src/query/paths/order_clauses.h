/*-------------------------------------------------------------------------
 *
 * order_clauses.h
 *	  What GROUP BY, DISTINCT, ORDER BY and PARTITION BY compare, in the orders
 *	  of default operator classes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ORDER_CLAUSES_H
#define PENUMBRA_ORDER_CLAUSES_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/* Adds the keys that are not there yet; false: one compares in a way of its own. */
extern bool order_clauses_keys(List *clauses, List *tlist, List **exprs);
/* A key that is the same in all rows groups and orders nothing; changes the list. */
extern List *order_clauses_drop_constants(List *keys);
/* Whether one of the clauses of the level's target list is not the same in all rows. */
extern bool order_clauses_have_keys(const PlannerInfo *root, List *clauses);
/* Adds keys to a stage's exprs and sort_flags, but for constant ones; false: one has an order of its own. */
extern bool order_clauses_add(PlannerInfo *root, const RelPipeline *planned, List *clauses, PipelineStage *stage);

#endif							/* PENUMBRA_ORDER_CLAUSES_H */

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

/* Remembers the pipeline of the level's set operations, if the relation is that of the whole and all are ours. */
extern void set_operations_remember(PlannerInfo *root, RelOptInfo *rel);

#endif							/* PENUMBRA_SET_OPERATIONS_H */

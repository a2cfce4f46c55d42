/*-------------------------------------------------------------------------
 *
 * subplan_memo.h
 *	  Results of correlated subqueries, kept by the values they are of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SUBPLAN_MEMO_H
#define PENUMBRA_SUBPLAN_MEMO_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* For the last relation of a query level that becomes a SubPlan; others stay as they are. */
extern void subplan_memo_add(PlannerInfo *root, RelOptInfo *final_rel);

#endif							/* PENUMBRA_SUBPLAN_MEMO_H */

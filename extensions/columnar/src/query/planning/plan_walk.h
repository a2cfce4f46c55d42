/*-------------------------------------------------------------------------
 *
 * plan_walk.h
 *	  The nodes of a plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PLAN_WALK_H
#define PENUMBRA_PLAN_WALK_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* Calls visit for the plan and, where that returns true, for those below it; subplans of expressions are not. */
typedef bool (*PlanVisitor) (Plan *plan, void *context);
extern void plan_walk(Plan *plan, PlanVisitor visit, void *context);
extern void plan_walk_list(List *plans, PlanVisitor visit, void *context);

/* Whether any of our nodes is in the plan. */
extern bool plan_walk_finds_ours(const PlannedStmt *stmt);

#endif							/* PENUMBRA_PLAN_WALK_H */

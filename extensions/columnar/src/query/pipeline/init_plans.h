/*-------------------------------------------------------------------------
 *
 * init_plans.h
 *	  Subqueries that are run once, and when they may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_INIT_PLANS_H
#define PENUMBRA_INIT_PLANS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/pipeline.h"

/* Whether the subquery may find more than one row, which is an error. */
extern bool subplan_has_second_row(const PlannerInfo *root, const SubPlan *subplan);

/*
 * Whether the expression has a Param whose InitPlan must not be run before a
 * row asks for it.  is_conditional: there may be no such row; is_in_branch: the
 * row may skip it.
 */
extern bool init_plans_must_wait(Node *node, bool is_conditional, bool is_in_branch);
/* The same where the expression is of the query level `root`. */
extern bool init_plans_must_wait_at(PlannerInfo *root, Node *node, bool is_conditional, bool is_in_branch);
/* The same of one InitPlan. */
extern bool init_plan_must_wait(PlannerInfo *root, const SubPlan *subplan, bool is_conditional, bool is_in_branch);

/* The ids of the Params in runtime_exprs whose InitPlans may fail where no row asks for them. */
extern List *init_plans_tried(PlannerInfo *root, const Pipeline *pipeline);

#endif							/* PENUMBRA_INIT_PLANS_H */

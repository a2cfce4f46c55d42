/*-------------------------------------------------------------------------
 *
 * plans.h
 *	  Plans of the plan cache that were executed, found by their address.
 *
 * An entry lives in the memory context of its plan, and leaves the table when
 * that context is deleted: an address that is found is the same plan still.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LOOKUP_PLANS_H
#define LOOKUP_PLANS_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/execnodes.h"

#include "outcomes.h"

struct ReadyState;

typedef struct LookupPlan
{
	MemoryContextCallback callback; /* of the plan's memory context */
	const PlannedStmt *stmt;
	uint32		executions;		/* up to ADOPTED_EXECUTION */

	/* OUTCOME_READY: states of this plan are kept, as far as is known. From ADOPTED_EXECUTION on. */
	LookupOutcome verdict;
	struct ReadyState *state;	/* NULL: it has none */
	void		(*forget_plan) (struct ReadyState *state); /* of a plan with a state: called when it is freed */

	/* The last execution that built a state of its own: may it be kept?  See ready_adopt(). */
	const EState *candidate;
	uint64		candidate_changes;
} LookupPlan;

/* The execution of a plan that leaves its state: plans that are made for one execution never get there. */
#define ADOPTED_EXECUTION 2

/* The plan's entry; NULL: it has none. */
extern LookupPlan *plans_find(const PlannedStmt *stmt);

/* An entry for a plan without one; NULL: the plan is not of the plan cache. */
extern LookupPlan *plans_insert(const PlannedStmt *stmt);

/* Which plans have states that can be kept, by their statement and nodes. */
extern LookupOutcome plan_verdict(const PlannedStmt *stmt);

#endif							/* LOOKUP_PLANS_H */

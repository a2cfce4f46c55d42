/*-------------------------------------------------------------------------
 *
 * subplan_uses.h
 *	  Where subqueries stand in an expression, and for which rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SUBPLAN_USES_H
#define PENUMBRA_SUBPLAN_USES_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/paths/decorrelation.h"

/* A subquery in an expression. */
typedef struct SubplanUse
{
	Node	   *node;			/* where it stands */
	SubPlan    *subplan;
	List	   *guards;			/* conditions: a row for which one is true does not ask for it */
	bool		is_guard_unknown;	/* there are others */
	bool		is_positive;	/* below AND and OR only: NULL has the same effect as false */
} SubplanUse;

/* A list of SubplanUse *; is_condition: of a node that drops rows for which it is NULL. */
extern List *subplan_uses_find(Node *node, bool is_condition);
/*
 * Makes the subquery one that finds nothing, without an error, for rows that
 * do not ask for it; done: what stands for subqueries in the guards.  False:
 * that cannot be said.
 */
extern bool subplan_uses_guard(PlannerInfo *root, SubplanUse *use, Replacements *done);
/* The expression, but NULL where a guard is true. */
extern Node *subplan_uses_guarded(Node *expr, List *guards);

#endif							/* PENUMBRA_SUBPLAN_USES_H */

/*-------------------------------------------------------------------------
 *
 * repeats.h
 *	  Whether a query's rows are a function of its input.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REPEATS_H
#define PENUMBRA_REPEATS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Whether every computation of the query has the same rows, written the same
 * way.  Only such a query may be computed more than once where PostgreSQL
 * computes it once.  Of a query that is planned, glob has its subqueries' own;
 * else it is NULL.
 */
extern bool repeats_exactly(Query *query, PlannerGlobal *glob);

/* contain_volatile_functions() of what is planned: it also looks into the queries of SubPlans. */
extern bool contains_volatile(Node *node, PlannerGlobal *glob);

/* Whether the aggregate of the same rows in another order is the same bytes. */
extern bool aggregate_repeats(const Aggref *aggref);

/* Whether rows that compare equal in the window's order get the same value, whichever of them comes first. */
extern bool window_function_repeats(const WindowFunc *function, const WindowClause *window);

/* Whether equal values of the expression are written the same way. */
extern bool repeats_has_one_form(Node *expr);

#endif							/* PENUMBRA_REPEATS_H */

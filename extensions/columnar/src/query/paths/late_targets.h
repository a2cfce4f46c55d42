/*-------------------------------------------------------------------------
 *
 * late_targets.h
 *	  The query whose target list's subqueries are asked of the rows that LIMIT
 *	  leaves, as a query around the one with LIMIT.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LATE_TARGETS_H
#define PENUMBRA_LATE_TARGETS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: the query has no such subqueries or no LIMIT, or shows the difference. */
extern Query *late_targets(Query *query);

#endif							/* PENUMBRA_LATE_TARGETS_H */

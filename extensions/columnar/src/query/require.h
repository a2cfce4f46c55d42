/*-------------------------------------------------------------------------
 *
 * require.h
 *	  Which of a statement's tables Penumbra reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REQUIRE_H
#define PENUMBRA_REQUIRE_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "query/planning/planning.h"

/* Raises an error when a plan reads user tables without Penumbra. */
extern void require_check_plan(PlannedStmt *stmt, const Planning *planning);

/* Whether one of our nodes is all of it, and computes all of it in the engine. */
extern bool require_plan_is_penumbra(PlannedStmt *stmt);

#endif							/* PENUMBRA_REQUIRE_H */

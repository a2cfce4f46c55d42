/*-------------------------------------------------------------------------
 *
 * shared_ctes.h
 *	  CTEs that our nodes compute, in a finished plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SHARED_CTES_H
#define PENUMBRA_SHARED_CTES_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* Whether each CTE of which PipelineStage.single_cte speaks is computed once, and only by a node of ours. */
extern bool shared_ctes_are_computed_once(const PlannedStmt *stmt);

/* Takes those that nobody reads out of what EXPLAIN shows, and out of the reasons for JIT. */
extern void shared_ctes_hide_unread(PlannedStmt *stmt);

#endif							/* PENUMBRA_SHARED_CTES_H */

/*-------------------------------------------------------------------------
 *
 * wishes.h
 *	  The columns that a finished plan asks the loader for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WISHES_H
#define PENUMBRA_WISHES_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "query/pipeline/rel_pipeline.h"
#include "query/planning/planning.h"

/* From here on a table of which a plan reads much is worth loading. */
#define WANTED_PAGES_MIN 64

/* Remembers a table that the cache does not cover, until the plan is chosen. */
extern void wishes_add(PlannerInfo *root, const ServedTable *table);
/* Asks for the columns of those tables of which the plan reads much. */
extern void wishes_tell(const Planning *planning, PlannedStmt *stmt);

#endif							/* PENUMBRA_WISHES_H */

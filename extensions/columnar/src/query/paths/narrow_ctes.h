/*-------------------------------------------------------------------------
 *
 * narrow_ctes.h
 *	  The query with CTEs that have only the rows that a reference wants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_NARROW_CTES_H
#define PENUMBRA_NARROW_CTES_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: no CTE has rows that none of its references wants. */
extern Query *narrow_ctes(Query *query);

#endif							/* PENUMBRA_NARROW_CTES_H */

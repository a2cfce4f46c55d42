/*-------------------------------------------------------------------------
 *
 * inline_ctes.h
 *	  The query with its CTEs in the places of their references.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_INLINE_CTES_H
#define PENUMBRA_INLINE_CTES_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Whether there is one.  Most queries have none, and are not copied to find that out. */
extern bool inline_ctes_has_any(Query *query);
/* A copy of the query that PostgreSQL plans without CTEs referenced twice; NULL: there is none to be had. */
extern Query *inline_ctes(Query *query);

#endif							/* PENUMBRA_INLINE_CTES_H */
